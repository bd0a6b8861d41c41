import CairnStore
import Foundation
import GRDB
import Synchronization

/// How connections of this process use the index (`-shm`) of a database's write-ahead log.
///
/// SQLite has one index for all connections of a process to a file, and the connection that comes first decides
/// whether it may be written: beside one that was opened with `readonly_shm` all others find the database read-only
/// for as long as any of them is open. So whoever opens a database says how, and neither kind comes while the other
/// is there.
final class LogIndexUse: Sendable {
  private struct Count {
    var ordinary = 0
    var readOnly = 0
  }

  private static let counts = Mutex<[String: Count]>([:])

  /// Of the database, as SQLite names its log.
  private let path: String
  private let kind: WritableKeyPath<Count, Int> & Sendable

  private init(_ path: String, _ kind: WritableKeyPath<Count, Int> & Sendable) {
    (self.path, self.kind) = (path, kind)
  }

  deinit {
    Self.counts.withLock { counts in
      guard var count = counts[path] else { return }
      count[keyPath: kind] -= 1
      counts[path] = count.ordinary + count.readOnly > 0 ? count : nil
    }
  }

  private static func resolved(_ path: String) -> String {
    URL(fileURLWithPath: path).resolvingSymlinksInPath().path
  }

  /// For connections that take part in the index; waits until nobody in this process merely reads it.
  ///
  /// - Throws: 134090 when that takes longer than `wait`.
  static func ordinary(of path: String, _ wait: LockWait) throws -> LogIndexUse {
    let path = resolved(path)
    counts.withLock { $0[path, default: Count()].ordinary += 1 }
    let use = LogIndexUse(path, \.ordinary)
    // Nobody begins to read it from here on.
    let isFree: Void? = wait.retrying {
      counts.withLock { ($0[path]?.readOnly ?? 0) == 0 } ? () : nil
    }
    guard isFree != nil else {
      throw CoreDataError(
        .persistentStoreTimeout,
        "This program has been looking into the store at \(path) without touching it for longer than opening the "
          + "store may wait. Open it again when that has ended, or give it a longer time.",
        userInfo: [NSFilePathErrorKey: path])
    }
    return use
  }

  /// For a connection that leaves the index as it is; nil while this process has connections that may write it.
  static func readOnly(of path: String) -> LogIndexUse? {
    let path = resolved(path)
    let isFree = counts.withLock { counts in
      var count = counts[path] ?? Count()
      guard count.ordinary == 0 else { return false }
      count.readOnly += 1
      counts[path] = count
      return true
    }
    return isFree ? LogIndexUse(path, \.readOnly) : nil
  }
}

extension Configuration {
  /// Has the connections that are made with this take part in the log's index, for as long as they, or this, last.
  mutating func takesPartInIndex(of path: String, _ wait: LockWait) throws {
    let use = try LogIndexUse.ordinary(of: path, wait)
    prepareDatabase { _ in withExtendedLifetime(use) {} }
  }
}
