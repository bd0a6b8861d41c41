import CairnModel
import CairnSQL
import CairnStore
import Foundation
import GRDB
import Testing

@testable import CairnSQLite

/// The format, chapters 11 to 13: foreign tables, the traces of migrations, object IDs.
///
/// Foreign tables, triggers, views and metadata are shown by ``StoreOptionTests``, rows and links of
/// migrated stores by ``MigrationTests``, migrations that copy by `CairnMigrationTests`.
@Suite struct Chapter12MigrationTests {
  private func model(_ names: [String]) throws -> ManagedObjectModel {
    let model = ManagedObjectModel()
    let (zoo, animal) = (EntityDescription(name: "Zoo"), EntityDescription(name: "Animal"))
    let cat = EntityDescription(name: "Cat")
    animal.subentities = [cat]
    FormatModel.link(
      zoo, SampleModel.toMany("animals", animal), animal, SampleModel.toMany("zoos", zoo))
    FormatModel.link(
      zoo, SampleModel.toOne("star", animal), animal, SampleModel.toOne("starOf", zoo))
    model.entities = [zoo, animal, cat] + names.map { EntityDescription(name: $0) }
    try model.prepareForUse()
    return model
  }

  /// SQLite reads the first statement of what stands in its schema, and no further.
  @Test(arguments: ["COMMIT", "DELETE FROM Z_METADATA", "nonsense"])
  func whatStandsBehindAViewInTheSchemaIsNotRun(tail: String) throws {
    let old = try model(["Lion"])
    let fixture = try StoreFixture(model: old)
    try fixture.insert([try fixture.row("Lion")])
    try fixture.store.close()
    // As another program may: Cairn's own connections are not let.
    let queue = try DatabaseQueue(path: fixture.url.path)
    try queue.writeWithoutTransaction {
      try $0.execute(
        sql:
          "PRAGMA writable_schema = ON; INSERT INTO sqlite_master VALUES ('view', 'seven', 'seven', 0, "
          + "'CREATE VIEW seven AS SELECT 7; \(tail)'); PRAGMA writable_schema = OFF")
    }
    try queue.close()
    let next = try model(["Lion", "Mouse"])
    try SQLiteStore.migrateInPlace(at: fixture.url, from: old, to: next, options: StoreOptions())
    #expect(try fixture.column("SELECT * FROM seven") == ["7"])
    #expect(try fixture.column("SELECT COUNT(*) FROM ZLION") == ["1"])
    #expect(
      try fixture.column("SELECT COUNT(*) FROM Z_PRIMARYKEY WHERE Z_NAME = 'Mouse'") == ["1"])
  }

  @Test(arguments: ["A B", "A\" JOIN B", "1A", "A;B"], [true, false])
  func aRememberedModelWithNamesThatAreNoneIsRefused(name: String, isEntity: Bool) throws {
    let fixture = try StoreFixture()
    fixture.isDamagedOnPurpose = true
    try fixture.store.close()
    let entity = EntityDescription(name: isEntity ? name : "Plain")
    entity.properties = [AttributeDescription(name: isEntity ? "plain" : name, type: .string)]
    let model = ManagedObjectModel()
    model.entities = [entity]
    try StoreFileAccess.write(fixture.url, options: StoreOptions(), doing: "be written") {
      try ModelCacheTable.write(model, $0)
    }
    #expect {
      _ = try SQLiteStore.cachedModel(at: fixture.url, options: StoreOptions())
    } throws: {
      ($0 as? CoreDataError)?.code == .migrationMissingSourceModel
    }
  }

  @Test func everyNumberFollowsWhenEntitiesComeAndGo() throws {
    // Animal 1, Cat 2, Lion 3, Zoo 4; then Aardvark 1, Animal 2, Cat 3, Mouse 4, Zoo 5.
    let old = try model(["Lion"])
    let fixture = try StoreFixture(options: [StoreOptionKey.historyTracking: true], model: old)
    let cat = try fixture.row("Cat")
    let zoo = try fixture.row("Zoo", ["star": .object(cat.objectID)])
    let rows = try fixture.insert([
      try fixture.row("Cat", ["starOf": .object(zoo.objectID)], id: cat.objectID), zoo,
      try fixture.row("Lion"),
    ])
    try fixture.link(
      fixture.relationship("Zoo", "animals"), of: rows[1], adding: [rows[0]])
    try fixture.store.close()
    let next = try model(["Aardvark", "Mouse"])
    try SQLiteStore.migrateInPlace(at: fixture.url, from: old, to: next, options: StoreOptions())
    #expect(
      try fixture.column(
        "SELECT Z_ENT || ' ' || Z_NAME || ' ' || Z_SUPER || ' ' || Z_MAX FROM Z_PRIMARYKEY "
          + "WHERE Z_ENT < 16000 ORDER BY Z_ENT")
        == ["1 Aardvark 0 0", "2 Animal 0 1", "3 Cat 2 0", "4 Mouse 0 0", "5 Zoo 0 1"])
    #expect(try fixture.column("SELECT Z_ENT FROM ZANIMAL") == ["3"])
    #expect(try fixture.column("SELECT Z_ENT || ZSTAR || Z2_STAR FROM ZZOO") == ["513"])
    #expect(try fixture.column("SELECT Z_2ANIMALS || ' ' || Z_5ZOOS FROM Z_2ZOOS") == ["1 1"])
    // The removed entity's changes went with it.
    #expect(
      try fixture.column("SELECT DISTINCT ZENTITY FROM ACHANGE ORDER BY 1") == ["3", "5"])
    #expect(try fixture.column("SELECT COUNT(*) FROM sqlite_master WHERE name = 'ZLION'") == ["0"])
    #expect(try StoreInspection(contentsOf: fixture.url).findings == [])
  }

  @Test func whatDescribesTheModelIsWrittenAnewAndTheIdentifierKept() throws {
    let old = try model([])
    let fixture = try StoreFixture(model: old)
    fixture.store.metadata["mine"] = 1
    _ = try fixture.receipt(fixture.store.save(SaveChangesRequest()))
    try fixture.store.close()
    let next = try model(["Lion"])
    try SQLiteStore.migrateInPlace(at: fixture.url, from: old, to: next, options: StoreOptions())
    let metadata = try SQLiteStoreKind().metadata(at: fixture.url, options: StoreOptions())
    #expect(metadata["NSStoreUUID"] as? String == fixture.store.identifier)
    #expect(metadata["mine"] as? Int == 1)
    #expect(metadata["NSStoreModelVersionHashesDigest"] as? String == next.versionHashesDigest)
    #expect(metadata["NSStoreModelVersionChecksumKey"] as? String == next.versionChecksum)
    #expect(
      metadata["NSStoreModelVersionHashes"] as? [String: Data] == next.entityVersionHashesByName)
    let inside = try SQLiteStore.cachedModel(at: fixture.url, options: StoreOptions())
    #expect(inside?.entityVersionHashesByName == next.entityVersionHashesByName)
  }

  @Test func theIndexesOfAProgramsOwnSurviveUnlessTheirColumnsGo() throws {
    func items(_ names: String...) throws -> ManagedObjectModel {
      let item = EntityDescription(name: "Item")
      item.properties = names.map { FormatModel.attribute($0, .integer64) }
      item.indexes = [
        FetchIndexDescription(
          name: "byAge",
          elements: [
            FetchIndexElementDescription(property: item.properties[0], collationType: .binary)
          ])
      ]
      return try FormatModel.make(item)
    }
    let (old, next) = (try items("age", "size", "gone"), try items("age", "size", "come"))
    let fixture = try StoreFixture(model: old)
    try fixture.store.close()
    let own = [
      "CREATE INDEX mine ON ZITEM (ZAGE, ZSIZE)",
      // Its name begins as those of Core Data do.
      "CREATE UNIQUE INDEX \"Zip of mine\" ON ZITEM (ZSIZE DESC) WHERE ZAGE > 3",
      "CREATE INDEX later ON Z_METADATA (Z_UUID)",
    ]
    for sql in own + ["CREATE INDEX lost ON ZITEM (ZGONE)"] { try fixture.execute(sql) }
    try SQLiteStore.migrateInPlace(at: fixture.url, from: old, to: next, options: StoreOptions())
    let indexes = try fixture.column(
      "SELECT sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL ORDER BY name")
    #expect(Set(indexes).isSuperset(of: own))
    #expect(indexes.filter { $0.contains("byAge") }.count == 1)
    #expect(!indexes.contains { $0.contains("GONE") } && indexes.count == own.count + 1)
    #expect(try fixture.column("PRAGMA integrity_check") == ["ok"])
  }

  @Test func columnsThatWereAddedLastAndQuotedTablesAreReadByName() throws {
    let fixture = try StoreFixture()
    let row = try fixture.insert([
      try fixture.row("Employee", ["age": .integer(4), "name": .string("n")])
    ])[0]
    try fixture.store.close()
    // As a lightweight migration of Apple's leaves them.
    try fixture.execute(
      "ALTER TABLE ZEMPLOYEE ADD COLUMN LATER INTEGER", "UPDATE ZEMPLOYEE SET LATER = ZAGE",
      "ALTER TABLE ZEMPLOYEE DROP COLUMN ZAGE",
      "ALTER TABLE ZEMPLOYEE RENAME COLUMN LATER TO ZAGE",
      // And a column that a deferred migration has not removed yet.
      "ALTER TABLE ZEMPLOYEE ADD COLUMN ZREMOVED VARCHAR")
    let store = try fixture.another()
    #expect(try store.snapshots(for: [row.objectID])[0]?.values == row.values)
    var request = SaveChangesRequest()
    request.updates = [fixture.update(row, ["age": .integer(5)])]
    _ = try fixture.receipt(store.save(request))
    try store.close()
    #expect(try fixture.column("SELECT ZAGE || Z_OPT FROM ZEMPLOYEE") == ["52"])
    #expect(
      try fixture.column("SELECT name FROM pragma_table_info('ZEMPLOYEE')").contains("ZREMOVED"))
  }

  // MARK: Chapter 13

  @Test func theURIOfARowNamesStoreExactEntityAndKey() throws {
    let fixture = try StoreFixture()
    let row = try fixture.insert([try fixture.row("Manager")])[0]
    let identifier = try fixture.column("SELECT Z_UUID FROM Z_METADATA")[0]
    #expect(
      row.objectID.uriRepresentation().absoluteString == "x-coredata://\(identifier)/Manager/p1")
    let found = try fixture.fetch("Employee")
    #expect(found.map { $0.objectID.uriRepresentation().path } == ["/Manager/p1"])
  }
}
