import CairnContext
import CairnModel
import CairnStore
import CairnTesting
import Testing

@testable import CairnSync

/// Which records rows were that are gone: history names them, and a person has to find them.
struct FormerRecordTests {
  private let scratch: Scratch
  private let daemon: SyncEngineTests.Daemon

  init() throws {
    scratch = try Scratch()
    daemon = try SyncEngineTests.Daemon("local", in: scratch)
  }

  /// The rows that a store's history has deletes of.
  private func deleted(in store: PersistentStore) throws -> [ManagedObjectID] {
    let history = try #require(store.capabilities.history)
    return try history.readHistory(HistoryReadRequest()).flatMap(\.changes)
      .filter { $0.kind == .delete }.map(\.objectID)
  }

  @Test func aRowThatIsGoneIsNamedByItsRecordWhereItWasInserted() async throws {
    _ = try await daemon.addReplica(in: scratch, with: ["k", "other", "here"])
    let records = [try daemon.record("Item", "k"), try daemon.record("Item", "other")]
    for key in ["k", "other"] {
      try daemon.write(by: "anna") { context in
        context.delete(try #require(try daemon.site.find("Item", key, in: context)))
      }
    }
    try await daemon.engine.wait(timeout: .patience)
    let local = try deleted(in: daemon.site.store)
    #expect(try daemon.engine.recordIDs(for: local) == records)
    // There they were other rows, which nothing tells of any more.
    let replica = try #require(try daemon.engine.openStore(ofReplica: "nas")?.store)
    #expect(try daemon.engine.recordIDs(for: deleted(in: replica)) == [nil, nil])
    try await daemon.close()
  }

  @Test func aRowThatWasGoneBeforeSyncSawItIsNoRecord() async throws {
    try daemon.insert(["k"])
    try daemon.write(by: "anna") { context in
      context.delete(try #require(try daemon.site.find("Item", "k", in: context)))
    }
    #expect(try daemon.engine.recordIDs(for: deleted(in: daemon.site.store)) == [nil])
    try await daemon.close()
  }
}
