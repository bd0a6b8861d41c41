// Records by the IDs that are the same in every store.

import Cairn
import CairnModel
import CairnRecords
import CairnSync

/// Names objects by their record IDs.
struct RecordIDNaming: RecordNaming {
  let engine: SyncEngine

  func names(of objects: [ManagedObjectID]) throws -> [String] {
    try zip(objects, engine.recordIDs(for: objects)).map { object, record in
      // A record of another process that was not captured yet is named by its URI for a moment; a row that is gone, and
      // that another store's record was here, for good.
      record?.description ?? object.uriRepresentation().absoluteString
    }
  }

  func object(named name: String, entity: EntityDescription) throws -> ManagedObjectID? {
    guard let record = RecordID(name) else { return nil }
    return try engine.objectID(for: record)
  }
}
