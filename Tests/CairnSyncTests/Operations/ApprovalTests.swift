import CairnContext
import CairnModel
import CairnStore
import CairnTesting
import Foundation
import TestSupport
import Testing

@testable import CairnSync

/// Specification: sync.md 9: a pass that would delete much stops and asks.
struct ApprovalTests {
  private let scratch: Scratch
  init() throws { scratch = try Scratch() }

  private var url: URL { scratch.url.appendingPathComponent("nas.sqlite") }

  private func daemon(
    _ limit: DeletionLimit, items: Int = 130
  ) async throws -> SyncEngineTests.Daemon {
    let daemon = try SyncEngineTests.Daemon("local", in: scratch) { $0.deletionLimit = limit }
    try daemon.engine.addReplica(ReplicaConfiguration(name: "nas", url: url))
    if items > 0 { try daemon.insert((0..<items).map { "k\($0)" }) }
    try await daemon.engine.wait(timeout: .patience)
    return daemon
  }

  private func delete(_ count: Int, _ daemon: SyncEngineTests.Daemon) throws {
    try daemon.site.write { context in
      for object in try daemon.site.all("Item", in: context).prefix(count) {
        context.delete(object)
      }
    }
  }

  private func count(_ entity: String, _ daemon: SyncEngineTests.Daemon) throws -> Int {
    let open = try #require(try daemon.engine.openStore(ofReplica: "nas"))
    let description = try #require(open.coordinator.managedObjectModel.entitiesByName[entity])
    let request = StoreFetchRequest(entity: description, result: .count)
    return try #require(try open.store.fetch(request).count)
  }

  private func refused(_ daemon: SyncEngineTests.Daemon) async -> SyncError? {
    await #expect(throws: SyncError.self) { try await daemon.engine.wait(timeout: .patience) }
  }

