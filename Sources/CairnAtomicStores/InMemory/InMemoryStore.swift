import CairnModel
@_spi(Stores) import CairnStore
import Foundation
import Synchronization

/// A store that lives in memory only, with versions, uniqueness, history and sidecar. Type `InMemory`; the URL is ignored.
// Unchecked: its mutable state is `tables`, inside a mutex. Predicates run on a copy, outside it.
public final class InMemoryStore: PersistentStore, HistoryKeeping, SidecarKeeping,
  GenerationKeeping, @unchecked Sendable
{
  private let tables = Mutex(MemoryTables())

  public override var type: String { StoreTypeName.inMemory }

  @_spi(Stores)
  public override var capabilities: StoreCapabilities {
    var all = StoreCapabilities()
    (all.history, all.sidecar, all.generations) = (self, self, self)
    all.keepsUniqueness = true
    return all
  }

  public override func loadMetadata() throws {
    let model = managedObjectModel
    metadata = [
      StoreMetadataKey.type: type,
      StoreMetadataKey.uuid: identity.identifier,
      StoreMetadataKey.versionHashes: model.entityVersionHashesByName,
      StoreMetadataKey.versionHashesVersion: 3,
      StoreMetadataKey.versionChecksum: model.versionChecksum,
    ]
  }

  /// Everything is gone then.
  public override func close() throws {
    tables.withLock { $0 = MemoryTables() }
  }

  // MARK: Rows

  public override func fetch(_ request: StoreFetchRequest) throws -> StoreFetchResult {
    try tables.withLock { $0 }.fetch(request)
  }

  public override func snapshots(for objectIDs: [ManagedObjectID]) throws -> [RowSnapshot?] {
    tables.withLock { tables in objectIDs.map { tables.row($0) } }
  }

  public override func members(
    of relationship: RelationshipDescription, owners: [ManagedObjectID]
  ) throws -> [[ManagedObjectID]] {
    tables.withLock { tables in owners.map { tables.members(of: relationship, owner: $0) } }
  }

  public override func obtainPermanentIDs(
    for entities: [EntityDescription]
  ) throws -> [ManagedObjectID] {
    try tables.withLock { tables in
      try entities.map {
        ManagedObjectID(
          entity: $0, storeIdentity: identity, key: .row(try tables.nextKey(for: $0)))
      }
    }
  }

  public override func save(_ request: SaveChangesRequest) throws -> SaveOutcome {
    let tracksHistory = configuration.options.tracksHistory
    return try tables.withLock { try $0.save(request, tracksHistory: tracksHistory) }
  }

  /// The tables as they are now: a value, which later saves do not change.
  public func currentGeneration(lasting: GenerationLifetime) throws -> (any StoreGeneration)? {
    MemoryGeneration(tables: tables.withLock { $0 })
  }

  // MARK: History

  public func readHistory(_ request: HistoryReadRequest) throws -> [HistoryTransactionRecord] {
    try tables.withLock { try $0.history.read(request) }
  }

  public func lastTransactionNumber() throws -> Int64 {
    tables.withLock { $0.history.lastTransaction }
  }

  public func purgeHistory(before number: Int64?, date: Date?) throws -> Int {
    tables.withLock { $0.purgeHistory(before: number, date: date) }
  }

  // MARK: Sidecar

  public func sidecarValues(for keys: [SidecarKey]) throws -> [Data?] {
    tables.withLock { tables in keys.map { tables.sidecar[$0] } }
  }

  public func sidecarEntries(
    of map: String, from lower: Data?, to upper: Data?, limit: Int, except value: Data?
  ) throws -> [(key: Data, value: Data)] {
    tables.withLock {
      $0.sidecar.entries(of: map, from: lower, to: upper, limit: limit, except: value)
    }
  }
}

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
