// A store's schema at a server: made whole or not at all, found again, and told from what is none.

import CairnModel
import CairnModelCache
import CairnSQL
import CairnStore
import Foundation
import TestServers
import TestSupport
import Testing

@testable import CairnPostgreSQL

@Suite(.needsServer) struct StoreSchemaTests {
  let server: PostgreSQLServer
  let connection: PostgreSQLConnection

  init() throws {
    server = try PostgreSQLServer.shared
    connection = try server.connect()
  }

  private func create(
    _ name: String, on connection: PostgreSQLConnection? = nil, identifier: String = "id-1"
  ) throws -> (record: StoreRecord, isNew: Bool) {
    let schema = PostgreSQLSchema(try LibraryModel.make(), in: try SchemaName(name))
    let server = server
    return try StoreSchema(name: schema.name, connection: connection ?? self.connection).create(
      schema, identifier: identifier, metadata: ["NSStoreType": "PostgreSQL", "own": [1, 2]]
    ) { try server.connect() }
  }

  private func record(_ name: String) throws -> StoreRecord? {
    try StoreSchema(name: try SchemaName(name), connection: connection).record()
  }

  private func text(_ query: String) throws -> String? {
    try connection.run(query, isKept: false).text(0, 0)
  }

  @Test func aStoreIsMadeOnceAndFoundAgain() throws {
    let name = server.newName("store")
    #expect(try record(name) == nil)
    let made = try create(name)
    #expect(made.isNew && made.record.identifier == "id-1")
    let found = try #require(try record(name))
    #expect(found.identifier == "id-1" && found.metadata["own"] as? [Int] == [1, 2])
    let model = try ModelCache.decode(try #require(found.model))
    #expect(Set(model.entities.compactMap(\.name)) == ["Author", "Book", "AudioBook", "Shelf"])
    let schema = PostgreSQLSchema(try LibraryModel.make(), in: try SchemaName(name))
    let again = PostgreSQLSchema(
      try LibraryModel.make(), in: try SchemaName(name), kept: found.names)
    #expect(schema.names.map { "\($0)" } == again.names.map { "\($0)" })
    let second = try create(name, identifier: "id-2")
    #expect(!second.isNew && second.record.identifier == "id-1")
  }

  @Test func peopleReadItWithSQL() throws {
    let name = server.newName("store")
    _ = try create(name)
    try connection.run(
      "INSERT INTO \(name).author (first_name, fee, born) VALUES ('Ann', 12.50, '1970-01-01Z')",
      isKept: false)
    try connection.run(
      "INSERT INTO \(name).book (cairn_entity, title, author_id) SELECT 3, 'One', cairn_id "
        + "FROM \(name).author", isKept: false)
    #expect(
      try text(
        "SELECT format('%s by %s, %s', title, first_name, fee) FROM \(name).book "
          + "JOIN \(name).author a ON a.cairn_id = author_id") == "One by Ann, 12.50")
    #expect(
      try text("SELECT obj_description('\(name).book'::regclass)")
        == "Entity Book and its subentities AudioBook")
    #expect(
      try text(
        "SELECT col_description('\(name).author'::regclass, attnum) FROM pg_attribute "
          + "WHERE attrelid = '\(name).author'::regclass AND attname = 'first_name'")
        == "Attribute firstName of entity Author")
    #expect(
      try text(
        "SELECT string_agg(format_type(atttypid, NULL), ',' ORDER BY attname) FROM pg_attribute "
          + "WHERE attrelid = '\(name).author'::regclass AND attname IN "
          + "('active', 'book_count', 'born', 'fee', 'first_name', 'id', 'portrait', 'rating', 'weight')"
      )
        == "boolean,bigint,timestamp with time zone,numeric,text,uuid,bytea,double precision,real")
    #expect(
      try text("SELECT name FROM \(name).cairn_entity WHERE number = 1") == "AudioBook"
        || text("SELECT name FROM \(name).cairn_entity WHERE number = 1") == "Author")
  }

  @Test func rowsReferToRowsWhenTheTransactionEnds() throws {
    let name = server.newName("store")
    _ = try create(name)
    let good = try PostgreSQLTransaction(on: connection)
    try connection.run(
      "INSERT INTO \(name).book (cairn_entity, author_id) VALUES (3, 77)", isKept: false)
    try connection.run(
      "INSERT INTO \(name).author (cairn_id) VALUES (77)", isKept: false)
    let server = server
    try good.commit { try server.connect() }
    let failure = #expect(throws: PostgreSQLFailure.self) {
      try connection.run("DELETE FROM \(name).author", isKept: false)
    }
    #expect(failure?.state == .foreignKeyViolation && failure?.table == "book")
    // Without an inverse, Core Data leaves such keys alone.
    try connection.run("UPDATE \(name).author SET favourite_book_id = 12345", isKept: false)
  }

  @Test func uniqueDatesDifferBelowAMicrosecond() throws {
    let event = EntityDescription(name: "Event", properties: [LibraryModel.attribute("at", .date)])
    event.uniquenessConstraints = [["at"]]
    let name = try SchemaName(server.newName("store"))
    let schema = PostgreSQLSchema(try LibraryModel.schema([event]), in: name)
    let server = server
    _ = try StoreSchema(name: name, connection: connection).create(
      schema, identifier: "x", metadata: [:]
    ) { try server.connect() }
    func insert(_ seconds: Double) throws {
      var parameters = ParameterList()
      try ValueForm.date.append(
        .date(Date(timeIntervalSinceReferenceDate: seconds)), to: &parameters)
      try connection.run("INSERT INTO \(name).event (at, at_exact) VALUES ($1, $2)", parameters)
    }
    let moment = 812_345_678.123456789
    try insert(moment)
    try insert(moment.nextUp)
    try insert(5)
    for seconds in [moment, 5] {
      let failure = #expect(throws: PostgreSQLFailure.self) { try insert(seconds) }
      #expect(failure?.state == .uniqueViolation)
      let constraint = schema.constraints[failure?.constraint ?? ""]
      #expect(constraint?.names == ["at"])
    }
  }

  @Test func schemasOfAnyNameAreQuoted() throws {
    for stem in ["we\"ird'; --", "select", "Gr\u{f6}\u{df}e \u{1F332}", "back\\slash", "a.b"] {
      let name = server.newName(stem)
      #expect(try create(name).isNew)
      #expect(try record(name)?.identifier == "id-1")
    }
  }

  @Test func aSchemaOfAnotherProgramIsLeftAlone() throws {
    let name = server.newName("other")
    try connection.run("CREATE SCHEMA \(name)", isKept: false)
    #expect(try record(name) == nil, "an empty one may become a store")
    try connection.run("CREATE TABLE \(name).invoice (n bigint)", isKept: false)
    for attempt in [{ _ = try record(name) }, { _ = try create(name) }] {
      let error = #expect(throws: CoreDataError.self, performing: attempt)
      #expect(error?.code == .persistentStoreInvalidType)
      #expect(error?.message.contains("another program") == true)
    }
    #expect(
      try connection.run(
        "SELECT count(*) FROM pg_class WHERE relnamespace = '\(name)'::regnamespace", isKept: false
      ).integer(0, 0) == 1)
    #expect(connection.isReusable)
  }

  @Test func aStoreOfALaterVersionAndADamagedOneAreRefused() throws {
    let name = server.newName("store")
    _ = try create(name)
    try connection.run("UPDATE \(name).cairn_store SET format = 2", isKept: false)
    let newer = #expect(throws: CoreDataError.self) { try record(name) }
    #expect(newer?.message.contains("newer version") == true)
    try connection.run(
      "UPDATE \(name).cairn_store SET format = 1, metadata = 'no list'", isKept: false)
    let damaged = #expect(throws: CoreDataError.self) { try record(name) }
    #expect(damaged?.message.contains("damaged") == true)
    try connection.run("DELETE FROM \(name).cairn_store", isKept: false)
    let empty = #expect(throws: CoreDataError.self) { try record(name) }
    #expect(empty?.message.contains("restore a backup") == true)
  }

  @Test func ofTwoProgramsOneMakesTheStore() async throws {
    let name = server.newName("store")
    let tests = self
    let results = try await withThrowingTaskGroup(of: (String, Bool).self) { group in
      for number in 1...4 {
        group.addTask {
          let made = try tests.create(
            name, on: try tests.server.connect(), identifier: "id-\(number)")
          return (made.record.identifier, made.isNew)
        }
      }
      return try await group.reduce(into: [(String, Bool)]()) { $0.append($1) }
    }
    #expect(results.count { $0.1 } == 1)
    #expect(Set(results.map(\.0)).count == 1)
  }

  @Test func aStoreIsMadeWholeOrNotAtAll() throws {
    let database = server.newName("db")
    try connection.run("CREATE DATABASE \(database)", isKept: false)
    let inside = try server.connect(database: database)
    try inside.run(
      "CREATE FUNCTION public.refuse() RETURNS event_trigger LANGUAGE plpgsql AS "
        + "$$ BEGIN RAISE EXCEPTION 'no more' USING ERRCODE = '53100'; END $$", isKept: false)
    // Near the end: tables and references are there by then.
    try inside.run(
      "CREATE EVENT TRIGGER refusal ON ddl_command_start WHEN TAG IN ('CREATE INDEX') "
        + "EXECUTE FUNCTION public.refuse()", isKept: false)
    let error = #expect(throws: CoreDataError.self) { _ = try create("library", on: inside) }
    #expect(error?.code == .fileWriteOutOfSpace)
    #expect(error?.message.contains("make a store in the schema library") == true)
    #expect(inside.isReusable)
    try inside.run("DROP EVENT TRIGGER refusal", isKept: false)
    #expect(try create("library", on: inside).isNew, "nothing was left behind")
  }

  @Test func rolesWithoutRightsAreToldWhatTheyLack() throws {
    let (role, name, open) = (
      server.newName("guest"), server.newName("store"), server.newName("open")
    )
    _ = try create(name)
    try connection.run("CREATE ROLE \(role) LOGIN", isKept: false)
    let guest = try server.connect(user: role)
    let reading = #expect(throws: CoreDataError.self) {
      _ = try StoreSchema(name: try SchemaName(name), connection: guest).record()
    }
    #expect(reading?.message.contains("GRANT") == true)
    let making = #expect(throws: CoreDataError.self) {
      _ = try create(server.newName("store"), on: guest)
    }
    #expect(making?.message.contains("GRANT") == true)
    // A schema that an administrator made and opened to the role.
    try connection.run("CREATE SCHEMA \(open)", isKept: false)
    try connection.run("GRANT USAGE, CREATE ON SCHEMA \(open) TO \(role)", isKept: false)
    #expect(try create(open, on: guest).isNew)
  }

  /// Rows that are not seen would be rows that are gone.
  @Test func rowsThatAPolicyHidesAreAnError() throws {
    let words = try StoreWords()
    let store = try words.open()
    try words.insert("Shelf", in: store)
    let role = words.server.newName("tenant")
    let owner = try words.foreign()
    try words.sql("CREATE ROLE \(role) LOGIN", on: owner)
    try words.sql("GRANT USAGE ON SCHEMA \"\(words.schema)\" TO \(role)", on: owner)
    try words.sql("GRANT SELECT ON ALL TABLES IN SCHEMA \"\(words.schema)\" TO \(role)", on: owner)
    try words.sql("ALTER TABLE @shelf ENABLE ROW LEVEL SECURITY", on: owner)
    let text = try #require(store.url).absoluteString.replacing("owner@", with: "\(role)@")
    let narrow = PostgreSQLStore(
      configuration: StoreConfiguration(
        model: store.managedObjectModel, configurationName: nil, url: URL(string: text),
        options: StoreOptions([StoreOptionKey.readOnly: true])))
    try narrow.openStore()
    let shelf = try #require(store.managedObjectModel.entitiesByName["Shelf"])
    let error = #expect(throws: CoreDataError.self) {
      try narrow.fetch(StoreFetchRequest(entity: shelf))
    }
    #expect(error?.message.contains("the role needs BYPASSRLS") == true, "\(error as Any)")
    try words.sql("ALTER ROLE \(role) BYPASSRLS", on: owner)
    #expect(try narrow.fetch(StoreFetchRequest(entity: shelf)).snapshots?.count == 1)
  }

  @Test func metadataAreAPropertyList() throws {
    let schema = PostgreSQLSchema(
      try LibraryModel.make(), in: try SchemaName(server.newName("store")))
    let server = server
    let error = #expect(throws: CoreDataError.self) {
      _ = try StoreSchema(name: schema.name, connection: connection).create(
        schema, identifier: "x", metadata: ["object": NSObject()]
      ) { try server.connect() }
    }
    #expect(error?.message.contains("property list") == true)
    #expect(try record(schema.name.text) == nil)
  }
}
