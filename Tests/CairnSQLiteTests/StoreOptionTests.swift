import CairnModel
import CairnStore
import Foundation
import GRDB
import Testing

@testable import CairnSQLite

/// What the options of a SQLite store do (the format, chapter 1), and that what is not ours stays
/// (chapters 2.2 and 11).
@Suite struct StoreOptionTests {
  private func pragma(_ name: String, _ store: SQLiteStore) throws -> String? {
    try store.database.writeWithoutTransaction {
      try String.fetchOne($0, sql: "SELECT * FROM pragma_\(name)")
    }
  }

  @Test func durabilityIsWhatTheOptionsAskFor() throws {
    for (pragmas, expected) in [
      ([:], "1"), (["synchronous": "FULL"], "2"), (["SYNCHRONOUS": "EXTRA"], "3"),
      (["journal_mode": "DELETE"], "3"),
      (["journal_mode": "TRUNCATE", "synchronous": "full"], "3"),
      (["journal_mode": "persist", "synchronous": "normal"], "1"),
    ] {
      let fixture = try StoreFixture(options: [StoreOptionKey.sqlitePragmas: pragmas])
      #expect(try pragma("synchronous", fixture.store) == expected, "\(pragmas)")
      #expect(
        try pragma("journal_mode", fixture.store) == pragmas["journal_mode"]?.lowercased() ?? "wal")
    }
  }

  @Test func theShapeOfANewFileIsWhatTheOptionsAskFor() throws {
    let fixture = try StoreFixture(
      options: [StoreOptionKey.sqlitePragmas: ["page_size": "8192", "auto_vacuum": "FULL"]])
    #expect(try fixture.column("PRAGMA page_size") == ["8192"])
    #expect(try fixture.column("PRAGMA auto_vacuum") == ["1"])
    #expect(fixture.store.metadata[StoreMetadataKey.autoVacuumLevel] as? String == "1")
    let plain = try StoreFixture()
    #expect(plain.store.metadata[StoreMetadataKey.autoVacuumLevel] as? String == "2")
    // An existing file keeps its shape.
    try plain.store.close()
    let again = try plain.another(
      options: [StoreOptionKey.sqlitePragmas: ["page_size": "8192", "cache_size": "77"]])
    #expect(try pragma("page_size", again) == "4096")
    #expect(try pragma("cache_size", again) == "77")
    try again.close()
  }

  @Test(arguments: [nil, "77"])
  func writesAndShortReadsHaveRoomForPagesUnlessTheOptionsSayOtherwise(asked: String?) throws {
    let pragmas = asked.map { ["cache_size": $0] } ?? [:]
    let fixture = try StoreFixture(options: [StoreOptionKey.sqlitePragmas: pragmas])
    let size = try fixture.store.readHeld { lookup in
      let statement = try lookup.connection.statement("PRAGMA cache_size")
      defer { statement.reset() }
      return try statement.step() ? statement.integer(0) : nil
    }
    #expect(size == (asked == nil ? -16_384 : 77))
    #expect(try pragma("cache_size", fixture.store) == (asked ?? "-16384"))
  }

  @Test(arguments: ["1; DROP TABLE ZCOMPANY", "", "'x'"])
  func whatIsNoPlainValueIsRefused(value: String) throws {
    let fixture = try StoreFixture()
    let error = #expect(throws: CoreDataError.self) {
      _ = try fixture.another(options: [StoreOptionKey.sqlitePragmas: ["cache_size": value]])
    }
    #expect(error?.code == .persistentStoreOpen)
    #expect(try fixture.column("SELECT COUNT(*) FROM ZCOMPANY") == ["0"])
  }

  @Test(arguments: [
    ("user_version", "7", "sqlite3"), ("Application_ID", "7", "sqlite3"),
    ("query_only", "1", StoreOptionKey.readOnly), ("encoding", "UTF-16", "UTF-8"),
    ("writable_schema", "1", "the model"), ("locking_mode", "EXCLUSIVE", "several connections"),
    ("hard_heap_limit", "1000", "the process"),
  ])
  func aPragmaThatNoStoreCanBeOpenedWithIsRefusedByName(
    name: String, value: String, remedy: String
  ) throws {
    let fixture = try StoreFixture()
    let error = #expect(throws: CoreDataError.self) {
      _ = try fixture.another(options: [StoreOptionKey.sqlitePragmas: [name: value]])
    }
    #expect(error?.code == .persistentStoreOpen)
    let text = error.map { "\($0)" } ?? ""
    #expect(text.contains("\(name) = \(value)") && text.contains(remedy), "\(text)")
  }

  @Test func theEncodingThatStoresHaveMayBeAskedFor() throws {
    let fixture = try StoreFixture(options: [StoreOptionKey.sqlitePragmas: ["encoding": "UTF-8"]])
    #expect(try fixture.column("PRAGMA encoding") == ["UTF-8"])
  }

  @Test func vacuumGivesBackRoomAndAnalyzeMakesStatistics() throws {
    let fixture = try StoreFixture()
    let rows = try fixture.insert(
      try (0..<500).map { try fixture.row("Project", ["title": .string("project \($0)")]) })
    var deletion = SaveChangesRequest()
    deletion.deletions = rows.dropFirst().map { .init(snapshot: $0) }
    _ = try fixture.receipt(fixture.store.save(deletion))
    try fixture.store.close()
    #expect(Int(try fixture.column("PRAGMA freelist_count")[0]) ?? 0 > 0)
    #expect(try fixture.column("SELECT 1 FROM sqlite_master WHERE name = 'sqlite_stat1'") == [])
    let options: [AnyHashable: Any] = [
      StoreOptionKey.sqliteManualVacuum: true, StoreOptionKey.sqliteAnalyze: true,
      StoreOptionKey.fileProtection: "NSFileProtectionComplete", StoreOptionKey.timeout: 3,
      StoreOptionKey.connectionPoolMaxSize: 2,
    ]
    try fixture.another(options: options).close()
    #expect(try fixture.column("PRAGMA freelist_count") == ["0"])
    #expect(try fixture.column("SELECT 1 FROM sqlite_master WHERE name = 'sqlite_stat1'") == ["1"])
    #expect(try fixture.column("SELECT ZTITLE FROM ZPROJECT") == ["project 0"])
  }

  // MARK: What is not ours

  private static let foreign = [
    "CREATE TABLE ANSCKEVENT (Z_PK INTEGER PRIMARY KEY, ZKIND VARCHAR)",
    "CREATE TABLE \"my notes\" (id INTEGER PRIMARY KEY, title TEXT)",
    "CREATE INDEX notes_by_title ON \"my notes\" (title)",
    "CREATE INDEX titles ON ZPROJECT (ZTITLE)",
    "CREATE VIEW titled AS SELECT Z_PK, ZTITLE FROM ZPROJECT WHERE ZTITLE IS NOT NULL",
    "CREATE TRIGGER copied AFTER INSERT ON ZPROJECT BEGIN "
      + "INSERT INTO \"my notes\" (title) VALUES (NEW.ZTITLE); END",
    "CREATE TRIGGER counted AFTER DELETE ON \"my notes\" BEGIN "
      + "UPDATE ZPROJECT SET Z_OPT = Z_OPT WHERE ZTITLE = OLD.title; END",
  ]

  private func withForeignObjects() throws -> StoreFixture {
    let fixture = try StoreFixture(options: [StoreOptionKey.historyTracking: true])
    try StoreFileAccess.write(fixture.url, options: StoreOptions(), doing: "be changed") {
      for sql in Self.foreign { try $0.execute(sql) }
      try $0.execute("INSERT INTO ANSCKEVENT VALUES (5, 'import')")
      try $0.execute("INSERT INTO Z_PRIMARYKEY VALUES (17001, 'NSCKEvent', 0, 5)")
    }
    fixture.store.metadata["NSCloudKitMirroringKey"] = ["zone": "a"]
    return fixture
  }

  private func expectForeignObjects(_ fixture: StoreFixture, titles: [String]) throws {
    #expect(
      Set(try fixture.column("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL"))
        .isSuperset(of: Self.foreign))
    #expect(try fixture.column("SELECT ZKIND FROM ANSCKEVENT") == ["import"])
    #expect(try fixture.column("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT = 17001") == ["5"])
    #expect(try fixture.column("SELECT title FROM \"my notes\" ORDER BY id") == titles)
    #expect(try fixture.column("SELECT ZTITLE FROM titled ORDER BY Z_PK") == titles)
    let metadata = try SQLiteStoreKind().metadata(at: fixture.url, options: StoreOptions())
    #expect(metadata["NSCloudKitMirroringKey"] as? [String: String] == ["zone": "a"])
  }

  @Test func foreignTablesTriggersViewsAndMetadataStayOverSavesAndMigrations() throws {
    let fixture = try withForeignObjects()
    try fixture.insert([try fixture.row("Project", ["title": .string("a")])])
    try expectForeignObjects(fixture, titles: ["a"])
    try fixture.store.close()
    // Another version of the model: an attribute more, and numbers that move.
    let copy = fixture.model.copy() as? ManagedObjectModel
    let next = try #require(copy)
    next.entitiesByName["Project"]?.properties.append(
      AttributeDescription(name: "budget", type: .double))
    next.entities.append(EntityDescription(name: "Aardvark"))
    try SQLiteStore.migrateInPlace(
      at: fixture.url, from: fixture.model, to: next, options: StoreOptions())
    try expectForeignObjects(fixture, titles: ["a"])
    let store = try StoreFixture.open(fixture.url, next)
    let project = try #require(next.entitiesByName["Project"])
    let id = try store.obtainPermanentIDs(for: [project])[0]
    var request = SaveChangesRequest()
    request.insertions = [
      .init(
        snapshot: .make(
          objectID: id, version: 0,
          values: project.layout.slots.map { $0.name == "title" ? .string("b") : .null }))
    ]
    _ = try fixture.receipt(store.save(request))
    try store.close()
    try expectForeignObjects(fixture, titles: ["a", "b"])
  }
}
