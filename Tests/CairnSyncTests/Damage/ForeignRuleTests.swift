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
}
