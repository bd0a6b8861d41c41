import CairnModel
import CairnPredicates
import CairnSQL
import CairnStore
import Foundation
import Testing

@testable import CairnSQLite

/// The format, chapter 5: indexes and uniqueness.
///
/// The statements are shown by `NewStoreSchemaTests`.
@Suite struct Chapter05IndexTests {
  @Test func everyKeyIsIndexedAndTheEntityNumberOnlyWhereThereAreSeveral() throws {
    let fixture = try StoreFixture()
    #expect(
      try fixture.column(
        "SELECT name FROM sqlite_master WHERE type = 'index' AND name GLOB '*_INDEX' ORDER BY name")
        == [
          "ZEMPLOYEE_ZBOSS_INDEX", "ZEMPLOYEE_ZCOMPANY_INDEX", "ZEMPLOYEE_Z_ENT_INDEX",
          "ZNOTE_Z2NOTES_INDEX", "Z_2FRIENDS_REFLEXIVE_INDEX", "Z_2PROJECTS_Z_5PROJECTS_INDEX",
        ])
  }

  @Test func specialElementsOfAnIndexAreTheKeyAndTheEntity() throws {
    let (base, sub) = (EntityDescription(name: "Base"), EntityDescription(name: "Sub"))
    base.subentities = [sub]
    base.properties = [FormatModel.attribute("name", .string)]
    func element(_ name: String) -> FetchIndexElementDescription {
      FetchIndexElementDescription(propertyName: name, collationType: .binary, isAscending: true)
    }
    base.indexes = [
      FetchIndexDescription(
        name: "special",
        elements: [
          element("entity"),
          FetchIndexElementDescription(property: base.properties[0], collationType: .binary),
          element("self"),
        ])
    ]
    let fixture = try StoreFixture(model: try FormatModel.make(base, sub))
    #expect(
      try fixture.sql(of: "Z_Base_special")
        == "CREATE INDEX Z_Base_special ON ZBASE (Z_ENT COLLATE BINARY ASC, "
        + "ZNAME COLLATE BINARY ASC, Z_PK COLLATE BINARY ASC)")
  }

  @Test func nullIsUniqueBesideNull() throws {
    let fixture = try StoreFixture()
    try fixture.insert(try (0..<3).map { _ in try fixture.row("Employee") })
    #expect(try fixture.column("SELECT COUNT(*) FROM ZEMPLOYEE WHERE ZEMAIL IS NULL") == ["3"])
  }

  /// Older frameworks wrote constraints into the table.
  @Test(arguments: ["ZEMAIL VARCHAR UNIQUE", "ZEMAIL VARCHAR"])
  func constraintsInsideATableAreObeyed(_ column: String) throws {
    let fixture = try StoreFixture()
    try fixture.insert([try fixture.row("Employee", ["email": .string("a")])])
    try fixture.store.close()
    var sql = try #require(try fixture.sql(of: "ZEMPLOYEE"))
    sql = sql.replacingOccurrences(of: "ZEMAIL VARCHAR", with: column)
    if !column.hasSuffix("UNIQUE") {
      let end = try #require(sql.range(of: ")", options: .backwards))
      sql.replaceSubrange(end, with: ", CONSTRAINT ZEMAIL_ZENT UNIQUE (ZEMAIL))")
    }
    try fixture.execute(
      "ALTER TABLE ZEMPLOYEE RENAME TO OLD", sql, "INSERT INTO ZEMPLOYEE SELECT * FROM OLD",
      "DROP TABLE OLD")
    let store = try fixture.another()
    var request = SaveChangesRequest()
    let id = try store.obtainPermanentIDs(for: [fixture.entity("Employee")])[0]
    let row = try fixture.row("Employee", ["email": .string("a")], id: id)
    request.insertions = [.init(snapshot: row)]
    guard case .constraintViolations(let violations) = try store.save(request) else {
      Issue.record("saved")
      return
    }
    #expect(violations.map(\.constraint) == [["email"]])
    #expect(violations.first?.persisted?.objectID.rowKey == 1)
    try store.close()
  }

  // MARK: Location indexes

  /// Place has a location; City, which inherits from it, another one of its own.
  private func places() throws -> ManagedObjectModel {
    let (place, city) = (EntityDescription(name: "Place"), EntityDescription(name: "City"))
    place.subentities = [city]
    let (x, y) = (FormatModel.attribute("x", .double), FormatModel.attribute("y", .double))
    let height = FormatModel.attribute("height", .double)
    place.properties = [x, y, FormatModel.attribute("name", .string)]
    city.properties = [height]
    func tree(_ name: String, _ properties: PropertyDescription...) -> FetchIndexDescription {
      FetchIndexDescription(
        name: name,
        elements: properties.map {
          FetchIndexElementDescription(property: $0, collationType: .rTree)
        })
    }
    place.indexes = [tree("byLocation", x, y)]
    city.indexes = [tree("byHeight", height)]
    return try FormatModel.make(place, city)
  }

  private func inTree(_ fixture: StoreFixture, _ tree: String) throws -> [String] {
    try fixture.column("SELECT Z_PK FROM Z_RT_\(tree) ORDER BY Z_PK")
  }

  @Test func aLocationIndexFollowsEveryKindOfWrite() throws {
    let fixture = try StoreFixture(model: try places())
    var rows = try fixture.insert([
      try fixture.row("Place", ["x": .double(1), "y": .double(2)]),
      try fixture.row("City", ["x": .double(52.52), "y": .double(13.4), "height": .double(34)]),
      try fixture.row("City", ["x": .double(9)]),
    ])
    #expect(try inTree(fixture, "Place_byLocation") == ["1", "2"])
    #expect(try inTree(fixture, "City_byHeight") == ["2"])
    #expect(
      try fixture.column(
        "SELECT Z_PK FROM Z_RT_Place_byLocation WHERE ZX_MIN <= 52.52 AND ZX_MAX >= 52.52")
        == ["2"])
    rows[0] = try fixture.change(rows[0], ["x": .null])
    rows[2] = try fixture.change(rows[2], ["y": .double(8), "height": .double(1)])
    #expect(try inTree(fixture, "Place_byLocation") == ["2", "3"])
    #expect(try inTree(fixture, "City_byHeight") == ["2", "3"])
    try fixture.delete(rows[1])
    #expect(try inTree(fixture, "Place_byLocation") == ["3"])
    _ = try fixture.store.executeBatch(
      .update(
        entity: fixture.entity("Place"), includesSubentities: true, predicate: nil,
        values: [
          "x": ObjectExpression(forConstantValue: 5.0),
          "y": ObjectExpression(forConstantValue: 6.0),
        ]), author: nil, contextName: nil)
    #expect(
      try fixture.column("SELECT Z_PK || ' ' || ZX_MIN || ' ' || ZY_MAX FROM Z_RT_Place_byLocation")
        == ["1 5.0 6.0", "3 5.0 6.0"])
    _ = try fixture.store.executeBatch(
      .delete(StoreFetchRequest(entity: fixture.entity("City"))), author: nil, contextName: nil)
    #expect(try inTree(fixture, "Place_byLocation") == ["1"])
    #expect(try inTree(fixture, "City_byHeight").isEmpty)
  }

  @Test func aLocationIndexThatComesWithAMigrationHasTheRowsThatAreThere() throws {
    let old = try places()
    for entity in old.entities { #expect(entity.indexes.count == 1) }
    let plain = try #require(old.copy() as? ManagedObjectModel)
    for entity in plain.entities { entity.indexes = [] }
    try plain.prepareForUse()
    let fixture = try StoreFixture(model: plain)
    try fixture.insert([
      try fixture.row("Place", ["x": .double(1), "y": .double(2)]),
      try fixture.row("City", ["x": .double(3), "y": .double(4), "height": .double(34)]),
      try fixture.row("City", ["x": .double(9)]),
    ])
    try fixture.store.close()
    let next = try #require(old.copy() as? ManagedObjectModel)
    next.entitiesByName["Place"]?.properties.append(FormatModel.attribute("z", .double))
    try SQLiteStore.migrateInPlace(
      at: fixture.url, from: plain, to: next, options: StoreOptions())
    #expect(try inTree(fixture, "Place_byLocation") == ["1", "2"])
    #expect(try inTree(fixture, "City_byHeight") == ["2"])
    let store = try StoreInspection(contentsOf: fixture.url)
    #expect(store.findings == [])
  }
}
