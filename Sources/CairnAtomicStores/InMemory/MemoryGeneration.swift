import CairnModel
import CairnStore

/// A store in memory as it was once.
final class MemoryGeneration: StoreGeneration {
  private let tables: MemoryTables

  init(tables: MemoryTables) { self.tables = tables }

  var isReadable: Bool { true }

  func fetch(_ request: StoreFetchRequest) throws -> StoreFetchResult { try tables.fetch(request) }

  func snapshots(for objectIDs: [ManagedObjectID]) throws -> [RowSnapshot?] {
    objectIDs.map { tables.row($0) }
  }

  func members(
    of relationship: RelationshipDescription, owners: [ManagedObjectID]
  ) throws -> [[ManagedObjectID]] {
    owners.map { tables.members(of: relationship, owner: $0) }
  }
}
