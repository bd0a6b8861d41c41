import CairnContext
import CairnModel
import CairnStore
import CairnTesting
import Foundation
import Testing

@testable import CairnSync

/// Specification: sync.md 9: `quarantine` and `held`, with `accept`.
struct QuarantineTests {
  private let scratch: Scratch
  init() throws { scratch = try Scratch() }

  /// Writes a value past the rules, which a batch request does not ask.
  private func breakRule(ofItem key: String, in daemon: SyncEngineTests.Daemon) throws {
    let request = BatchUpdateRequest(entityName: "Item")
    request.predicate = ObjectPredicate(format: "key == %@", key)
    request.propertiesToUpdate = ["value": String(repeating: "x", count: 200)]
    request.affectedStores = [daemon.site.store]
    let context = ManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = daemon.site.coordinator
    _ = try context.performAndWait { try context.execute(request) }
  }

  /// A daemon with an item `k`, whose replica refuses its value.
  private func refused(
    _ write: (SyncEngineTests.Daemon) async throws -> Void = {
      try $0.breakRule(value: String(repeating: "x", count: 200))
    }, policy: DeleteConflictPolicy = .lastWriter
  ) async throws -> SyncEngineTests.Daemon {
    let daemon = try SyncEngineTests.Daemon("local", in: scratch, policy: policy)
    let url = scratch.url.appendingPathComponent("nas.sqlite")
    try daemon.engine.addReplica(ReplicaConfiguration(name: "nas", url: url))
    try daemon.insert(["k"])
    try await daemon.engine.wait(timeout: .patience)
    try await write(daemon)
    await #expect(throws: SyncError.self) { try await daemon.engine.wait(timeout: .patience) }
    return daemon
  }

  private func nas(_ daemon: SyncEngineTests.Daemon) throws -> [String] {
    let open = try #require(try daemon.engine.openStore(ofReplica: "nas"))
    let access = StoreAccess(
      store: open.store, schema: daemon.site.access.schema,
      environment: daemon.site.access.environment,
      configuration: daemon.site.access.configuration)
    return try Fleet.Site(name: "nas", access: access, coordinator: open.coordinator).picture()
  }

  @Test func whatWaitsIsListedWithWhereWhatAndWhy() async throws {
    let daemon = try await refused()
    let page = try await daemon.engine.quarantine()
    let item = try #require(page.items.first)
    #expect(page.items.count == 1 && page.next == nil && page.away.isEmpty)
    #expect(item.store.name == "nas" && item.source.name == "local")
    #expect(item.reason == .validation && item.message.contains("too long"))
    #expect(item.record == (try daemon.record("Item", "k")) && item.entity == "Item")
    #expect(item.properties == ["value"] && !item.isDelete && item.ahead == nil)
    #expect(item.discardEffect == .keepsValues(["value"]))
    #expect(QuarantineID(item.id.description) == item.id)
    #expect(try await daemon.engine.quarantined(item.id) == item)
    #expect(try await daemon.engine.quarantine(reason: .clockSkew).items.isEmpty)
    #expect(try await daemon.engine.quarantine(in: ["local"]).items.isEmpty)
    try await daemon.close()
  }

