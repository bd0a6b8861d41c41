import CairnModel
import CairnStore
import CairnTesting
import Foundation
import GRDB
import TestSupport
import Testing

@testable import CairnSync

/// Specification: sync.md 2, "Intent survives" and "Isolation of trouble", of values that SQL puts into a column
/// of another type, as SQLite allows.
struct StrayValueTests {
  private let scratch: Scratch
  private let daemon: SyncEngineTests.Daemon
  private let url: URL

  /// Items `a` and `b` with numbers, in a store and its replica.
  init() async throws {
    scratch = try Scratch()
    url = scratch.url.appendingPathComponent("nas.sqlite")
    daemon = try SyncEngineTests.Daemon("local", in: scratch)
    try daemon.site.write { [daemon] context in
      for (key, number) in [("a", 1.0), ("b", 2.0)] {
        _ = try daemon.site.insert("Item", ["key": key, "other": number], in: context)
      }
    }
    try daemon.engine.addReplica(ReplicaConfiguration(name: "nas", url: url))
    try await daemon.engine.wait(timeout: .patience)
  }

  private func damage(_ file: URL) async throws {
    let queue = try DatabaseQueue(patient: file.path)
    try await queue.write {
      try $0.execute(sql: "UPDATE ZITEM SET ZOTHER = 'a text' WHERE ZKEY = 'a'")
    }
    try queue.close()
  }

  private func types() async throws -> [String] {
    let queue = try DatabaseQueue(patient: url.path)
    let found = try await queue.read {
      try String.fetchAll(
        $0, sql: "SELECT typeof(ZOTHER) || coalesce(ZOTHER, '') FROM ZITEM ORDER BY ZKEY")
    }
    try queue.close()
    return found
  }

  @Test(arguments: [true, false])
  func verifyReportsItAsDamageOfTheRowAndRepairTakesWhatTheOtherStoreHas(isLocal: Bool) async throws
  {
    try await damage(isLocal ? scratch.url.appendingPathComponent("local.sqlite") : url)
    let report = try await daemon.engine.verify(name: "nas", timeout: .patience)
    #expect(report.differences.map(\.kind) == [isLocal ? .damagedLocal : .damagedReplica])
    let found = try #require(report.differences.first)
    #expect(found.record == (try daemon.record("Item", "a")) && found.property == "other")
    let repaired = try await daemon.engine.repair(name: "nas", timeout: .patience)
    #expect(repaired.remaining.isEmpty, "\(repaired.remaining)")
    #expect(try await types() == ["real1.0", "real2.0"])
    await daemon.engine.stop()
  }

  @Test(arguments: [nil, 0.0] as [Double?])
  func repairReplacesItAlsoByNoValueAndByTheOneThatItReadsAs(number: Double?) async throws {
    try daemon.site.write { try daemon.set("a", "other", number, in: $0) }
    try await daemon.engine.wait(timeout: .patience)
    try await damage(url)
    let report = try await daemon.engine.verify(name: "nas", timeout: .patience)
    #expect(report.differences.map(\.kind) == [.damagedReplica])
    let repaired = try await daemon.engine.repair(name: "nas", timeout: .patience)
    #expect(repaired.remaining.isEmpty, "\(repaired.remaining)")
    #expect(try await types() == [number == nil ? "null" : "real0.0", "real2.0"])
    try await daemon.engine.wait(timeout: .patience)
    await daemon.engine.stop()
  }

  /// Nothing tells of that: a wait looks again.
  @Test func whatCouldNotBeReadIsOverOnceBothStoresReadTheSame() async throws {
    try daemon.engine.pause()
    // A program that writes to the row, and leaves the value as it is.
    let program = try SyncEngineTests.Daemon("nas", in: scratch)
    try program.site.write { try program.set("a", "value", "new", in: $0) }
    try HistoryCapture(access: program.site.access).run()
    try await damage(url)
    try await program.close()
    try daemon.engine.resume()
    // The record comes without the value, which the local store has: that mends the row.
    for _ in 0..<2 { try await daemon.engine.link("nas").completePass(timeout: .patience) }
    #expect(try await types() == ["real1.0", "real2.0"])
    #expect(try daemon.engine.status().replicas[0].differences?.contradictions == 1)
    try await daemon.engine.wait(timeout: .patience)
    #expect(try daemon.engine.status().replicas[0].differences == nil)
    await daemon.engine.stop()
  }

  @Test func nothingIsMadeUpOfItInAnotherStoreAndTheLinkGoesOn() async throws {
    try await damage(url)
    let other = try SyncEngineTests.Daemon("other", in: scratch)
    try other.engine.addReplica(ReplicaConfiguration(name: "nas", url: url))
    let error = await #expect(throws: SyncError.self) {
      try await other.engine.wait(timeout: .patience)
    }
    #expect(error?.code == .recordsHeld, "one value is not where it should be")
    #expect(try other.item("a", "other") == nil && other.item("b", "other") == "2.0")
    let report = try await other.engine.verify(name: "nas", timeout: .patience)
    #expect(report.differences.map(\.kind) == [.damagedReplica])
    // The store that has the value writes to the record: the value travels, and mends the row.
    try daemon.site.write { try daemon.set("a", "value", "new", in: $0) }
    try await daemon.engine.wait(timeout: .patience)
    try await other.engine.link("nas").completePass(timeout: .patience)
    #expect(try other.item("a", "value") == "new" && other.item("a", "other") == "1.0")
    #expect(try await types() == ["real1.0", "real2.0"])
    await daemon.engine.stop()
    await other.engine.stop()
  }

  @Test func anOlderValueDoesNotReplaceTheWriteThatWasDamaged() async throws {
    try daemon.engine.pause()
    // Written before, and brought after.
    try daemon.site.write { try daemon.set("a", "value", "older", in: $0) }
    try HistoryCapture(access: daemon.site.access).run()
    let other = try SyncEngineTests.Daemon("nas", in: scratch)
    try other.site.write { try other.set("a", "other", 3.0, in: $0) }
    try HistoryCapture(access: other.site.access).run()
    try await damage(url)
    let id = try other.record("Item", "a")
    let written = try other.site.access.ledger().record(id)?.write(of: "other")?.stamp
    try await other.close()
    try daemon.engine.resume()
    try await daemon.engine.link("nas").completePass(timeout: .patience)
    let link = try daemon.engine.link("nas")
    let there = try #require(link.replica).ledger().record(id)?.write(of: "other")?.stamp
    #expect(there == written && written != nil)
    #expect(try await types() == ["texta text", "real2.0"])
    #expect(try daemon.item("a", "other") == "1.0")
    await daemon.engine.stop()
  }
}
