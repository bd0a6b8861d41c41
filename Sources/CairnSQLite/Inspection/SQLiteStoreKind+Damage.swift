import CairnPlatform
import CairnStore
import Foundation
import GRDB
import GRDBSQLite

extension SQLiteStoreKind: FileChecking {
  public func damage(
    at url: URL, options: StoreOptions, within limit: Duration
  ) throws -> String? {
    var file = try UntouchedFile(path: url.path, timeout: options.timeout)
    file.copies = false
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
    } catch is UntouchedFile.NeedsCopy {
      // It was not closed: who opens it plays its log back, and leaves no more beside it than there is.
      return nil
    } catch let error as CoreDataError where error.storeTrouble == .damaged {
      return error.message
    } catch let error where SQLiteResultCode.failure(in: error)?.primaryCode == SQLITE_INTERRUPT {
      // A large file: the link finds what it comes by.
      return nil
    }
  }

  public func isMountPoint(_ url: URL) -> Bool {
    FileSystemKind.isMountPoint(url.resolvingSymlinksInPath().path)
  }
}
