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
/// Another program may have switched history on, which makes tables; from then on all programs record.
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
  /// Whether the file had the tables of history when it was opened.
  private let hadHistory: Bool
  private let sawHistory = Atomic(false)

  init(path: String, metadata: [String: Any], place: FilePlace?, hadHistory: Bool) {
    self.path = path
    self.place = place
    self.hadHistory = hadHistory
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
    if !hadHistory, try connection.hasTable("ATRANSACTION"), try connection.hasTable("ACHANGE") {
      sawHistory.store(true, ordering: .relaxed)
    }
    known.store(number, ordering: .relaxed)
  }

  /// Whether the last transaction saw that another program has switched history on since the store was opened.
  var othersRecordHistory: Bool { sawHistory.load(ordering: .relaxed) }
}
