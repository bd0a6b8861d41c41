import CairnModel
import CairnPredicates
import CairnSQL
import CairnStore
import Foundation
import Testing

@testable import CairnSQLite

/// The format, chapter 3: tables of entities, their columns and what stands in them.
///
/// The order of columns is shown by `SchemaTests` and `NewStoreSchemaTests`.
@Suite struct Chapter03TableTests {
  // MARK: 3.1

  @Test func reservedWordsAndLongNamesAreTableAndColumnNames() throws {
    let long = "L" + String(repeating: "ong", count: 60)
    let (select, order) = (EntityDescription(name: "Select"), EntityDescription(name: long))
    let (group, index) = (SampleModel.toOne("group", order), SampleModel.toMany("index", select))
    select.properties = [FormatModel.attribute("from", .string), group]
    order.properties = [FormatModel.attribute(long, .string), index]
    SampleModel.connect(group, index)
    let fixture = try StoreFixture(model: try FormatModel.make(select, order))
    let owner = try fixture.row(long, [long: .string("x")])
    try fixture.insert([
      owner, try fixture.row("Select", ["from": .string("y"), "group": .object(owner.objectID)]),
    ])
    #expect(try fixture.fetch("Select", "group.\(long) == 'x' AND from == 'y'").count == 1)
    #expect(try fixture.column("SELECT ZFROM FROM ZSELECT") == ["y"])
    #expect(try fixture.column("SELECT Z\(long.uppercased()) FROM Z\(long.uppercased())") == ["x"])
  }

  @Test func tablesThatAMigrationRenamedAreQuotedAndReadAlike() throws {
    let fixture = try StoreFixture()
    let row = try fixture.insert([try fixture.row("Note", ["text": .string("t")])])[0]
    try fixture.store.close()
    try fixture.execute(
      "ALTER TABLE ZNOTE RENAME TO OTHER", "ALTER TABLE OTHER RENAME TO ZNOTE",
      "ALTER TABLE Z_2PROJECTS RENAME TO OTHER", "ALTER TABLE OTHER RENAME TO Z_2PROJECTS")
    #expect(try fixture.sql(of: "ZNOTE")?.hasPrefix("CREATE TABLE \"ZNOTE\"") == true)
    let store = try fixture.another()
    #expect(try store.snapshots(for: [row.objectID])[0]?.values == row.values)
    try store.close()
  }

