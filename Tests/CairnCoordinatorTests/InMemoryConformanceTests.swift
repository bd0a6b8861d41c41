// The in-memory store keeps the promise of a store.

import CairnAtomicStores
import CairnModel
@_spi(Stores) import CairnStore
import CairnTesting
import Foundation
import Testing

@Suite struct InMemoryConformanceTests {
  @Test(arguments: PersistentStoreConformance.checkNames)
  func keepsThePromiseOfAStore(check: String) {
    let failures = PersistentStoreConformance(kind: InMemoryStoreKind()).run(only: [check])
    #expect(failures.isEmpty, "\(failures.map(\.message).joined(separator: "\n"))")
  }

  @Test func theSuiteFindsAStoreThatForgetsItsRows() {
    let failures = PersistentStoreConformance(kind: ForgetfulStoreKind()).run()
    #expect(failures.contains { $0.check == "every attribute type round-trips" })
    #expect(failures.contains { $0.check == "a deleted row is gone" })
    #expect(failures.contains { $0.check == "an update based on an old version is a conflict" })
  }
}

/// A store that says it saved and keeps nothing.
private final class ForgetfulStore: PersistentStore, @unchecked Sendable {
  // Unchecked: no mutable state of its own.
  override var type: String { "Forgetful" }
  override func loadMetadata() throws {
    metadata = [
      StoreMetadataKey.type: type, StoreMetadataKey.uuid: identity.identifier,
    ]
  }
  override func fetch(_ request: StoreFetchRequest) throws -> StoreFetchResult { .snapshots([]) }
  override func snapshots(for objectIDs: [ManagedObjectID]) throws -> [RowSnapshot?] {
    objectIDs.map { _ in nil }
  }
  override func members(
    of relationship: RelationshipDescription, owners: [ManagedObjectID]
  ) throws -> [[ManagedObjectID]] {
    owners.map { _ in [] }
  }
  override func obtainPermanentIDs(
    for entities: [EntityDescription]
  ) throws -> [ManagedObjectID] {
    entities.enumerated().map { objectID(for: $1, rowKey: Int64($0 + 1)) }
  }
  override func save(_ request: SaveChangesRequest) throws -> SaveOutcome {
    .saved(
      SaveReceipt(
        snapshots: request.insertions.map(\.snapshot) + request.updates.map(\.snapshot),
        transactionNumber: nil))
  }
}

private struct ForgetfulStoreKind: StoreKind {
  var type: String { "Forgetful" }
  var storeClass: PersistentStore.Type { ForgetfulStore.self }
  var keepsFiles: Bool { false }
  func metadata(at url: URL, options: StoreOptions) throws -> [String: Any] { [:] }
  func setMetadata(_ metadata: [String: Any], at url: URL, options: StoreOptions) throws {}
  func destroy(at url: URL, options: StoreOptions) throws {}
  func replace(at destination: URL, withStoreAt source: URL, options: StoreOptions) throws {}
}
