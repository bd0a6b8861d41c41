import CairnContext
import CairnStore
import CairnTesting
import Foundation
import GRDB
import Synchronization
import TestSupport
import Testing

@testable import CairnSync

/// Specification: sync.md 9, `explain`, of what was written while the machine's clock was wrong.
struct ExplainClockTests {
  private static let year: UInt64 = 365 * 24 * 3600 * 1000
  private let scratch: Scratch
  private let daemon: SyncEngineTests.Daemon
  /// What the clock shows beyond the time.
  private final class Skew: Sendable {
    let milliseconds = Atomic<UInt64>(0)
  }
  private let skew = Skew()

  /// The time is a year ago: saves carry the real date, which is then that of a wrong clock.
  init() throws {
    scratch = try Scratch()
    var environment = SyncEnvironment.live
    environment.now = { [skew] in
      SyncEnvironment.live.now() - Self.year + skew.milliseconds.load(ordering: .relaxed)
    }
    daemon = try SyncEngineTests.Daemon("local", in: scratch, environment: environment)
  }

  private func jump(_ milliseconds: UInt64) {
    skew.milliseconds.store(milliseconds, ordering: .relaxed)
  }

  private func set(_ value: String, by author: String) throws {
    let context = ManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = daemon.site.coordinator
    context.transactionAuthor = author
    try context.performAndWait {
      try daemon.set("k", "value", value, in: context)
      try context.save()
    }
    try HistoryCapture(access: daemon.site.access).run()
  }

  private func explained() async throws -> (store: String?, author: String?, number: Int64) {
    let record = try daemon.record("Item", "k")
    let value = try #require(
      try await daemon.engine.explain(record, property: "value").values.first)
    guard case .transaction(let number, let author, _, _, _) = value.write.authorship else {
      Issue.record("\(value.write.authorship)")
      return (value.write.store.name, nil, 0)
    }
    return (value.write.store.name, author, number)
  }

  @Test func whatWasStampedAnewIsExplainedByTheTransactionThatWroteIt() async throws {
    try daemon.insert(["k"])
    jump(Self.year)
    try set("earlier", by: "earlier")
    try set("future", by: "future")
    // The one before has the right date, as one has that was made before the clock went wrong.
    let file = try DatabaseQueue(patient: scratch.url.appendingPathComponent("local.sqlite").path)
    try await file.write {
      try $0.execute(
        sql: "UPDATE ATRANSACTION SET ZTIMESTAMP = ZTIMESTAMP - ? WHERE Z_PK = 2",
        arguments: [Double(Self.year) / 1000])
    }
    try file.close()
    #expect(try await explained() == ("local", "future", 3))
    jump(600_000)
    try daemon.engine.addReplica(
      ReplicaConfiguration(name: "nas", url: scratch.url.appendingPathComponent("nas.sqlite")))
    try await daemon.engine.wait(timeout: .patience)
    let stamp = try #require(
      try await daemon.engine.explain(daemon.record("Item", "k"), property: "value").values.first
    )
    .write.stamp
    #expect(stamp.clock.milliseconds < SyncEnvironment.live.now() - Self.year / 2)
    #expect(try await explained() == ("local", "future", 3))
    try set("later", by: "later")
    #expect(try await explained() == ("local", "later", 4))
    try await daemon.close()
  }

  @Test func whatARepairTookForWrittenNowIsNotThatOfATransaction() async throws {
    try daemon.insert(["k"])
    jump(Self.year)
    let url = scratch.url.appendingPathComponent("nas.sqlite")
    try daemon.engine.addReplica(ReplicaConfiguration(name: "nas", url: url))
    try await daemon.engine.wait(timeout: .patience)
    let file = try DatabaseQueue(patient: url.path)
    try await file.write { try $0.execute(sql: "UPDATE ZITEM SET ZVALUE = 'past history'") }
    try file.close()
    jump(Self.year + 600_000)
    let report = try await daemon.engine.repair(name: "nas", timeout: .patience)
    #expect(report.actions.map(\.kind) == [.written])
    let value = try #require(
      try await daemon.engine.explain(daemon.record("Item", "k"), property: "value").values.first)
    #expect(value.write.authorship == .nobody, "\(value.write.authorship)")
    try await daemon.close()
  }
}