  @Test func anAbstractRootHasATableAndDescendantsHaveNone() throws {
    let (base, leaf) = (EntityDescription(name: "Base"), EntityDescription(name: "Leaf"))
    base.isAbstract = true
    base.subentities = [leaf]
    leaf.properties = [FormatModel.attribute("a", .string)]
    let fixture = try StoreFixture(model: try FormatModel.make(base, leaf))
    try fixture.insert([try fixture.row("Leaf", ["a": .string("x")])])
    #expect(
      try fixture.column("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY rowid")
        == ["ZBASE", "Z_PRIMARYKEY", "Z_METADATA", "Z_MODELCACHE"])
    #expect(try fixture.column("SELECT Z_ENT || ZA FROM ZBASE") == ["2x"])
  }

  // MARK: 3.2

  @Test func repeatedNamesGetSuffixesInTheOrderOfTheWalk() throws {
    let (base, account) = (EntityDescription(name: "Base"), EntityDescription(name: "Account"))
    let sub = EntityDescription(name: "SubAccount")
    account.subentities = [sub]
    let kinds = ["C", "a", "B"].map { EntityDescription(name: $0) }
    base.subentities = kinds
    for kind in kinds { kind.properties = [SampleModel.toOne("account", account)] }
    let fixture = try StoreFixture(
      model: try FormatModel.make(base, account, sub, kinds[0], kinds[1], kinds[2]))
    // Numbers: Account 1, SubAccount 2, Base 3, a 4, B 5, C 6.
    #expect(
      try fixture.sql(of: "ZBASE")
        == "CREATE TABLE ZBASE ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, "
        + "ZACCOUNT INTEGER, Z1_ACCOUNT INTEGER, ZACCOUNT1 INTEGER, Z1_ACCOUNT1 INTEGER, "
        + "ZACCOUNT2 INTEGER, Z1_ACCOUNT2 INTEGER )")
    let target = try fixture.row("SubAccount")
    try fixture.insert([target, try fixture.row("B", ["account": .object(target.objectID)])])
    #expect(
      try fixture.column("SELECT ZACCOUNT1 || ' ' || Z1_ACCOUNT1 FROM ZBASE WHERE Z_ENT = 5")
        == ["1 2"])
    #expect(try fixture.column("SELECT ZACCOUNT FROM ZBASE") == ["NULL"])
    #expect(try fixture.fetch("B", "account != nil").count == 1)
  }

  @Test func whatIsNotStoredHasNoColumnAndDerivedAttributesHaveOne() throws {
    let (box, item) = (EntityDescription(name: "Box"), EntityDescription(name: "Item"))
    let (items, place) = (SampleModel.toMany("items", item), SampleModel.toOne("box", box))
    FormatModel.link(box, items, item, place)
    let (loose, near) = (SampleModel.toOne("loose", item), FormatModel.attribute("near", .string))
    loose.isTransient = true
    near.isTransient = true
    box.properties += [loose, near, FormatModel.derived("many", .integer32, "items.@count")]
    let model = try FormatModel.make(box, item)
    let fixture = try StoreFixture(model: model)
    #expect(
      try fixture.column("SELECT name FROM pragma_table_info('ZBOX')")
        == ["Z_PK", "Z_ENT", "Z_OPT", "ZMANY"])
  }

  // MARK: 3.4

  @Test func valuesAreStoredAsTheirTypesSay() throws {
    let fixture = try StoreFixture()
    let badge = UUID()
    try fixture.insert([
      try fixture.row(
        "Employee",
        [
          "age": .integer(-5), "isActive": .boolean(true), "rating": .double(0.5),
          "score": .float(2), "name": .string("Été"), "badge": .uuid(badge),
          "salary": .decimal(Decimal(string: "10.11") ?? 0), "data": .data(Data([1, 0])),
          "born": .date(Date(timeIntervalSinceReferenceDate: 0.5)),
          "site": .url(try #require(URL(string: "https://example.org/a%20b?c=d"))),
        ])
    ])
    func stored(_ column: String) throws -> String {
      try fixture.column(
        "SELECT typeof(\(column)) || ' ' || CASE typeof(\(column)) WHEN 'blob' THEN hex(\(column)) "
          + "ELSE \(column) END FROM ZEMPLOYEE")[0]
    }
    #expect(try stored("ZAGE") == "integer -5")
    #expect(try stored("ZISACTIVE") == "integer 1")
    #expect(try stored("ZRATING") == "real 0.5")
    #expect(try stored("ZSCORE") == "real 2.0")
    #expect(try stored("ZNAME") == "text Été")
    #expect(try stored("ZSALARY") == "real 10.11")
    #expect(try stored("ZBORN") == "real 0.5")
    #expect(try stored("ZSITE") == "text https://example.org/a%20b?c=d")
    #expect(try stored("ZDATA") == "blob 0100")
    let bytes = withUnsafeBytes(of: badge.uuid) { $0.map { String(format: "%02X", $0) }.joined() }
    #expect(try stored("ZBADGE") == "blob \(bytes)")
    #expect(
      try fixture.column(
        "SELECT ZCOMPANY IS NULL AND ZBOSS IS NULL AND ZPHOTO IS NULL AND ZEMAIL IS NULL "
          + "FROM ZEMPLOYEE") == ["1"])
  }

  @Test func datesAndDecimalsAreReadAsIntegersAndReals() throws {
    let fixture = try StoreFixture()
    try fixture.insert([
      try fixture.row(
        "Employee",
        [
          "born": .date(Date(timeIntervalSinceReferenceDate: 86_400)), "salary": .decimal(7),
        ])
    ])
    // Numeric affinity makes integers of whole numbers, as in Apple's files.
    #expect(
      try fixture.column("SELECT typeof(ZBORN) || ' ' || typeof(ZSALARY) FROM ZEMPLOYEE")
        == ["integer integer"])
    let row = try fixture.fetch("Employee", "born == CAST(86400, 'NSDate') AND salary == 7")[0]
    #expect(fixture.value(row, "born") == .date(Date(timeIntervalSinceReferenceDate: 86_400)))
    #expect(fixture.value(row, "salary") == .decimal(7))
  }

  @Test func noColumnHasAConditionOrADefault() throws {
    let item = EntityDescription(
      name: "Item",
      properties: [
        AttributeDescription(
          name: "name", type: .string, isOptional: false, defaultValue: "x"),
        FormatModel.attribute("n", .integer16),
      ])
    item.attributesByName["n"]?.setValidationPredicates(
      [ObjectPredicate(format: "SELF > 3")], withValidationWarnings: [1620])
    let fixture = try StoreFixture(model: try FormatModel.make(item))
    #expect(
      try fixture.sql(of: "ZITEM")
        == "CREATE TABLE ZITEM ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, "
        + "ZN INTEGER, ZNAME VARCHAR )")
  }

  // MARK: 3.5 to 3.7

  @Test func aKeyToAnEntityWithoutSubentitiesHasNoCompanion() throws {
    // Not even when the entity is a subentity itself.
    let (base, leaf) = (EntityDescription(name: "Base"), EntityDescription(name: "Leaf"))
    base.subentities = [leaf]
    let other = EntityDescription(
      name: "Other",
      properties: [SampleModel.toOne("leaf", leaf), SampleModel.toOne("base", base)])
    let fixture = try StoreFixture(model: try FormatModel.make(base, leaf, other))
    #expect(
      try fixture.column("SELECT name FROM pragma_table_info('ZOTHER')")
        == ["Z_PK", "Z_ENT", "Z_OPT", "ZBASE", "Z1_BASE", "ZLEAF"])
    let target = try fixture.row("Leaf")
    let row = try fixture.insert([
      target,
      try fixture.row(
        "Other", ["leaf": .object(target.objectID), "base": .object(target.objectID)]),
    ])[1]
    #expect(try fixture.column("SELECT ZBASE || Z1_BASE || ZLEAF FROM ZOTHER") == ["121"])
    try fixture.change(row, ["base": .null])
    #expect(
      try fixture.column("SELECT ZBASE IS NULL AND Z1_BASE IS NULL FROM ZOTHER") == ["1"])
  }

  @Test func membershipOfAToManyWithAToOneInverseIsTheMembersKey() throws {
    let fixture = try StoreFixture()
    let company = try fixture.row("Company")
    let rows = try fixture.insert([
      company, try fixture.row("Employee", ["company": .object(company.objectID)]),
      try fixture.row("Employee"),
    ])
    try fixture.execute("UPDATE ZEMPLOYEE SET ZCOMPANY = 1 WHERE Z_PK = 2")
    #expect(
      try fixture.store.members(
        of: fixture.relationship("Company", "employees"), owners: [company.objectID])
        == [[rows[1].objectID, rows[2].objectID]])
  }

  @Test func aMemberOfAToManyWithoutInverseBelongsToOneOwner() throws {
    let fixture = try StoreFixture()
    let rows = try fixture.insert([
      try fixture.row("Employee"), try fixture.row("Employee"), try fixture.row("Note"),
    ])
    let notes = try fixture.relationship("Employee", "notes")
    try fixture.link(notes, of: rows[0], adding: [rows[2]], order: [rows[2]])
    #expect(try fixture.column("SELECT Z2NOTES || ' ' || Z_FOK_2NOTES FROM ZNOTE") == ["1 2048"])
    try fixture.link(notes, of: rows[1], adding: [rows[2]], order: [rows[2]])
    #expect(
      try fixture.store.members(of: notes, owners: rows.prefix(2).map(\.objectID))
        == [[], [rows[2].objectID]])
  }

  // MARK: 3.8

  @Test func theVersionOfARowStartsAtOneAndCountsUpdates() throws {
    let fixture = try StoreFixture(options: [StoreOptionKey.historyTracking: true])
    var row = try fixture.insert([try fixture.row("Project")])[0]
    for _ in 0..<3 { row = try fixture.change(row, ["title": .string("t")]) }
    #expect(try fixture.column("SELECT Z_OPT FROM ZPROJECT") == ["4"])
    for table in ["ACHANGE", "ATRANSACTION", "ATRANSACTIONSTRING"] {
      #expect(try fixture.column("SELECT DISTINCT Z_OPT FROM \(table)") == ["NULL"])
    }
  }
}
