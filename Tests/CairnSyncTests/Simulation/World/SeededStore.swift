import CairnSQLite
import CairnStore
import Foundation
import Synchronization

@testable import CairnSync

/// A SQLite store whose identifier follows from its name and number.
///
/// A daemon makes a store where a replica's file is missing. Sync draws the IDs of records and the order of stamps from
/// the identifier, so that a random one would make another history of a seed each time.
// Unchecked: adds nothing to its superclass, whose state is guarded.
final class SeededStore: SQLiteStore, @unchecked Sendable {
  /// By path, how many stores were made there; each run of a seed has a folder of its own.
  private static let made = Mutex<[String: UInt64]>([:])

  override init(configuration: StoreConfiguration) {
    super.init(configuration: configuration)
    guard let url, !FileManager.default.fileExists(atPath: url.path) else { return }
    let number = Self.made.withLock { made in
      made[url.path, default: 0] += 1
      return made[url.path, default: 0]
    }
    let name = url.lastPathComponent.utf8.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    var generator = SeededGenerator(seed: name &+ number)
    identifier = StoreID(high: generator.next(), low: generator.next()).description
  }
}
