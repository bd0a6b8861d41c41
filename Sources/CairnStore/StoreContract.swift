// The contract of stores as Cairn's own modules call it. In `PersistentStore` it is for those who write
// stores (`@_spi(Stores)`): Apple's class has none of it, and the stores that programs write for that
// class may have methods of these names, which are theirs alone.
import CairnModel

/// What ``PersistentStore`` promises, for those who call and do not override it.
package protocol StoreContract {}

extension PersistentStore: StoreContract {}

// In a file that imports the contract itself, its methods are preferred to these.
extension StoreContract where Self: PersistentStore {
  @inlinable package func openStore() throws { try (self as PersistentStore).openStore() }

  @inlinable package func close() throws { try (self as PersistentStore).close() }

  @inlinable package func fetch(_ request: StoreFetchRequest) throws -> StoreFetchResult {
    try (self as PersistentStore).fetch(request)
  }

  @inlinable package func fetch(
    _ request: StoreFetchRequest, portion: Int, _ take: (StoreFetchResult) -> Void
  ) throws {
    try (self as PersistentStore).fetch(request, portion: portion, take)
  }

  @inlinable package func snapshots(for objectIDs: [ManagedObjectID]) throws -> [RowSnapshot?] {
    try (self as PersistentStore).snapshots(for: objectIDs)
  }

  @inlinable package func snapshot(for objectID: ManagedObjectID) throws -> RowSnapshot? {
    try (self as PersistentStore).snapshot(for: objectID)
  }

  @inlinable package func members(
    of relationship: RelationshipDescription, owners: [ManagedObjectID]
  ) throws -> [[ManagedObjectID]] {
    try (self as PersistentStore).members(of: relationship, owners: owners)
  }

  @inlinable package func obtainPermanentIDs(
    for entities: [EntityDescription]
  ) throws -> [ManagedObjectID] {
    try (self as PersistentStore).obtainPermanentIDs(for: entities)
  }

  @inlinable package func save(_ request: SaveChangesRequest) throws -> SaveOutcome {
    try (self as PersistentStore).save(request)
  }

  @inlinable package var capabilities: StoreCapabilities { (self as PersistentStore).capabilities }

  @inlinable package static var inPlaceMigration: (any InPlaceMigrating.Type)? {
    (self as PersistentStore.Type).inPlaceMigration
  }

  @inlinable package var hasUnsavedMetadata: Bool { (self as PersistentStore).hasUnsavedMetadata }

  @inlinable package func objectID(
    for entity: EntityDescription, rowKey: Int64
  ) -> ManagedObjectID {
    (self as PersistentStore).objectID(for: entity, rowKey: rowKey)
  }

  @inlinable package func rowKey(of id: ManagedObjectID) -> Int64? {
    (self as PersistentStore).rowKey(of: id)
  }
}
