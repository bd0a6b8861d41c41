import CairnPlatform
import CairnStore
import Foundation
import GRDB
import GRDBSQLite

extension SQLiteStoreKind: FileChecking {
  public var fileChecking: (any FileChecking)? { self }

  public func damage(
    at url: URL, options: StoreOptions, within limit: Duration
  ) throws -> String? {
    // Those that put such a log into the file do so beside every lock that is to be seen here.
    try RemovedLog(of: url.path, LockWait(seconds: options.timeout)).trusting {
      try findDamage(at: url, options: options, within: limit)
    }
  }

  private func findDamage(
    at url: URL, options: StoreOptions, within limit: Duration
  ) throws -> String? {
    var file = try UntouchedFile(path: url.path, timeout: options.timeout)
    file.copies = false
    guard let damage = try damage(in: file, within: limit) else { return nil }
    return LeftLog(path: file.path).explainDamage(within: limit)?.message ?? damage
  }

  private func damage(in file: UntouchedFile, within limit: Duration) throws -> String? {
    do {
      return try file.read { connection -> String? in
        try Deadline.holding(limit, on: connection.database.sqliteConnection) { () -> String? in
          let statement = try connection.statement("PRAGMA quick_check(1)")
          defer { statement.reset() }
          guard try statement.step() else { return nil }
          let finding = statement.string(0)
          return finding == "ok" ? nil : finding
        }
      }
    } catch let error as CoreDataError where error.storeTrouble == .damaged {
      return error.message
    } catch {
      // Opening it says what else is wrong. So far there is no finding: the time was over, another program has just
      // begun to make the file or does not let it be read, or its log was left, which opening plays back.
      return nil
    }
  }

  public func isMountPoint(_ url: URL) -> Bool {
    FileSystemKind.isMountPoint(url.resolvingSymlinksInPath().path)
  }
}
