import CairnModel
import CairnSQL
import CairnStore
import Foundation
import Testing

@testable import CairnSQLite

/// The format, chapter 4: join tables and the positions of ordered members.
///
/// Which side names a table is shown by `SchemaTests` and `NewStoreSchemaTests`.
@Suite struct Chapter04RelationshipTests {
  // MARK: 4.1

  /// Employee ⇄ Project (ordered there), friends of each other.
  @Test func aLinkIsOneRowWhicheverSideItIsReadFrom() throws {
    let fixture = try StoreFixture()
    let rows = try fixture.insert([
      try fixture.row("Employee"), try fixture.row("Manager"), try fixture.row("Project"),
    ])
    let members = try fixture.relationship("Project", "members")
    let projects = try fixture.relationship("Employee", "projects")
    try fixture.link(members, of: rows[2], adding: [rows[1], rows[0]], order: [rows[1], rows[0]])
    #expect(
      try fixture.column(
        "SELECT Z_2MEMBERS || ' ' || Z_5PROJECTS || ' ' || Z_FOK_2MEMBERS FROM Z_2PROJECTS "
          + "ORDER BY Z_2MEMBERS") == ["1 1 3072", "2 1 2048"])
    #expect(
      try fixture.store.members(of: members, owners: [rows[2].objectID])
        == [[rows[1].objectID, rows[0].objectID]])
    #expect(
      try fixture.store.members(of: projects, owners: [rows[0].objectID])
        == [[rows[2].objectID]])
  }

  @Test func aReflexiveLinkIsReadFromBothItsRows() throws {
    let fixture = try StoreFixture()
    let rows = try fixture.insert(try (0..<3).map { _ in try fixture.row("Employee") })
    let friends = try fixture.relationship("Employee", "friends")
    try fixture.link(friends, of: rows[0], adding: [rows[1], rows[0]])
    #expect(
      try fixture.column(
        "SELECT Z_2FRIENDS || ' ' || REFLEXIVE FROM Z_2FRIENDS ORDER BY 1")
        == ["1 1", "1 2", "2 1"])
    #expect(
      try fixture.store.members(of: friends, owners: rows.map(\.objectID)).map { Set($0) } == [
        [rows[0].objectID, rows[1].objectID], [rows[0].objectID], [],
      ])
    try fixture.delete(rows[0])
    #expect(try fixture.column("SELECT COUNT(*) FROM Z_2FRIENDS") == ["0"])
  }

  @Test func numbersAreThoseOfTheEntitiesThatDeclareTheRelationships() throws {
    let (base, sub) = (EntityDescription(name: "Base"), EntityDescription(name: "Sub"))
    let (tag, leaf) = (EntityDescription(name: "Tag"), EntityDescription(name: "Leaf"))
    base.subentities = [sub]
    sub.subentities = [leaf]
    FormatModel.link(sub, SampleModel.toMany("tags", tag), tag, SampleModel.toMany("subs", sub))
    let fixture = try StoreFixture(model: try FormatModel.make(base, sub, leaf, tag))
    #expect(
      try fixture.sql(of: "Z_2TAGS")
        == "CREATE TABLE Z_2TAGS ( Z_2SUBS INTEGER, Z_4TAGS INTEGER, "
        + "PRIMARY KEY (Z_2SUBS, Z_4TAGS) )")
    let rows = try fixture.insert([try fixture.row("Leaf"), try fixture.row("Tag")])
    // An inherited relationship uses the table of the entity that declares it.
    let tags = try fixture.relationship("Leaf", "tags")
    try fixture.link(tags, of: rows[0], adding: [rows[1]])
    #expect(try fixture.column("SELECT Z_2SUBS || Z_4TAGS FROM Z_2TAGS") == ["11"])
    #expect(
      try fixture.store.members(of: tags, owners: [rows[0].objectID]) == [[rows[1].objectID]])
    try fixture.delete(rows[0])
    #expect(try fixture.column("SELECT COUNT(*) FROM Z_2TAGS") == ["0"])
  }

  @Test func columnsOfJoinTablesAreUniqueWithinAnEntity() throws {
    let (a, asset) = (EntityDescription(name: "Album"), EntityDescription(name: "Moment"))
    let other = EntityDescription(name: "Other")
    FormatModel.link(
      a, SampleModel.toMany("first", asset), asset, SampleModel.toMany("owners", a))
    FormatModel.link(
      a, SampleModel.toMany("second", other), other, SampleModel.toMany("owners", a))
    let fixture = try StoreFixture(model: try FormatModel.make(a, asset, other))
    #expect(
      try fixture.column("SELECT name FROM pragma_table_info('Z_1FIRST')")
        == ["Z_1OWNERS", "Z_2FIRST"])
    #expect(
      try fixture.column("SELECT name FROM pragma_table_info('Z_1SECOND')")
        == ["Z_1OWNERS1", "Z_3SECOND"])
    let rows = try fixture.insert([try fixture.row("Album"), try fixture.row("Other")])
    let second = try fixture.relationship("Album", "second")
    try fixture.link(second, of: rows[0], adding: [rows[1]])
    #expect(
      try fixture.store.members(of: second, owners: [rows[0].objectID]) == [[rows[1].objectID]])
  }

  /// What Apple's naming follows hash order in, or left behind in a migration.
  @Test(arguments: [
    ["ALTER TABLE Z_2PROJECTS RENAME TO Z_5MEMBERS"],
    ["ALTER TABLE Z_2PROJECTS RENAME TO Z_25PROJECTS"],
    [
      "ALTER TABLE Z_2PROJECTS RENAME COLUMN Z_2MEMBERS TO Z_25MEMBERS",
      "ALTER TABLE Z_2PROJECTS RENAME COLUMN Z_FOK_2MEMBERS TO Z_FOK_25MEMBERS",
    ],
    [
      "CREATE TABLE SWAPPED (Z_5PROJECTS INTEGER, Z_2MEMBERS INTEGER, Z_FOK_2MEMBERS INTEGER, "
        + "PRIMARY KEY (Z_5PROJECTS, Z_2MEMBERS))",
      "INSERT INTO SWAPPED SELECT Z_5PROJECTS, Z_2MEMBERS, Z_FOK_2MEMBERS FROM Z_2PROJECTS",
      "DROP TABLE Z_2PROJECTS", "ALTER TABLE SWAPPED RENAME TO Z_5MEMBERS",
    ],
  ])
  func aTableUnderTheOtherNameOrAnOldNumberIsFound(_ changes: [String]) throws {
    let fixture = try StoreFixture()
    let rows = try fixture.insert([
      try fixture.row("Employee"), try fixture.row("Employee"), try fixture.row("Project"),
      try fixture.row("Project"),
    ])
    let members = try fixture.relationship("Project", "members")
    try fixture.link(members, of: rows[3], adding: [rows[1], rows[0]], order: [rows[1], rows[0]])
    try fixture.store.close()
    for sql in changes { try fixture.execute(sql) }
    let store = try fixture.another()
    #expect(
      try store.members(of: members, owners: [rows[3].objectID, rows[2].objectID])
        == [[rows[1].objectID, rows[0].objectID], []])
    #expect(
      try store.members(
        of: fixture.relationship("Employee", "projects"), owners: [rows[0].objectID])
        == [[rows[3].objectID]])
    var request = SaveChangesRequest()
    request.links = [
      .init(
        relationship: members, owner: rows[2].objectID, added: [rows[0].objectID],
        order: [rows[0].objectID])
    ]
    _ = try fixture.receipt(store.save(request))
    #expect(
      try store.members(of: members, owners: [rows[2].objectID]) == [[rows[0].objectID]])
    try store.close()
  }

  // MARK: 4.3

  /// A company and its employees, whose order nobody has set.
  private func companyOfFive(
    _ fixture: StoreFixture
  ) throws -> (company: RowSnapshot, staff: [RowSnapshot]) {
    let company = try fixture.row("Company")
    let rows = try fixture.insert(
      [company]
        + (0..<5).map { _ in
          try fixture.row("Employee", ["company": .object(company.objectID)])
        })
    return (company, Array(rows.dropFirst()))
  }

  private func positions(_ fixture: StoreFixture) throws -> [String] {
    try fixture.column("SELECT Z_FOK_COMPANY FROM ZEMPLOYEE ORDER BY Z_PK")
  }

  @Test func positionsStartAt2048InStepsOf1024AndTakeMidpoints() throws {
    let fixture = try StoreFixture()
    let (company, staff) = try companyOfFive(fixture)
    let all = try fixture.relationship("Company", "employees")
    try fixture.link(all, of: company, adding: [], order: Array(staff.prefix(3)))
    #expect(try positions(fixture) == ["2048", "3072", "4096", "NULL", "NULL"])
    try fixture.link(all, of: company, adding: [], order: [staff[3]] + staff.prefix(3))
    #expect(try positions(fixture) == ["2048", "3072", "4096", "1024", "NULL"])
    try fixture.link(
      all, of: company, adding: [], order: [staff[3], staff[0], staff[4], staff[1], staff[2]])
    #expect(try positions(fixture) == ["2048", "3072", "4096", "1024", "2560"])
  }

  @Test func onlyTheOrderCountsAndTiesGoByKey() throws {
    let fixture = try StoreFixture()
    let (company, staff) = try companyOfFive(fixture)
    try fixture.execute(
      "UPDATE ZEMPLOYEE SET Z_FOK_COMPANY = CASE Z_PK WHEN 1 THEN 29792 WHEN 2 THEN 20820 "
        + "WHEN 4 THEN 20820 WHEN 5 THEN -7 END")
    let members = try fixture.store.members(
      of: fixture.relationship("Company", "employees"), owners: [company.objectID])[0]
    // Without a position after the others.
    #expect(members.map(\.rowKey) == [5, 2, 4, 1, 3])
    fixture.isDamagedOnPurpose = true
    // A new order mends them.
    try fixture.link(
      fixture.relationship("Company", "employees"), of: company, adding: [], order: staff)
    #expect(
      try fixture.column("SELECT COUNT(DISTINCT Z_FOK_COMPANY) FROM ZEMPLOYEE") == ["5"])
    #expect(
      try fixture.store.members(
        of: fixture.relationship("Company", "employees"), owners: [company.objectID])[0]
        .map(\.rowKey) == [1, 2, 3, 4, 5])
  }
}
