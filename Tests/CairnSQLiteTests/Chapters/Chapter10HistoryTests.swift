import CairnModel
import CairnSQL
import CairnStore
import Foundation
import Testing

@testable import CairnSQLite

/// The format, chapter 10: the tables of persistent history.
@Suite struct Chapter10HistoryTests {
  private let options: [AnyHashable: Any] = [StoreOptionKey.historyTracking: true]

  /// Worker inherits from Person; what each kept on deletion is `kept`.
  private func model(adding extra: AttributeDescription...) throws -> ManagedObjectModel {
    let (person, worker) = (EntityDescription(name: "Person"), EntityDescription(name: "Worker"))
    let team = EntityDescription(name: "Team")
    person.subentities = [worker]
    let scratch = FormatModel.attribute("aScratch", .string)
    scratch.isTransient = true
    person.properties =
      [
        FormatModel.attribute("name", .string, kept: true),
        FormatModel.attribute("born", .date), scratch,
      ] + extra
    worker.properties = [
      FormatModel.attribute("code", .integer32, kept: true), FormatModel.attribute("b", .string),
      FormatModel.attribute("key", .uuid, kept: true),
    ]
    FormatModel.link(
      person, SampleModel.toOne("team", team), team, SampleModel.toMany("people", person))
    FormatModel.link(
      worker, SampleModel.toOne("boss", worker), worker, SampleModel.toMany("reports", worker))
    return try FormatModel.make(person, worker, team)
  }

  @Test func historyThatAnotherProgramSwitchesOnIsRecordedByAStoreThatIsOpen() throws {
    let fixture = try StoreFixture(model: try model())
    try fixture.insert([try fixture.row("Person")])
    #expect(try fixture.store.lastTransactionNumber() == 0)
    let other = try fixture.another(options: options)
    try fixture.insert([try fixture.row("Person")])
    #expect(try fixture.store.lastTransactionNumber() == 1)
    _ = try fixture.store.executeBatch(
      .insert(
        entity: fixture.entity("Person"), rows: BatchRowSource([["name": .string("a")]])),
      author: nil, contextName: nil)
    #expect(try other.lastTransactionNumber() == 2)
    try other.close()
  }

