import CairnModel
import CairnStore
import Foundation
import Synchronization

/// What each transaction looks at first: whether what it sees is the store that was opened.
///
/// Another program may have brought it to another version of the model, and rows of one version must not get into
/// tables of another. Each migration changes SQLite's number of the schema, which costs little to ask for; only where
/// it has changed are the metadata read, as also a new index changes it.
///
/// The log may have been removed, and another program have begun one: by an index that both use, the pages of one are
/// then looked up in the other.
final class SnapshotCheck: Sendable {
  private let path: String
  /// What the store said of its entities when it was opened.
  private let hashes: [String: Data]?
  /// The number at which the metadata were last seen to say the same.
  private let known = Atomic<Int64>(-1)

  private let place: FilePlace?

  init(path: String, metadata: [String: Any], place: FilePlace?) {
    self.path = path
    self.place = place
    hashes = ManagedObjectModel.entityHashes(inStoreMetadata: metadata)
  }

  /// - Throws: 134020 when the store is of another version now, 134070 when its log was removed.
  func check(_ connection: SQLiteConnection) throws {
    let schema = Result { try connection.integer("PRAGMA schema_version") }
    // What others begin from here on is not seen in this transaction.
    try place?.checkLog(path)
    guard let number = try schema.get(),
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