  @Test func retryNowTellsWhatStillWaitsAndWhatDoesNot() async throws {
    let daemon = try await refused()
    let item = try #require(try await daemon.engine.quarantine().items.first)
    let first = try await daemon.engine.retryQuarantined([item.id])
    #expect(first.released == 0 && first.waiting.map(\.id) == [item.id])
    try daemon.breakRule(value: "short")
    try await daemon.engine.wait(timeout: .patience)
    #expect(try await daemon.engine.retryQuarantined().waiting.isEmpty)
    let error = await #expect(throws: SyncError.self) {
      try await daemon.engine.retryQuarantined([item.id])
    }
    #expect(error?.code == .notQuarantined)
    try await daemon.close()
  }

  @Test func discardingKeepsTheStoresValueEverywhereAndTheOtherInTheJournal() async throws {
    let daemon = try await refused()
    let item = try #require(try await daemon.engine.quarantine().items.first)
    let lost = try await daemon.engine.discard(item.id, revision: item.revision)
    #expect(lost.map(\.property) == ["value"] && lost.map(\.rule) == [.discarded])
    try await daemon.engine.wait(timeout: .patience)
    #expect(try daemon.item("k", "value") == "k")
    #expect(try await daemon.engine.verify(name: "nas", timeout: .patience).isEqual)
    let again = await #expect(throws: SyncError.self) {
      try await daemon.engine.discard(item.id, revision: item.revision)
    }
    #expect(again?.code == .notQuarantined)
    let kept = try await daemon.engine.conflicts(matching: ConflictFilter(rules: [.discarded]))
    #expect(kept.conflicts.first?.conflict.losingValue == lost.first?.losingValue)
    try await daemon.close()
  }

  @Test func discardingNeedsTheRevisionThatWasLookedAt() async throws {
    let daemon = try await refused()
    let item = try #require(try await daemon.engine.quarantine().items.first)
    try daemon.breakRule(value: String(repeating: "y", count: 300))
    await #expect(throws: SyncError.self) { try await daemon.engine.wait(timeout: .patience) }
    let error = await #expect(throws: SyncError.self) {
      try await daemon.engine.discard(item.id, revision: item.revision)
    }
    #expect(error?.code == .planChanged)
    try await daemon.close()
  }

  @Test func discardingARecordThatTheStoreDoesNotHaveDeletesItAndRestoreBringsItBack() async throws
  {
    let daemon = try await refused { daemon in
      try await daemon.engine.rest()
      try daemon.insert(["bad"])
      try breakRule(ofItem: "bad", in: daemon)
      try daemon.engine.resume()
    }
    let item = try #require(try await daemon.engine.quarantine().items.first)
    #expect(item.discardEffect == .deletesRecord)
    #expect(try await daemon.engine.discard(item.id, revision: item.revision).count >= 2)
    try await daemon.engine.wait(timeout: .patience)
    #expect(try daemon.site.picture() == ["item k k nil ^- []"])
    #expect(try nas(daemon) == daemon.site.picture())
    let key = try #require(
      try await daemon.engine.conflicts(
        matching: ConflictFilter(record: item.record, property: "key")
      ).conflicts.first)
    // The value that the rules refuse is what is known of the record.
    let error = await #expect(throws: SyncError.self) {
      try await daemon.engine.restore(key.id)
    }
    #expect(error?.code == .invalidRecord && error?.message.contains("Item.value") == true)
    try await daemon.close()
  }

  /// Also in the store where the discarded record never was, and what refers to it is.
  @Test func whatGoesAlongWithADiscardedRecordGoesInAllStores() async throws {
    let daemon = try await refused { daemon in
      try await daemon.engine.rest()
      try daemon.site.write { context in
        let item = try daemon.site.insert("Item", ["key": "bad"], in: context)
        _ = try daemon.site.insert("Part", ["key": "p", "item": item], in: context)
      }
      try breakRule(ofItem: "bad", in: daemon)
      try daemon.engine.resume()
    }
    #expect(try nas(daemon) == ["item k k nil ^- []", "part p of - at -1"])
    let item = try #require(try await daemon.engine.quarantine().items.first)
    #expect(item.discardEffect == .deletesRecord)
    _ = try await daemon.engine.discard(item.id, revision: item.revision)
    try await daemon.engine.wait(timeout: .patience)
    #expect(try await daemon.engine.quarantine().items.isEmpty)
    #expect(try daemon.site.picture() == ["item k k nil ^- []"])
    #expect(try nas(daemon) == daemon.site.picture())
    #expect(try await daemon.engine.verify(name: "nas", timeout: .patience).isEqual)
    try await daemon.close()
  }

  @Test func aLongListComesInPages() async throws {
    let daemon = try await refused()
    let ledger = try daemon.site.access.ledger()
    for number in 0..<1203 {
      let id = RecordID(high: 3, low: UInt64(number))
      let entry = QuarantineEntry(
        reason: .validation, message: "odd/ñame", source: StoreID(high: 1, low: 1), since: 1,
        content: .record(RecordState(id: id, entity: "Unknown")))
      ledger.put(SyncKey.quarantine(id), entry.encoded)
    }
    ledger.put(SyncMap.quarantine.key(Data([1, 2])), Data([7]))
    #expect(try daemon.site.access.commit(ledger))
    var seen: [QuarantineID] = []
    var after: QuarantineID?
    var damaged = 0
    repeat {
      let page = try await daemon.engine.quarantine(after: after, limit: 200)
      seen += page.items.map(\.id)
      damaged += page.damaged
      after = page.next
    } while after != nil
    #expect(seen.count == 1204 && Set(seen).count == 1204 && damaged == 1)
    try await daemon.close()
  }

  @Test(arguments: ["", "nas", "/", "nas/", "/00000000-0000-0000-0000-000000000000", "nas/x"])
  func anIDThatIsNoneIsRefused(text: String) {
    #expect(QuarantineID(text) == nil)
  }

  @Test func whatWaitsForTimeIsAcceptedByRecordAloneOrByStore() throws {
    let fleet = Fleet(seed: 31)
    let ahead = try fleet.add("ahead", skew: 3_600_000)
    let local = try fleet.add("local")
    for key in ["a", "b"] {
      try ahead.write { _ = try ahead.insert("Item", ["key": key], in: $0) }
    }
    try HistoryCapture(access: ahead.access).run()
    try fleet.pass(local, ahead)
    #expect(try local.picture().isEmpty && local.access.held().ahead == 2)
    let states = try ReplicationTests().quarantine(local).compactMap(\.state)
    let first = try #require(
      states.first { $0.registers["key"]?.value == .string("b") })
    let alone = try local.access.held(.record(first.id))
    #expect(alone.count == 1)
    try local.access.accept(alone.stamps, isExact: true)
    try fleet.pass(local, ahead)
    #expect(try local.picture() == ["item b nil nil ^- []"])
    let other = try local.access.held(.store(StoreID(high: 9, low: 9)))
    #expect(other.count == 0)
    let rest = try local.access.held(.store(try ahead.access.ledger().storeID))
    #expect(rest.count == 1)
    try local.access.accept(rest.stamps, isExact: false)
    try fleet.pass(local, ahead)
    #expect(try local.picture() == ahead.picture())
  }
}