  @Test func theTablesAreThoseOfApplesFiles() throws {
    let fixture = try StoreFixture(options: options, model: try model())
    #expect(
      try fixture.sql(of: "ATRANSACTION")
        == "CREATE TABLE ATRANSACTION ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, "
        + "ZAUTHORTS INTEGER, ZBUNDLEIDTS INTEGER, ZCONTEXTNAMETS INTEGER, ZPROCESSIDTS INTEGER, "
        + "ZTIMESTAMP FLOAT, ZAUTHOR VARCHAR, ZBUNDLEID VARCHAR, ZCONTEXTNAME VARCHAR, "
        + "ZPROCESSID VARCHAR, ZQUERYGEN BLOB )")
    // As many tombstone columns as the entity with the most has attributes to keep.
    #expect(
      try fixture.sql(of: "ACHANGE")
        == "CREATE TABLE ACHANGE ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, "
        + "ZCHANGETYPE INTEGER, ZENTITY INTEGER, ZENTITYPK INTEGER, ZTRANSACTIONID INTEGER, "
        + "ZCOLUMNS BLOB, ZTOMBSTONE0 BLOB, ZTOMBSTONE1 BLOB, ZTOMBSTONE2 BLOB )")
    #expect(
      try fixture.sql(of: "ATRANSACTIONSTRING")
        == "CREATE TABLE ATRANSACTIONSTRING ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, "
        + "Z_OPT INTEGER, ZNAME VARCHAR )")
    #expect(
      try fixture.column(
        "SELECT sql FROM sqlite_master WHERE type = 'index' AND tbl_name GLOB 'A*' ORDER BY rowid")
        == [
          "CREATE INDEX ACHANGE_ZTRANSACTIONID_INDEX ON ACHANGE (ZTRANSACTIONID)",
          "CREATE INDEX ATRANSACTION_ZAUTHORTS_INDEX ON ATRANSACTION (ZAUTHORTS)",
          "CREATE INDEX ATRANSACTION_ZBUNDLEIDTS_INDEX ON ATRANSACTION (ZBUNDLEIDTS)",
          "CREATE INDEX ATRANSACTION_ZCONTEXTNAMETS_INDEX ON ATRANSACTION (ZCONTEXTNAMETS)",
          "CREATE INDEX ATRANSACTION_ZPROCESSIDTS_INDEX ON ATRANSACTION (ZPROCESSIDTS)",
          "CREATE INDEX Z_TRANSACTION_TransactionAuthorIndex ON ATRANSACTION "
            + "(ZAUTHOR COLLATE BINARY ASC)",
          "CREATE INDEX Z_TRANSACTION_TransactionTimestampIndex ON ATRANSACTION "
            + "(ZTIMESTAMP COLLATE BINARY ASC)",
          "CREATE UNIQUE INDEX Z_TRANSACTIONSTRING_UNIQUE_NAME ON ATRANSACTIONSTRING "
            + "(ZNAME COLLATE BINARY ASC)",
        ])
  }

  @Test func aTransactionNamesItsStringsByKey() throws {
    let fixture = try StoreFixture(options: options, model: try model())
    for author in ["me", "you", "me"] {
      var request = SaveChangesRequest()
      request.author = author
      request.contextName = "main"
      request.date = Date(timeIntervalSinceReferenceDate: 12.5)
      request.insertions = [.init(snapshot: try fixture.row("Team"))]
      _ = try fixture.receipt(fixture.store.save(request))
    }
    #expect(
      try fixture.column(
        "SELECT t.Z_PK || ' ' || t.Z_ENT || ' ' || a.ZNAME || ' ' || c.ZNAME || ' ' || "
          + "t.ZTIMESTAMP || ' ' || typeof(t.ZTIMESTAMP) FROM ATRANSACTION t "
          + "JOIN ATRANSACTIONSTRING a ON a.Z_PK = t.ZAUTHORTS "
          + "JOIN ATRANSACTIONSTRING c ON c.Z_PK = t.ZCONTEXTNAMETS ORDER BY t.Z_PK")
        == [
          "1 16002 me main 12.5 real", "2 16002 you main 12.5 real", "3 16002 me main 12.5 real",
        ])
    #expect(
      try fixture.column(
        "SELECT s.ZNAME FROM ATRANSACTION t JOIN ATRANSACTIONSTRING s "
          + "ON s.Z_PK = t.ZPROCESSIDTS WHERE t.Z_PK = 1") == [ProcessInfo.processInfo.processName])
    // The plain columns are of older frameworks.
    #expect(
      try fixture.column(
        "SELECT COUNT(ZAUTHOR) + COUNT(ZBUNDLEID) + COUNT(ZCONTEXTNAME) + COUNT(ZPROCESSID) "
          + "+ COUNT(ZQUERYGEN) FROM ATRANSACTION") == ["0"])
    #expect(try fixture.column("SELECT DISTINCT Z_ENT FROM ATRANSACTIONSTRING") == ["16003"])
    // One row a string.
    #expect(try fixture.column("SELECT COUNT(*) FROM ATRANSACTIONSTRING") == ["4"])
  }

  @Test func changesHaveTheNumbersOfTheInterfaceAndTheExactEntity() throws {
    let fixture = try StoreFixture(options: options, model: try model())
    let row = try fixture.insert([try fixture.row("Worker", ["b": .string("x")])])[0]
    let next = try fixture.change(row, ["b": .string("y")])
    try fixture.delete(next)
    #expect(
      try fixture.column(
        "SELECT Z_ENT || ' ' || ZCHANGETYPE || ' ' || ZENTITY || ' ' || ZENTITYPK || ' ' || "
          + "ZTRANSACTIONID || ' ' || (ZCOLUMNS IS NULL) FROM ACHANGE ORDER BY Z_PK")
        == ["16001 0 2 1 1 1", "16001 1 2 1 2 0", "16001 2 2 1 3 1"])
  }

  /// Properties: to-one team, boss; attributes born, name, b, code, key; to-many reports.
  @Test(arguments: [
    ("team", "80"), ("boss", "40"), ("born", "20"), ("name", "10"), ("b", "08"), ("code", "04"),
    ("key", "02"),
  ])
  func bitsGoFromTheMostSignificantOfTheFirstByte(_ name: String, _ bits: String) throws {
    let fixture = try StoreFixture(options: options, model: try model())
    let team = try fixture.row("Team")
    let rows = try fixture.insert([
      try fixture.row("Worker", ["name": .string("n")]), team, try fixture.row("Worker"),
    ])
    let values: [String: AttributeValue] = [
      "team": .object(team.objectID), "boss": .object(rows[2].objectID), "born": .date(Date()),
      "name": .string("x"), "b": .string("x"), "code": .integer(4), "key": .uuid(UUID()),
    ]
    try fixture.change(rows[0], [name: try #require(values[name])])
    #expect(
      try fixture.column("SELECT hex(ZCOLUMNS) FROM ACHANGE WHERE ZCHANGETYPE = 1") == [bits])
    // A byte more, as some files have, means nothing.
    try fixture.execute("UPDATE ACHANGE SET ZCOLUMNS = ZCOLUMNS || x'FF' WHERE ZCHANGETYPE = 1")
    let history = try fixture.store.readHistory(HistoryReadRequest(after: 1))
    #expect(history.flatMap(\.changes).map(\.changedProperties) == [[name]])
  }

  @Test func aTombstoneHasInheritedValuesFirstInTheirOwnStorageClass() throws {
    let fixture = try StoreFixture(options: options, model: try model())
    let key = UUID()
    let rows = try fixture.insert([
      try fixture.row("Worker", ["name": .string("n"), "code": .integer(7), "key": .uuid(key)]),
      try fixture.row("Person", ["name": .string("p")]),
    ])
    try fixture.delete(rows[0], rows[1])
    #expect(
      try fixture.column(
        "SELECT typeof(ZTOMBSTONE0) || ' ' || ZTOMBSTONE0 || ' ' || typeof(ZTOMBSTONE1) || ' ' || "
          + "IFNULL(ZTOMBSTONE1, '-') || ' ' || typeof(ZTOMBSTONE2) FROM ACHANGE "
          + "WHERE ZCHANGETYPE = 2 ORDER BY ZENTITYPK")
        == ["text n integer 7 blob", "text p null - null"])
    #expect(
      try fixture.column("SELECT length(ZTOMBSTONE2) FROM ACHANGE WHERE ZCHANGETYPE = 2")
        == ["16", "NULL"])
  }

  @Test func aMigrationMovesTombstonesToTheColumnsOfTheNewVersion() throws {
    let old = try model()
    let fixture = try StoreFixture(options: options, model: old)
    let rows = try fixture.insert([
      try fixture.row("Worker", ["name": .string("n"), "code": .integer(7)]),
      try fixture.row("Person", ["name": .string("p")]),
    ])
    try fixture.delete(rows[0], rows[1])
    try fixture.store.close()
    // An inherited attribute before `name`, and a new first entity.
    let next = try model(adding: FormatModel.attribute("alias", .string, kept: true))
    let grown = try #require(next.copy() as? ManagedObjectModel)
    grown.entities.append(EntityDescription(name: "Aardvark"))
    try SQLiteStore.migrateInPlace(
      at: fixture.url, from: old, to: grown, options: StoreOptions())
    #expect(
      try fixture.column(
        "SELECT ZENTITY || IFNULL(ZTOMBSTONE0, '-') || ZTOMBSTONE1 || IFNULL(ZTOMBSTONE2, '-') "
          + "|| IFNULL(ZTOMBSTONE3, '-') FROM ACHANGE WHERE ZCHANGETYPE = 2 ORDER BY ZENTITYPK")
        == ["3-n7-", "2-p--"])
    let store = try StoreFixture.open(fixture.url, grown)
    let deletions = try store.readHistory(HistoryReadRequest()).flatMap(\.changes)
      .filter { $0.kind == .delete }
    #expect(deletions.map { $0.tombstone["name"] } == [.string("n"), .string("p")])
    #expect(deletions.first?.tombstone["code"] == .integer(7))
    try store.close()
  }

  @Test func historyGoesOnWithoutTheOptionOnceThereIsSome() throws {
    let fixture = try StoreFixture(options: options, model: try model())
    try fixture.insert([try fixture.row("Team")])
    try fixture.store.close()
    let store = try fixture.another()
    var request = SaveChangesRequest()
    let id = try store.obtainPermanentIDs(for: [fixture.entity("Team")])[0]
    request.insertions = [.init(snapshot: try fixture.row("Team", id: id))]
    _ = try fixture.receipt(store.save(request))
    try store.close()
    #expect(try fixture.column("SELECT COUNT(*) FROM ATRANSACTION") == ["2"])
  }
}
