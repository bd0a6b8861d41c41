import CairnModel
import CairnSQL
import CairnStore
import Foundation
import Testing

@testable import CairnSQLite

/// The format, chapters 2 to 6, 8, 10 and 15, as a checker reads it: nothing is found in a store
/// that nobody damaged, and every kind of damage is found and placed.
@Suite struct StoreCheckTests {
  /// Something done to a file, and what is to be found afterwards.
  struct Damage: Sendable, CustomTestStringConvertible {
    let sql: [String]
    let rule: StoreFinding.Rule
    let place: String
    let severity: StoreFinding.Severity
    var testDescription: String { "\(rule.rawValue) at \(place)" }

    init(
      _ rule: StoreFinding.Rule, _ place: String, as severity: StoreFinding.Severity = .damage,
      _ sql: String...
    ) {
      self.sql = sql
      self.rule = rule
      self.place = place
      self.severity = severity
    }
  }

  // Numbers: Company 1, Desk 2, Note 3, Person 4, Employee 5, Manager 6, Project 7.
  static let damages: [Damage] = [
    Damage(
      .entityNumber, "Z_PRIMARYKEY Z_ENT", "UPDATE Z_PRIMARYKEY SET Z_NAME = 'Desk' WHERE Z_ENT = 3"
    ),
    Damage(
      .entityNumber, "Z_PRIMARYKEY Z_ENT", as: .remark,
      "UPDATE Z_PRIMARYKEY SET Z_NAME = 'Memo' WHERE Z_ENT = 3"),
    Damage(.entityNumber, "Z_PRIMARYKEY Z_ENT", "DELETE FROM Z_PRIMARYKEY WHERE Z_ENT = 7"),
    Damage(
      .entityNumber, "Z_PRIMARYKEY Z_ENT", "INSERT INTO Z_PRIMARYKEY VALUES (8, 'Surplus', 0, 0)"),
    Damage(
      .superNumber, "Manager Z_SUPER", "UPDATE Z_PRIMARYKEY SET Z_SUPER = 4 WHERE Z_ENT = 6"),
    Damage(.keyCounter, "Project Z_MAX", "UPDATE Z_PRIMARYKEY SET Z_MAX = 1 WHERE Z_ENT = 7"),
    Damage(.keyCounter, "Manager Z_MAX", "UPDATE Z_PRIMARYKEY SET Z_MAX = 1 WHERE Z_ENT = 6"),
    Damage(
      .keyCounter, "ACHANGE Z_MAX", "UPDATE Z_PRIMARYKEY SET Z_MAX = 0 WHERE Z_ENT = 16001"),
    Damage(.rowEntity, "ZPROJECT/p1 Z_ENT", "UPDATE ZPROJECT SET Z_ENT = NULL WHERE Z_PK = 1"),
    Damage(.rowEntity, "Desk/p1 Z_ENT", "UPDATE ZPROJECT SET Z_ENT = 2 WHERE Z_PK = 1"),
    Damage(.rowEntity, "Person/p2 Z_ENT", "UPDATE ZPERSON SET Z_ENT = 4 WHERE Z_PK = 2"),
    Damage(.rowVersion, "Project/p1 Z_OPT", "UPDATE ZPROJECT SET Z_OPT = 0 WHERE Z_PK = 1"),
    Damage(.rowVersion, "Note/p2 Z_OPT", "UPDATE ZNOTE SET Z_OPT = NULL WHERE Z_PK = 2"),
    Damage(.value, "Employee/p1 ZAGE", "UPDATE ZPERSON SET ZAGE = 'many' WHERE Z_PK = 1"),
    Damage(.value, "Employee/p1 ZISACTIVE", "UPDATE ZPERSON SET ZISACTIVE = 2 WHERE Z_PK = 1"),
    Damage(.value, "Employee/p1 ZBADGE", "UPDATE ZPERSON SET ZBADGE = x'01' WHERE Z_PK = 1"),
    Damage(.value, "Employee/p3 ZBORN", "UPDATE ZPERSON SET ZBORN = 'today' WHERE Z_PK = 3"),
    Damage(.value, "Note/p1 ZTEXT", "UPDATE ZNOTE SET ZTEXT = x'00' WHERE Z_PK = 1"),
    Damage(
      .reference, "Employee/p3 ZCOMPANY", as: .remark,
      "UPDATE ZPERSON SET ZCOMPANY = 99 WHERE Z_PK = 3"),
    Damage(
      .reference, "Note/p2 ZABOUT", as: .remark, "UPDATE ZNOTE SET ZABOUT = 99 WHERE Z_PK = 2"),
    Damage(
      .reference, "Employee/p1 ZBOSS", as: .remark,
      "UPDATE ZPERSON SET ZBOSS = 98, Z5_BOSS = 5 WHERE Z_PK = 1"),
    Damage(
      .reference, "Note/p1 Z5NOTES", as: .remark, "UPDATE ZNOTE SET Z5NOTES = 77 WHERE Z_PK = 1"),
    Damage(.companion, "Employee/p1 Z5_BOSS", "UPDATE ZPERSON SET Z5_BOSS = 5 WHERE Z_PK = 1"),
    Damage(.companion, "Employee/p2 Z5_BOSS", "UPDATE ZPERSON SET Z5_BOSS = NULL WHERE Z_PK = 2"),
    Damage(
      .inverse, "Employee/p1 ZDESK", as: .remark,
      "UPDATE ZDESK SET ZOWNER = NULL WHERE Z_PK = 1"),
    Damage(
      .inverse, "Desk/p1 ZOWNER", "UPDATE ZDESK SET ZOWNER = 2 WHERE Z_PK = 1"),
    Damage(
      .link, "Project/p88 Z_7PROJECTS", as: .remark,
      "UPDATE Z_5PROJECTS SET Z_7PROJECTS = 88 WHERE rowid = 1"),
    Damage(
      .link, "Employee/p77 Z_5MEMBERS", as: .remark,
      "UPDATE Z_5PROJECTS SET Z_5MEMBERS = 77 WHERE rowid = 1"),
    Damage(
      .order, "Employee/p2 Z_FOK_COMPANY", as: .remark,
      "UPDATE ZPERSON SET Z_FOK_COMPANY = NULL WHERE Z_PK = 2"),
    Damage(
      .order, "Employee/p3 Z_FOK_COMPANY",
      "UPDATE ZPERSON SET Z_FOK_COMPANY = 5 WHERE Z_PK IN (1, 3)"
    ),
    Damage(
      .order, "Employee/p4 Z_FOK_5MEMBERS",
      "UPDATE Z_5PROJECTS SET Z_FOK_5MEMBERS = 5 WHERE Z_7PROJECTS = 1"),
    Damage(
      .order, "Note/p1 Z_FOK_5NOTES", as: .remark,
      "UPDATE ZNOTE SET Z_FOK_5NOTES = NULL WHERE Z_PK = 1"),
    Damage(
      .externalData, "Employee/p1 ZPHOTO", "UPDATE ZPERSON SET ZPHOTO = x'0241' WHERE Z_PK = 1"),
    Damage(
      .externalData, "Employee/p2 ZPHOTO",
      "UPDATE ZPERSON SET ZPHOTO = (SELECT ZPHOTO FROM ZPERSON WHERE Z_PK = 1) WHERE Z_PK = 2"),
    Damage(
      .externalData, "Employee/p3 ZPHOTO", as: .remark,
      "UPDATE ZPERSON SET ZPHOTO = x'FF00' WHERE Z_PK = 3"),
    Damage(
      .externalData, "", as: .remark, "UPDATE ZPERSON SET ZPHOTO = NULL WHERE Z_PK = 1"),
    Damage(
      .uniqueness, "Manager/p4 ZEMAIL", "DROP INDEX Z_Employee_UNIQUE_email",
      "UPDATE ZPERSON SET ZEMAIL = 'e0@x' WHERE Z_PK = 4"),
    Damage(
      .history, "ACHANGE/p1 ZTRANSACTIONID",
      "UPDATE ACHANGE SET ZTRANSACTIONID = 9 WHERE Z_PK = 1"),
    Damage(.history, "ACHANGE/p2 ZCHANGETYPE", "UPDATE ACHANGE SET ZCHANGETYPE = 3 WHERE Z_PK = 2"),
    Damage(.history, "ACHANGE/p2 ZENTITY", "UPDATE ACHANGE SET ZENTITY = 4 WHERE Z_PK = 2"),
    Damage(.history, "ACHANGE/p2 ZENTITYPK", "UPDATE ACHANGE SET ZENTITYPK = NULL WHERE Z_PK = 2"),
    Damage(.history, "ACHANGE/p1 ZCOLUMNS", "UPDATE ACHANGE SET ZCOLUMNS = x'80' WHERE Z_PK = 1"),
    Damage(.history, "ACHANGE/p1 Z_ENT", "UPDATE ACHANGE SET Z_ENT = 5 WHERE Z_PK = 1"),
    Damage(
      .history, "ATRANSACTION/p1 ZAUTHORTS",
      "UPDATE ATRANSACTION SET ZAUTHORTS = 9 WHERE Z_PK = 1"),
    Damage(
      .history, "Project/p3", "INSERT INTO ZPROJECT (Z_PK, Z_ENT, Z_OPT) VALUES (3, 7, 1)"),
    Damage(
      .history, "Project/p2", as: .remark, "DELETE FROM ZPROJECT WHERE Z_PK = 2",
      "DELETE FROM Z_5PROJECTS WHERE Z_7PROJECTS = 2"),
    Damage(.schema, "ZNOTE ZTEXT", "ALTER TABLE ZNOTE DROP COLUMN ZTEXT"),
    Damage(.schema, "Z_5PROJECTS", "DROP TABLE Z_5PROJECTS"),
    Damage(.metadata, "Z_METADATA Z_UUID", "UPDATE Z_METADATA SET Z_UUID = 'none'"),
    Damage(.metadata, "Z_METADATA Z_VERSION", "UPDATE Z_METADATA SET Z_VERSION = 2"),
    Damage(
      .metadata, "Z_METADATA", "INSERT INTO Z_METADATA SELECT 2, Z_UUID, Z_PLIST FROM Z_METADATA"),
    Damage(
      .metadata, "Z_METADATA Z_PLIST", "UPDATE Z_METADATA SET Z_PLIST = NULL"),
    Damage(.modelCache, "Z_MODELCACHE", "UPDATE Z_MODELCACHE SET Z_CONTENT = x'0102'"),
  ]

