import CairnContext
import CairnModel
import CairnPredicates
import CairnStore
import CairnTesting
import Foundation
import Testing

@testable import CairnSync

/// Specification: sync.md 9, `plan`.
struct PlanTests {
  private func counts(_ plan: DirectionPlan?, _ entity: String) -> [Int] {
    let found = plan?.entities.first { $0.entity == entity }
    return found.map { [$0.inserted, $0.updated, $0.deleted, $0.cascaded] } ?? [0, 0, 0, 0]
  }

  /// All of sync's tables.
  private func books(_ store: PersistentStore) throws -> [String: [Data: Data]] {
    let sidecar = try #require(store.capabilities.sidecar)
    var result: [String: [Data: Data]] = [:]
    for map in SyncMap.allCases {
      let entries = try sidecar.sidecarEntries(of: map.rawValue, from: nil, to: nil, limit: 0)
      result[map.rawValue] = Dictionary(
        entries.map { ($0.key, $0.value) }, uniquingKeysWith: { first, _ in first })
    }
    return result
  }

  @Test func aPlanCountsWhatThePassThenDoesAndWritesNothing() async throws {
    let duet = try await Duet.make()
    try duet.here.site.write { context in
      let item = try duet.here.site.insert("Item", ["key": "d"], in: context)
      _ = try duet.here.site.insert("Part", ["key": "p", "item": item], in: context)
    }
    try await duet.settle()
    try await duet.here.engine.rest()
    try duet.there.site.write { context in
      _ = try duet.there.site.insert("Item", ["key": "new", "value": "v"], in: context)
    }
    try await duet.there.engine.wait(timeout: .patience)
    // Nothing but the plan looks at the stores from here on.
    try await duet.there.engine.rest()
    for daemon in [duet.here, duet.there] { try await daemon.engine.link("nas").perform {} }
    try duet.here.site.write { context in
      try duet.here.set("k", "value", "changed", in: context)
      let tag = try #require(try duet.here.site.find("Tag", "t", in: context))
      try duet.here.set("k", "tags", Set([tag]), in: context)
      context.delete(try #require(try duet.here.site.find("Item", "d", in: context)))
    }
    let nas = try #require(try duet.here.engine.openStore(ofReplica: "nas")).store
    let before = (try books(duet.here.site.store), try books(nas))
    let plan = try await duet.here.engine.plan("nas")
    #expect(try books(duet.here.site.store) == before.0)
    #expect(try books(nas) == before.1)
    #expect(counts(plan.pull, "Item") == [1, 0, 0, 0])
    #expect(
      plan.pull?.records.first?.properties.first { $0.name == "value" }?.after == .string("v"))
    #expect(plan.pull?.source.name == "nas" && plan.pull?.destination.name == "local")
    #expect(counts(plan.push, "Item") == [0, 1, 1, 0])
    // It was deleted along with its item where that was deleted, and travels as a delete.
    #expect(counts(plan.push, "Part") == [0, 0, 1, 0])
    #expect(plan.push?.links == 1 && plan.push?.isComplete == true)
    let update = try #require(plan.push?.records.first { $0.kind == .update })
    #expect(
      update.properties == [
        PlannedProperty(name: "value", before: .string("first"), after: .string("changed"))
      ])
    #expect(plan.push?.conflictCount == 0 && plan.push?.quarantinedCount == 0)
    let short = try await duet.here.engine.plan("nas", limit: 1)
    #expect(short.push?.records.count == 1 && counts(short.push, "Item") == [0, 1, 1, 0])
    for daemon in [duet.here, duet.there] { try daemon.engine.resume() }
    try await duet.settle()
    #expect(try await duet.here.engine.plan("nas").isEmpty)
    try await duet.close()
  }

  @Test func aPlanTellsOfConflictsAndOfWhatWouldBeQuarantined() async throws {
    let duet = try await Duet.make()
    try duet.here.insert(["bad"])
    try await duet.settle()
    try await duet.here.engine.rest()
    try duet.there.site.write { try duet.there.set("k", "value", "theirs", in: $0) }
    try await duet.there.engine.wait(timeout: .patience)
    try duet.here.site.write { try duet.here.set("k", "value", "mine", in: $0) }
    let request = BatchUpdateRequest(entityName: "Item")
    request.predicate = ObjectPredicate(format: "key == 'bad'")
    request.propertiesToUpdate = ["value": String(repeating: "x", count: 200)]
    request.affectedStores = [duet.here.site.store]
    let context = ManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = duet.here.site.coordinator
    _ = try await context.perform { try context.execute(request) }
    let plan = try await duet.here.engine.plan("nas")
    let conflict = try #require(plan.pull?.conflicts.first)
    #expect(plan.pull?.conflictCount == 1 && conflict.losingValue == .string("theirs"))
    #expect(plan.push?.quarantinedCount == 1)
    #expect(plan.push?.quarantined.first?.reason == .validation)
    #expect(plan.push?.quarantined.first?.message.contains("too long") == true)
    #expect(counts(plan.push, "Item") == [0, 1, 0, 0])
    #expect(try await duet.here.engine.conflicts().conflicts.isEmpty)
    try await duet.close()
  }

  @Test func aPlanTellsWhatWouldHaveToBeApprovedAndOfRowsThatSyncHasNotTakenUp() async throws {
    let scratch = try Scratch()
    let daemon = try SyncEngineTests.Daemon("local", in: scratch) {
      $0.deletionLimit = DeletionLimit(count: 2, share: nil, smallest: 1)
    }
    try daemon.insert(["a", "b", "c", "d"])
    let url = scratch.url.appendingPathComponent("nas.sqlite")
    try daemon.engine.addReplica(ReplicaConfiguration(name: "nas", url: url), isPaused: true)
    let closed = await #expect(throws: SyncError.self) { try await daemon.engine.plan("nas") }
    #expect(closed?.code == .notSyncing)
    try daemon.engine.resume()
    try await daemon.engine.wait(timeout: .patience)
    try await daemon.engine.rest()
    try daemon.site.write { context in
      for object in try daemon.site.all("Item", in: context).prefix(3) { context.delete(object) }
    }
    // Stamps are needed for what is asked about; a plan before them still counts.
    let early = try await daemon.engine.plan("nas")
    #expect(early.push?.entities.first?.deleted == 3)
    try HistoryCapture(access: daemon.site.access).run()
    let plan = try await daemon.engine.plan("nas")
    #expect(plan.push?.awaitingApproval?.entities.first?.deleted == 3)
    #expect(plan.push?.rowsNotTakenUp == 0)
    try await daemon.close()
  }
}