  @Test func aPassThatWouldDeleteMoreThanTheShareStopsSaysWhatAndGoesOnOnceApproved() async throws {
    let daemon = try await daemon(DeletionLimit(share: 0.5, smallest: 100))
    let other = scratch.url.appendingPathComponent("other.sqlite")
    try delete(120, daemon)
    let error = await refused(daemon)
    #expect(error?.code == .awaitingApproval)
    #expect(
      error?.message == "waiting for approval: 120 of 130 Item would be deleted in nas")
    #expect(try count("Item", daemon) == 130)
    let status = try #require(try daemon.engine.status().replicas.first)
    guard case .awaitingApproval(let plan) = status.phase else {
      Issue.record("\(status.phase)")
      return
    }
    #expect(plan.entities == [PendingDeletion(entity: "Item", deleted: 120, total: 130)])
    #expect(try daemon.engine.awaitingApproval() == [plan])
    // Other links go on.
    try daemon.engine.addReplica(ReplicaConfiguration(name: "other", url: other))
    try await daemon.engine.wait(for: ["other"], timeout: .patience)
    let wrong = await #expect(throws: SyncError.self) {
      try await daemon.engine.approve("nas", plan: "another")
    }
    #expect(wrong?.code == .planChanged)
    #expect(try await daemon.engine.approve("nas", plan: plan.id) == plan)
    try await daemon.engine.wait(timeout: .patience)
    #expect(try count("Item", daemon) == 10)
    let again = await #expect(throws: SyncError.self) {
      try await daemon.engine.approve("nas")
    }
    #expect(again?.code == .nothingToApprove)
    try await daemon.close()
  }

  /// Nothing tells of them but that they are gone.
  @Test func recordsThatWentWithoutHistoryAreAskedAboutAsWell() async throws {
    let limit = DeletionLimit(share: 0.5, smallest: 100)
    try await daemon(limit).close()
    let program = try SyncEngineTests.Daemon("local", in: scratch)
    try delete(120, program)
    let history = try #require(program.site.store.capabilities.history)
    #expect(try history.purgeHistory(before: .max, date: nil) > 0)
    try await program.close()
    let next = try SyncEngineTests.Daemon("local", in: scratch) { $0.deletionLimit = limit }
    try next.engine.addReplica(ReplicaConfiguration(name: "nas", url: url))
    #expect(await refused(next)?.code == .awaitingApproval)
    #expect(try count("Item", next) == 130)
    try await next.engine.approve("nas")
    try await next.engine.wait(timeout: .patience)
    #expect(try count("Item", next) == 10)
    try await next.close()
  }

  @Test func theNumberCountsByItselfAndTinyEntitiesAreNotAskedAbout() async throws {
    let daemon = try await daemon(DeletionLimit(count: 5, share: nil, smallest: 50))
    try delete(5, daemon)
    try await daemon.engine.wait(timeout: .patience)
    try delete(6, daemon)
    #expect(await refused(daemon)?.code == .awaitingApproval)
    try await daemon.engine.approve("nas")
    try await daemon.engine.wait(timeout: .patience)
    try delete(119 - 49, daemon)
    #expect(await refused(daemon)?.code == .awaitingApproval)
    try await daemon.engine.approve("nas")
    try await daemon.engine.wait(timeout: .patience)
    // 49 are left, fewer than the smallest entity that is asked about.
    try delete(49, daemon)
    try await daemon.engine.wait(timeout: .patience)
    #expect(try count("Item", daemon) == 0)
    try await daemon.close()
  }

  @Test func whatIsRejectedStaysStoppedAndWhatGrowsIsAskedAgain() async throws {
    let daemon = try await daemon(DeletionLimit(share: 0.5, smallest: 100))
    try delete(100, daemon)
    _ = await refused(daemon)
    #expect(try await daemon.engine.reject("nas").entities.first?.deleted == 100)
    let rejected = await refused(daemon)
    #expect(rejected?.code == .awaitingApproval && rejected?.message.contains("rejected") == true)
    try daemon.engine.syncNow()
    _ = await refused(daemon)
    #expect(try count("Item", daemon) == 130)
    try delete(1, daemon)
    try daemon.engine.syncNow()
    let grown = await refused(daemon)
    #expect(
      grown?.message == "waiting for approval: 101 of 130 Item would be deleted in nas")
    // What was approved is what was asked: one more, and it asks again.
    try await daemon.engine.rest()
    try daemon.engine.resume()
    _ = await refused(daemon)
    let plan = try await daemon.engine.approve("nas")
    #expect(plan.entities.first?.deleted == 101)
    try await daemon.engine.wait(timeout: .patience)
    #expect(try count("Item", daemon) == 29)
    try await daemon.close()
  }

  @Test func anApprovalCoversNothingThatIsDeletedAfterIt() async throws {
    let daemon = try await daemon(DeletionLimit(share: 0.5, smallest: 100))
    try delete(100, daemon)
    _ = await refused(daemon)
    let plan = try #require(try daemon.engine.awaitingApproval().first)
    try await daemon.engine.rest()
    #expect(try await daemon.engine.approve("nas") == plan)
    try delete(1, daemon)
    try daemon.engine.resume()
    #expect(
      await refused(daemon)?.message
        == "waiting for approval: 101 of 130 Item would be deleted in nas")
    #expect(try daemon.engine.awaitingApproval().first?.id != plan.id)
    try await daemon.close()
  }

  @Test func anApprovalOutlivesTheDaemonAndAQuestionIsAskedAgain() async throws {
    let limit = DeletionLimit(share: 0.5, smallest: 100)
    let first = try await daemon(limit)
    try delete(120, first)
    _ = await refused(first)
    try await first.close()
    let second = try SyncEngineTests.Daemon("local", in: scratch) { $0.deletionLimit = limit }
    try second.engine.addReplica(ReplicaConfiguration(name: "nas", url: url))
    #expect(await refused(second)?.code == .awaitingApproval)
    // The daemon ends before the pass begins.
    let link = try second.engine.link("nas")
    let plan = try #require(link.life.deletions)
    let ledger = try #require(link.replica).ledger()
    ledger.put(
      SyncKey.verdict(plan.source),
      DeletionVerdict(extent: plan.extent, isApproved: true).encoded)
    #expect(try #require(link.replica).commit(ledger))
    try await second.close()
    let third = try await daemon(limit, items: 0)
    #expect(try count("Item", third) == 10)
    try await third.close()
  }

  /// Earlier versions wrote a place of the change order, and no stamps.
  @Test func anApprovalOfAnEarlierVersionCoversNothing() throws {
    var writer = ByteWriter()
    writer.fixed(UInt64(99))
    writer.byte(1)
    let verdict = try DeletionVerdict(decoding: writer.data)
    #expect(verdict.isApproved)
    #expect(!verdict.extent.covers(DeletionExtent(forgotten: 5)), "of a store that comes back")
  }

  /// The first to take the deletes tells the hub so, by which their places there may change.
  @Test func anApprovalHoldsThoughAnotherDaemonHasTakenTheDeletesMeanwhile() async throws {
    let limit = DeletionLimit(share: 0.5, smallest: 100)
    let first = try await daemon(limit)
    let second = try SyncEngineTests.Daemon("second", in: scratch) { $0.deletionLimit = limit }
    let third = try SyncEngineTests.Daemon("third", in: scratch)
    for other in [second, third] {
      try other.engine.addReplica(ReplicaConfiguration(name: "nas", url: url))
      try await other.engine.wait(timeout: .patience)
    }
    try delete(120, third)
    try await third.engine.wait(timeout: .patience)
    for other in [first, second] {
      try other.engine.syncNow()
      #expect(await refused(other)?.code == .awaitingApproval)
    }
    for other in [second, first] {
      try await other.engine.approve("nas")
      try await other.engine.wait(timeout: .patience)
      #expect(try other.site.picture().count == 10)
    }
    for other in [first, second, third] { try await other.close() }
  }

  @Test func aPullThatWouldDeleteMuchInTheLocalStoreAsksToo() async throws {
    let limit = DeletionLimit(share: 0.5, smallest: 100)
    let here = try await daemon(limit)
    let there = try SyncEngineTests.Daemon("there", in: scratch)
    try there.engine.addReplica(ReplicaConfiguration(name: "nas", url: url))
    try await there.engine.wait(timeout: .patience)
    try delete(130, there)
    try await there.engine.wait(timeout: .patience)
    #expect(
      await refused(here)?.message
        == "waiting for approval: 130 of 130 Item would be deleted in local")
    try await here.engine.approve("nas")
    try await here.engine.wait(timeout: .patience)
    #expect(try here.site.picture().isEmpty)
    try await here.close()
    try await there.close()
  }

  /// Another daemon puts the deletes there while a pass is on its way.
  @Test func whatArrivesRightBeforeItIsReadIsAskedAboutToo() throws {
    let fleet = Fleet(seed: 132)
    let (a, b) = (try fleet.add("a"), try fleet.add("b"))
    try a.write { context in
      for number in 0..<20 {
        _ = try a.insert("Item", ["key": "k\(number)", "value": "v"], in: context)
      }
    }
    _ = try fleet.settle([(a, b)])
    fleet.interrupt(b, at: .beforeExport) {
      try b.write { for object in try b.all("Item", in: $0) { $0.delete(object) } }
      try HistoryCapture(access: b.access).run()
    }
    #expect(throws: ApprovalNeeded.self) {
      try fleet.pass(a, b, deletions: DeletionLimit(count: 5, share: nil, smallest: 0))
    }
    #expect(fleet.wasInterrupted)
    #expect(try a.picture().count == 20)
  }

  @Test func aLinkThatWaitsGoesOnByItselfWhenTheRecordsAreBack() async throws {
    let daemon = try await daemon(DeletionLimit(count: 20, share: nil, smallest: 100))
    try await daemon.engine.rest()
    try delete(100, daemon)
    try daemon.engine.resume()
    _ = await refused(daemon)
    // Others bring most of them back: what the other side wrote is later.
    let there = try SyncEngineTests.Daemon("there", in: scratch)
    try there.engine.addReplica(ReplicaConfiguration(name: "nas", url: url))
    try await there.engine.wait(timeout: .patience)
    try there.site.write { context in
      for object in try there.site.all("Item", in: context) {
        object.setValue(9.0, forKey: "other")
      }
    }
    try await there.engine.wait(timeout: .patience)
    try daemon.engine.syncNow()
    try await daemon.engine.wait(timeout: .patience)
    #expect(try count("Item", daemon) == 130)
    #expect(try daemon.engine.awaitingApproval().isEmpty)
    try await daemon.close()
    try await there.close()
  }

  @Test(arguments: [
    (5, 10, false), (6, 10, true), (10, 10, true), (0, 10, false), (9, 9, false),
  ])
  func theShareIsOfWhatTheStoreHas(deleted: Int, total: Int, isExceeded: Bool) {
    let limit = DeletionLimit(share: 0.5, smallest: 10)
    #expect(limit.isExceeded(deleting: deleted, of: total) == isExceeded)
    #expect(!DeletionLimit.none.isExceeded(deleting: deleted, of: total))
  }
}
