import CairnModel
import CairnStore
import Foundation
import Synchronization

/// Notices that another program has brought the store to another version of the model since it was
/// opened here, so that rows of one version do not get into tables of another.
///
/// Each migration changes SQLite's number of the schema, which costs little to ask for; only where it
/// has changed are the metadata read, as also a new index changes it.
final class VersionWatch: Sendable {
  private let path: String
  /// What the store said of its entities when it was opened.
  private let hashes: [String: Data]?
  /// The number at which the metadata were last seen to say the same.
  private let known = Atomic<Int64>(-1)

  init(path: String, metadata: [String: Any]) {
    self.path = path
    hashes = ManagedObjectModel.entityHashes(inStoreMetadata: metadata)
  }

  /// - Throws: 134020 when the store is of another version now.
  func check(_ connection: SQLiteConnection) throws {
    guard let number = try connection.integer("PRAGMA schema_version"),
      number != known.load(ordering: .relaxed)
    else { return }
    let metadata = try MetadataTable.read(connection, path: path) ?? [:]
    guard ManagedObjectModel.entityHashes(inStoreMetadata: metadata) == hashes else {
      throw CoreDataError(
        .persistentStoreIncompatibleSchema,
        "The store at \(path) was migrated to another version of its model while it was open here. "
          + "Remove it from the coordinator, and add it again with a model of that version.",
        userInfo: [NSFilePathErrorKey: path])
    }
    known.store(number, ordering: .relaxed)
  }
}
