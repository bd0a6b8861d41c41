import CairnContext
import CairnStore
import CairnTesting
import Foundation
import GRDB
import TestSupport
import Testing

@testable import CairnSync

/// Specification: sync.md 2.5: what a rule of the file itself refuses, which another program made, waits by
/// itself, and is claimed nowhere.
struct ForeignRuleTests {
  enum Rule: String, CaseIterable, Sendable {
    case refusesInserts = """
      CREATE TRIGGER rule BEFORE INSERT ON ZITEM WHEN NEW.ZKEY = 'bad' BEGIN SELECT RAISE(ABORT, 'no'); END
      """
    case leavesInsertsOut = """
      CREATE TRIGGER rule BEFORE INSERT ON ZITEM WHEN NEW.ZKEY = 'bad' BEGIN SELECT RAISE(IGNORE); END
      """
    case refusesUpdates = """
      CREATE TRIGGER rule BEFORE UPDATE ON ZITEM WHEN NEW.ZVALUE = 'bad' BEGIN SELECT RAISE(ABORT, 'no'); END
      """
    case leavesUpdatesOut = """
      CREATE TRIGGER rule BEFORE UPDATE ON ZITEM WHEN NEW.ZVALUE = 'bad' BEGIN SELECT RAISE(IGNORE); END
      """
    case hasAnIndex = "CREATE UNIQUE INDEX rule ON ZITEM(ZVALUE) WHERE ZVALUE = 'bad'"

    var drop: String { self == .hasAnIndex ? "DROP INDEX rule" : "DROP TRIGGER rule" }
  }

  @Test(arguments: Rule.allCases)
  func theRecordWaitsAndTheOthersArrive(_ rule: Rule) async throws {
    let scratch = try Scratch()
    let daemon = try SyncEngineTests.Daemon("local", in: scratch)
    let url = try await daemon.addReplica(in: scratch, with: ["k", "l"])
    func there(_ statement: String) async throws {
      // The daemon may be writing just then.
      let file = try DatabaseQueue(patient: url.path)
      try await file.write { try $0.execute(sql: statement) }
      try file.close()
    }
    try await there(rule.rawValue)
    try daemon.site.write { context in
      switch rule {
      case .refusesInserts, .leavesInsertsOut:
        _ = try daemon.site.insert("Item", ["key": "bad"], in: context)
      case .refusesUpdates, .leavesUpdatesOut:
        try daemon.site.find("Item", "k", in: context)?.setValue("bad", forKey: "value")
      case .hasAnIndex:
        for key in ["k", "l"] {
          try daemon.site.find("Item", key, in: context)?.setValue("bad", forKey: "value")
        }
      }
      for key in 0..<20 { _ = try daemon.site.insert("Item", ["key": "good\(key)"], in: context) }
    }
    let refusal = await #expect(throws: SyncError.self) {
      try await daemon.engine.wait(timeout: .patience)
    }
    #expect(refusal?.code == .recordsHeld, "\(refusal?.message ?? "")")
    #expect(
      refusal?.message.contains("1 record in quarantine") == true, "\(refusal?.message ?? "")")
    let report = try await daemon.engine.verify(name: "nas", timeout: .patience)
    #expect(report.differences.count == 1, "\(report.differences)")
    // The next pass tries it again.
    try await there(rule.drop)
    try daemon.insert(["later"])
    try await daemon.engine.wait(timeout: .patience)
    #expect(try await daemon.engine.verify(name: "nas", timeout: .patience).isEqual)
    try await daemon.close()
  }

  /// Rows that a program inserted past history are no records, so that planning unites none with them.
  @Test func eachRecordWhoseUniqueValueSuchARowHasWaitsByItself() async throws {
    let scratch = try Scratch()
    let daemon = try SyncEngineTests.Daemon("local", in: scratch)
    _ = try await daemon.addReplica(in: scratch, with: ["k"])
    try daemon.tag("k", with: "first")
    try await daemon.engine.wait(timeout: .patience)
    let taken = stride(from: 0, to: 40, by: 5)
    for number in taken {
      try await scratch.sql(
        "nas",
        """
        INSERT INTO ZTAG (Z_PK, Z_ENT, Z_OPT, ZNAME) \
        SELECT \(100 + number), Z_ENT, 1, 't\(number)' FROM ZTAG WHERE ZNAME = 'first'
        """)
    }
    try await scratch.sql("nas", "UPDATE Z_PRIMARYKEY SET Z_MAX = 200 WHERE Z_NAME = 'Tag'")
    try daemon.site.write { context in
      for number in 0..<40 {
        _ = try daemon.site.insert("Tag", ["name": "t\(number)"], in: context)
      }
    }
    let refusal = await #expect(throws: SyncError.self) {
      try await daemon.engine.wait(timeout: .patience)
    }
    #expect(
      refusal?.message.contains("8 records in quarantine") == true, "\(refusal?.message ?? "")")
    let report = try await daemon.engine.verify(name: "nas", timeout: .patience)
    #expect(report.differences.count { $0.kind == .onlyLocal } == 8, "\(report.differences)")
    #expect(report.differences.count { $0.kind == .unknownReplica } == 8)
    try await daemon.close()
  }
}