  @Test func nothingIsFoundInAStoreThatNobodyDamaged() throws {
    let fixture = try CheckedStore.make()
    #expect(try fixture.store.fileFindings() == [])
    #expect(try StoreInspection(contentsOf: fixture.url).findings == [])
  }

  @Test(arguments: damages)
  func eachKindOfDamageIsFoundWhereItIs(_ damage: Damage) throws {
    let fixture = try CheckedStore.make()
    fixture.isDamagedOnPurpose = true
    try fixture.store.close()
    try StoreFileAccess.write(fixture.url, options: StoreOptions(), doing: "be damaged") {
      for sql in damage.sql { try $0.execute(sql) }
    }
    let findings = try StoreInspection(contentsOf: fixture.url, model: fixture.model).findings
    #expect(
      findings.contains {
        $0.rule == damage.rule && $0.place == damage.place && $0.severity == damage.severity
      }, "\(findings)")
  }

  @Test func aMissingFileIsFoundAndAnotherOneIsRemarkedOn() throws {
    let fixture = try CheckedStore.make()
    fixture.isDamagedOnPurpose = true
    let names = fixture.store.files.names
    #expect(names.count == 2)
    let lost = fixture.store.files.folder.appendingPathComponent(names[0])
    try FileManager.default.moveItem(
      at: lost, to: lost.deletingLastPathComponent().appendingPathComponent(UUID().uuidString))
    let findings = try fixture.store.fileFindings()
    #expect(findings.map(\.rule) == [.externalData, .externalData])
    #expect(findings.map(\.severity) == [.damage, .remark])
    #expect(findings.first?.message.contains(names[0]) == true)
    #expect(try fixture.store.verifyIntegrity().contains { $0.contains(names[0]) })
  }

  @Test func filesInAFolderThatIsElsewhereAreRemarkedOn() throws {
    let fixture = try CheckedStore.make()
    fixture.isDamagedOnPurpose = true
    try fixture.store.checkpoint()
    let folder = fixture.store.files.folder
    try fixture.store.close()
    try FileManager.default.moveItem(
      at: folder, to: folder.deletingLastPathComponent().appendingPathComponent("elsewhere"))
    let findings = try StoreInspection(contentsOf: fixture.url).findings
    #expect(findings.map(\.rule) == [.externalData, .externalData])
    #expect(findings.allSatisfy { $0.severity == .remark }, "\(findings)")
  }

  @Test func aStoreThatCairnHasOpenIsHeldToWhatCairnWrites() throws {
    let fixture = try CheckedStore.make()
    fixture.isDamagedOnPurpose = true
    try fixture.execute(
      "UPDATE ZDESK SET ZOWNER = NULL WHERE Z_PK = 1",
      "UPDATE Z_5PROJECTS SET Z_7PROJECTS = 88 WHERE rowid = 1")
    #expect(try StoreInspection(contentsOf: fixture.url).damage == [])
    #expect(try fixture.store.verifyIntegrity().count >= 2)
  }

  @Test func theWrongDigestAndTheModelOfAnotherVersionAreFound() throws {
    let fixture = try CheckedStore.make()
    fixture.isDamagedOnPurpose = true
    var metadata = fixture.store.metadata ?? [:]
    var hashes = fixture.model.entityVersionHashesByName
    hashes["Note"] = Data(repeating: 1, count: 32)
    metadata[StoreMetadataKey.versionHashes] = hashes
    try SQLiteStoreKind().setMetadata(metadata, at: fixture.url, options: StoreOptions())
    let findings = try StoreInspection(contentsOf: fixture.url).findings
    #expect(findings.map(\.rule) == [.metadata, .metadata, .modelCache])
    #expect(findings.last?.message.contains("differ: Note.") == true)
  }

  @Test func damagedPagesAreFoundAndTheCheckGoesOn() throws {
    let fixture = try CheckedStore.make()
    fixture.isDamagedOnPurpose = true
    try fixture.insert(
      try (0..<500).map { try fixture.row("Project", ["title": .string("title \($0)")]) })
    try fixture.store.checkpoint()
    try fixture.store.close()
    let root = try fixture.column("SELECT rootpage FROM sqlite_master WHERE name = 'ZPROJECT'")
    var data = try Data(contentsOf: fixture.url)
    let page = (Int(root[0]) ?? 1) - 1
    data.replaceSubrange(page * 4096..<page * 4096 + 200, with: Data(repeating: 0xff, count: 200))
    try data.write(to: fixture.url)
    let store = try StoreInspection(contentsOf: fixture.url)
    #expect(store.damage.contains { $0.rule == .database })
    #expect(store.entities.first { $0.name == "Note" }?.count == 2)
  }
}
