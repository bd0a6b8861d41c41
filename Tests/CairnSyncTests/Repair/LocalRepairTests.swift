import CairnStore
import CairnTesting
import Foundation
import GRDB
import TestSupport
import Testing

@testable import CairnSync

/// Specification: sync.md 5, `repair`: what SQL did to the local store counts as done afterwards, for sync and for the
/// store's own sums.
struct LocalRepairTests {
  private let scratch: Scratch
  private let daemon: SyncEngineTests.Daemon

  init() async throws {
    scratch = try Scratch()
    daemon = try SyncEngineTests.Daemon("local", in: scratch, keepsSums: true)
    try daemon.insert(["k", "l"])
    try daemon.tag("k", with: "t")
    try daemon.engine.addReplica(
      ReplicaConfiguration(name: "nas", url: scratch.url.appendingPathComponent("nas.sqlite")))
    try await daemon.engine.wait(timeout: .patience)
  }

  private static let addedRow = """
    INSERT INTO ZITEM (Z_PK, Z_ENT, Z_OPT, ZKEY, ZVALUE) \
    SELECT 900, Z_ENT, 1, 'added', 'v' FROM ZITEM WHERE ZKEY = 'k'
    """

  /// What the store's own inspection finds.
  private func damage() throws -> [String] {
    try #require(daemon.site.store.capabilities.integrity).verifyIntegrity()
  }

  private func expectInStep(records: Int) async throws {
    try await daemon.engine.wait(timeout: .patience)
    let report = try await daemon.engine.verify(name: "nas", timeout: .patience)
    #expect(report.isEqual && report.records == records, "\(report)")
  }

  @Test func aRowThatSqlAddedCountsAsInserted() async throws {
    try await scratch.sql("local", Self.addedRow)
    #expect(try damage().count == 2, "the row and the counter of keys")
    let plan = try await daemon.engine.repairLocal(isPlan: true)
    #expect(plan.actions.map(\.kind) == [.takenUp])
    #expect(plan.actions.map(\.difference.kind) == [.unsaved])
    #expect(try damage().count == 2, "a plan changes nothing")
    #expect(try await daemon.engine.repairLocal().actions.count == 1)
    #expect(try damage() == [])
    try await expectInStep(records: 4)
    #expect(try await daemon.engine.repairLocal().actions.isEmpty)
    await daemon.engine.stop()
  }

  /// The replica has it, and nothing is damaged any more.
  @Test func aRowThatARepairWithAReplicaTakesUpCountsAsSaved() async throws {
    try await scratch.sql("local", Self.addedRow)
    let report = try await daemon.engine.repair(name: "nas", timeout: .patience)
    #expect(report.actions.map(\.kind) == [.takenUp])
    #expect(try damage() == [])
    await daemon.engine.stop()
  }

  @Test func aRowThatSqlChangedCountsAsWrittenWhereThatIsAskedFor() async throws {
    try await scratch.sql("local", "UPDATE ZITEM SET ZVALUE = 'by sql' WHERE ZKEY = 'k'")
    #expect(try await daemon.engine.repairLocal().actions.isEmpty)
    #expect(try damage().count == 1, "it may have been the disk")
    let report = try await daemon.engine.repairLocal(acceptsChanges: true)
    #expect(report.actions.map(\.difference.kind) == [.changed])
    #expect(report.actions.map(\.kind) == [.written])
    #expect(try damage() == [])
    try await expectInStep(records: 3)
    let nas = try #require(try daemon.engine.openStore(ofReplica: "nas"))
    let path = try #require(nas.store.url).path
    try await daemon.engine.rest()
    let file = try DatabaseQueue(patient: path)
    let value = try await file.read {
      try String.fetchOne($0, sql: "SELECT ZVALUE FROM ZITEM WHERE ZKEY = 'k'")
    }
    try file.close()
    #expect(value == "by sql")
    await daemon.engine.stop()
  }

  /// A link that a repair takes up counts as saved, too.
  @Test func aLinkThatSqlAddedIsNoDamageAfterARepair() async throws {
    let file = try DatabaseQueue(patient: scratch.url.appendingPathComponent("local.sqlite").path)
    let table = try await file.read { database in
      try String.fetchOne(
        database,
        sql: "SELECT name FROM sqlite_master WHERE name GLOB 'Z_[0-9]*TAGS' "
          + "OR name GLOB 'Z_[0-9]*ITEMS'")
    }
    let join = try #require(table)
    let columns = try await file.read { try $0.columns(in: join).map(\.name) }
    try file.close()
    let item = try #require(columns.first { $0.hasSuffix("ITEMS") || $0.hasSuffix("ITEM") })
    let tag = try #require(columns.first { $0 != item && $0.hasSuffix("TAGS") })
    try await scratch.sql(
      "local",
      """
      INSERT INTO \(join) (\(item), \(tag)) \
      SELECT (SELECT Z_PK FROM ZITEM WHERE ZKEY = 'l'), (SELECT Z_PK FROM ZTAG)
      """)
    #expect(try damage().count == 1)
    let report = try await daemon.engine.repair(name: "nas", timeout: .patience)
    #expect(report.actions.map(\.kind) == [.members] && report.remaining.isEmpty)
    #expect(try damage() == [])
    await daemon.engine.stop()
  }
}
