import CairnStore
import Foundation
import GRDB
import Synchronization

/// How connections of this process use the index (`-shm`) of a database's write-ahead log.
///
/// SQLite shares one index among all connections of a process to a file, and the first connection decides whether
/// they may write it: beside a connection with `readonly_shm`, all others find the database read-only until the last
/// of them closes. Stores and inspections take a use before they open a connection, so that this process never has
/// both kinds of connections to a file.
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

  /// A store takes this for connections that take part in the index; it blocks the thread until the inspections of
  /// this process that only read the index have ended.
  ///
  /// - Throws: 134090 when that takes longer than `wait`.
  static func ordinary(of path: String, _ wait: LockWait) throws -> LogIndexUse {
    let path = resolved(path)
    counts.withLock { $0[path, default: Count()].ordinary += 1 }
    let use = LogIndexUse(path, \.ordinary)
    // From here on `readOnly(of:)` gives inspections nil.
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

  /// An inspection takes this for a connection that leaves the index as it is; nil while a store of this process has
  /// connections that may write it, or waits to open them.
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
  /// Takes a use of the log's index for the connections that GRDB makes with this configuration.
  ///
  /// The use ends with the last of them and the configuration.
  mutating func takesPartInIndex(of path: String, _ wait: LockWait) throws {
    let use = try LogIndexUse.ordinary(of: path, wait)
    prepareDatabase { _ in withExtendedLifetime(use) {} }
  }
}
