import CairnContext
import CairnModel
import CairnStore
import CairnTesting
import Foundation
import GRDB
import Testing

@testable import CairnSync

/// Specification: sync.md 5, "`repair` merges them by the rules": two stores that differ are equal
/// afterwards, and what was done about each record and property is told.
struct RepairTests {
  private let scratch: Scratch
  private let daemon: SyncEngineTests.Daemon

  init() async throws {
    scratch = try Scratch()
    daemon = try SyncEngineTests.Daemon("local", in: scratch)
    try daemon.insert(["k", "l", "m"])
    try daemon.tag("k", with: "t")
    try daemon.engine.addReplica(
      ReplicaConfiguration(name: "nas", url: scratch.url.appendingPathComponent("nas.sqlite")))
    try await daemon.engine.wait(timeout: .patience)
  }

  /// As a program with SQL of its own writes, past history.
  private func sql(_ name: String, _ statements: String) async throws {
    var configuration = Configuration()
    configuration.busyMode = .timeout(10)
    let file = try DatabaseQueue(
      path: scratch.url.appendingPathComponent(name + ".sqlite").path, configuration: configuration)
    try await file.write { try $0.execute(sql: statements) }
    try file.close()
  }

  private func repair(
    _ preference: RepairPreference = .local
  ) async throws -> [RepairReport.Action.Kind] {
    let plan = try await daemon.engine.repair(
      name: "nas", preferring: preference, isPlan: true, timeout: .patience)
    #expect(plan.isPlan && plan.remaining.isEmpty)
    let before = try await daemon.engine.verify(name: "nas", timeout: .patience)
    #expect(!before.isEqual, "a plan changes nothing")
    let report = try await daemon.engine.repair(
      name: "nas", preferring: preference, timeout: .patience)
    #expect(report.actions == plan.actions)
    #expect(report.remaining.isEmpty, "\(report.remaining)")
    #expect(try await daemon.engine.verify(name: "nas", timeout: .patience).isEqual)
    #expect(
      try await daemon.engine.verify(name: "nas", level: .quick, timeout: .patience).level == .quick
    )
    return Set(report.actions.map(\.kind)).sorted { $0.rawValue < $1.rawValue }
  }

  private func value(_ key: String) throws -> String? {
    try daemon.site.write { context in
      try daemon.site.find("Item", key, in: context)?.value(forKey: "value") as? String
    }
  }

  @Test(arguments: [RepairPreference.local, .replica])
  func aValueThatSqlChangedIsTakenFromTheSideThatIsNamed(preference: RepairPreference) async throws
  {
    try await sql("nas", "UPDATE ZITEM SET ZVALUE = 'by sql' WHERE ZKEY = 'k'")
    let quick = try await daemon.engine.verify(name: "nas", level: .quick, timeout: .patience)
    #expect(quick.level == .quick && quick.isEqual, "it does not read values, and says so")
    #expect(try await repair(preference) == [.written])
    #expect(try value("k") == (preference == .local ? "k" : "by sql"))
    await daemon.engine.stop()
  }

  @Test(arguments: ["local", "nas"])
  func aRowThatSqlAddedTravels(store: String) async throws {
    try await sql(
      store,
      """
      INSERT INTO ZITEM (Z_PK, Z_ENT, Z_OPT, ZKEY, ZVALUE) \
      SELECT 77, Z_ENT, 1, 'added', 'v' FROM ZITEM WHERE ZKEY = 'k';
      UPDATE Z_PRIMARYKEY SET Z_MAX = 77 WHERE Z_NAME = 'Item'
      """)
    #expect(try await repair() == [.takenUp])
    #expect(try value("added") == "v")
    await daemon.engine.stop()
  }

  @Test(arguments: ["local", "nas"])
  func aRowThatSqlDeletedIsMadeAgain(store: String) async throws {
    try await sql(store, "DELETE FROM ZITEM WHERE ZKEY = 'l'")
    #expect(try await repair() == [.restored])
    #expect(try value("l") == "l")
    await daemon.engine.stop()
  }

  /// A repair of the local store alone is for a person who took the row away on purpose.
  @Test func aRowThatSqlDeletedOnPurposeIsDeletedEverywhere() async throws {
    try await sql("local", "DELETE FROM ZITEM WHERE ZKEY = 'l'")
    let plan = try await daemon.engine.repairLocal(isPlan: true)
    #expect(plan.actions.map(\.kind) == [.deleted] && plan.isPlan)
    #expect(try await !daemon.engine.verify(name: "nas", timeout: .patience).isEqual)
    #expect(try await daemon.engine.repairLocal().actions == plan.actions)
    try await daemon.engine.wait(timeout: .patience)
    let report = try await daemon.engine.verify(name: "nas", timeout: .patience)
    #expect(report.isEqual && report.records == 3, "\(report)")
    #expect(try value("l") == nil)
    #expect(try await daemon.engine.repairLocal().actions.isEmpty)
    await daemon.engine.stop()
  }

  @Test func linksThatSqlTookAwayAreTakenForRemoved() async throws {
    let file = try DatabaseQueue(path: scratch.url.appendingPathComponent("nas.sqlite").path)
    let table = try await file.read { database in
      try String.fetchOne(
        database, sql: "SELECT name FROM sqlite_master WHERE name GLOB 'Z_[0-9]*TAGS'")
        ?? String.fetchOne(
          database, sql: "SELECT name FROM sqlite_master WHERE name GLOB 'Z_[0-9]*ITEMS'")
    }
    try file.close()
    try await sql("nas", "DELETE FROM \(try #require(table))")
    #expect(try await repair() == [.members])
    #expect(try daemon.site.picture().contains("item k k nil ^- []"))
    await daemon.engine.stop()
  }

  @Test func bookkeepingThatWentAstrayIsMergedByTheRules() async throws {
    // The replica forgets a write that the local store knows it has.
    try daemon.site.write { context in
      try daemon.site.find("Item", "m", in: context)?.setValue("newer", forKey: "value")
    }
    try await daemon.engine.wait(timeout: .patience)
    let open = try #require(try daemon.engine.openStore(ofReplica: "nas"))
    let access = StoreAccess(
      store: open.store, schema: daemon.site.access.schema,
      environment: .live, configuration: daemon.site.access.configuration)
    try await daemon.engine.rest()
    let ledger = try access.ledger()
    let sidecar = try #require(open.store as? any SidecarKeeping)
    try sidecar.visitEntries(of: .records) { key, value in
      var entry = try ledger.entry(decoding: value)
      if entry.writes["value"] == nil { return }
      entry.writes["value"] = nil
      ledger.setRecordQuietly(try SyncKey.identity(RecordID.self, in: key), entry)
    }
    #expect(try access.commit(ledger))
    try daemon.engine.resume()
    try await sql("nas", "UPDATE ZITEM SET ZVALUE = 'older' WHERE ZKEY = 'm'")
    #expect(try await repair() == [.merged])
    #expect(try value("m") == "newer")
    await daemon.engine.stop()
  }

  @Test func equalStoresAreLeftAlone() async throws {
    let report = try await daemon.engine.repair(name: "nas", timeout: .patience)
    #expect(report.actions.isEmpty && report.remaining.isEmpty)
    await #expect(throws: SyncError.self) { try await daemon.engine.repair(name: "other") }
    await daemon.engine.stop()
  }
}
