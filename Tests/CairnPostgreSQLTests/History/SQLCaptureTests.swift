// What other programs write with plain SQL is in history, where triggers were asked for.

import CairnModel
import TestSupport
@_spi(Stores) import CairnStore
import Foundation
import TestServers
import Testing

@testable import CairnPostgreSQL

@Suite(.needsServer) struct SQLCaptureTests {
  let words: StoreWords
  let other: PostgreSQLConnection

  init() throws {
    words = try StoreWords()
    other = try words.foreign()
  }

  /// The changes since a number, as words.
  private func told(_ store: PostgreSQLStore, after number: Int64 = 0) throws -> [String] {
    try words.changes(in: store, after: number).map { change in
      let properties = change.changedProperties.map { " " + $0.sorted().joined(separator: ",") }
      let key = change.objectID.rowKey ?? 0
      return "\(change.kind) \(change.objectID.entity.name ?? "") \(key)\(properties ?? "")"
    }
  }

  @Test func rowsAreRecordedWithTheirProperties() throws {
    let store = try words.openRecording(capturing: true)
    try words.sql("SET cairn.author = 'nightly'", on: other)
    try words.sql("SET application_name = 'loader'", on: other)
    try words.sql(
      "INSERT INTO @book (cairn_entity, title) SELECT number, 'x' FROM @cairn_entity "
        + "WHERE name IN ('Book', 'AudioBook') ORDER BY name DESC", on: other)
    try words.sql("INSERT INTO @author (cairn_id, first_name) VALUES (7, 'Ann')", on: other)
    try words.sql("UPDATE @book SET title = 'y', author_id = 7 WHERE cairn_id = 1", on: other)
    try words.sql("UPDATE @book SET title = title", on: other)
    try words.sql("UPDATE @author SET born = 'epoch', cairn_id = 8 WHERE false", on: other)
    try words.sql("DELETE FROM @book WHERE cairn_id = 2", on: other)
    #expect(
      try told(store) == [
        "insert Book 1", "insert AudioBook 2", "insert Author 7", "update Book 1 author,title",
        "delete AudioBook 2",
      ])
    let records = try store.readHistory(HistoryReadRequest())
    #expect(records.map(\.number) == [1, 2, 3, 4])
    #expect(records.allSatisfy { $0.author == "nightly" && $0.processID == "loader" })
    #expect(abs(records[0].date.timeIntervalSinceNow) < 600)
    let versions = try words.sql("SELECT cairn_version FROM @book", on: other)
    #expect(versions.count == 1 && versions.integer(0, 0) == 2)
  }

  @Test func aChangeOfSQLIsAConflictForAContext() throws {
    let store = try words.openRecording(capturing: true)
    let shelf = try words.insert("Shelf", ["place": .string("north")], in: store)
    try words.sql("UPDATE @shelf SET place = 'south'", on: other)
    var request = SaveChangesRequest()
    request.updates = [try words.change(shelf, ["place": .string("east")])]
    guard case .conflicts(let conflicts) = try store.save(request) else {
      Issue.record("no conflict")
      return
    }
    #expect(conflicts.first?.persisted?.version == 2)
  }

  @Test func ownSavesAreRecordedOnce() throws {
    let store = try words.openRecording(capturing: true)
    let shelf = try words.insert("Shelf", in: store)
    let stored = try words.save(in: store) {
      $0.updates = [try words.change(shelf, ["place": .string("x")])]
    }
    #expect(stored.snapshots.first?.version == 2)
    try words.save(in: store) { $0.deletions = stored.snapshots.map { .init(snapshot: $0) } }
    #expect(try words.changes(in: store).map(\.kind) == [.insert, .update, .delete])
    // Opened once more, the triggers are there once.
    _ = try words.openRecording(capturing: true)
    try words.sql("INSERT INTO @shelf (place) VALUES ('x')", on: other)
    #expect(try words.changes(in: store, after: 3).map(\.kind) == [.insert])
  }

  @Test func bulkStatementsAreRecordedByTheRow() throws {
    let store = try words.openRecording(capturing: true)
    let rows = try other.copy("COPY \"\(words.schema)\".shelf (place) FROM STDIN", columnCount: 1) {
      copy in
      for number in 0..<300 { try copy.row { $0.append("shelf \(number)") } }
    }
    #expect(rows == 300)
    try words.sql("UPDATE @shelf SET place = 'all' WHERE cairn_id > 100", on: other)
    try words.sql("TRUNCATE @shelf CASCADE", on: other)
    let records = try store.readHistory(HistoryReadRequest())
    #expect(records.map(\.changes.count) == [300, 200, 300])
    #expect(records[2].changes.allSatisfy { $0.kind == .delete })
  }

  @Test func aKeyThatIsChangedIsAnotherObject() throws {
    let store = try words.openRecording(capturing: true)
    try words.sql("INSERT INTO @shelf (cairn_id) VALUES (1)", on: other)
    try words.sql("UPDATE @shelf SET cairn_id = 5", on: other)
    #expect(try told(store, after: 1) == ["delete Shelf 1", "insert Shelf 5"])
  }

  /// As a load does it that begins with a DELETE; what leads to the key leads to the same object.
  @Test func aRowThatIsReplacedIsAnUpdateOfAllOfTheObject() throws {
    let store = try words.openRecording(capturing: true)
    try words.sql("INSERT INTO @author (cairn_id, first_name) VALUES (1, 'Ann')", on: other)
    try words.sql(
      "INSERT INTO @book (cairn_entity, author_id) SELECT number, 1 FROM @cairn_entity "
        + "WHERE name = 'Book'", on: other)
    try words.sql("BEGIN", on: other)
    try words.sql("DELETE FROM @author", on: other)
    try words.sql("INSERT INTO @author (cairn_id, first_name) VALUES (1, 'Bea')", on: other)
    try words.sql("COMMIT", on: other)
    let change = try #require(try words.changes(in: store, after: 2).first)
    #expect(try words.changes(in: store, after: 2).count == 1)
    #expect(change.kind == .update && change.objectID.rowKey == 1 && change.tombstone.isEmpty)
    let properties = try #require(change.changedProperties)
    #expect(properties.isSuperset(of: ["firstName", "weight", "favouriteBook", "books"]))
    #expect(try store.births(of: [change.objectID])[change.objectID]?.transaction == 1)
    // Nor does what is kept of it when history is purged tell of another birth.
    #expect(try store.purgeHistory(before: 4, date: nil) == 3)
    let kept = try store.sidecarEntries(
      of: RowBirth.map, from: nil, to: nil, limit: 10, except: nil)
    let key = try #require(RowBirth.key(of: change.objectID))
    let birth = try #require(kept.first { $0.key == key }?.value)
    #expect(RowBirth(decoding: birth)?.transaction == 1)
  }

  @Test func keysThatAreExchangedAreUpdatesOfBothObjects() throws {
    let store = try words.openRecording(capturing: true)
    try words.sql("INSERT INTO @shelf (cairn_id, place) VALUES (1, 'a'), (2, 'b')", on: other)
    try words.sql("BEGIN", on: other)
    for (key, next) in [(1, 99), (2, 1), (99, 2)] {
      try words.sql("UPDATE @shelf SET cairn_id = \(next) WHERE cairn_id = \(key)", on: other)
    }
    try words.sql("COMMIT", on: other)
    #expect(
      try told(store, after: 1) == [
        "insert Shelf 99", "update Shelf 1 place,row,tagged", "update Shelf 2 place,row,tagged",
        "delete Shelf 99",
      ])
  }

  @Test func aRowDoesNotBecomeOneOfAnotherEntity() throws {
    let store = try words.openRecording(capturing: true)
    try words.insert("Book", ["title": .string("x")], in: store)
    let failure = #expect(throws: PostgreSQLFailure.self) {
      try words.sql(
        "UPDATE @book SET cairn_entity = number FROM @cairn_entity e WHERE e.name = 'AudioBook'",
        on: other)
    }
    #expect(failure?.state == .checkViolation)
    #expect(failure?.message.contains("of another entity") == true, "\(failure as Any)")
    #expect(try told(store, after: 1) == [])
    // What is no object of any entity becomes one.
    try words.sql("ALTER TABLE @book DROP CONSTRAINT cairn_entity_of_table", on: other)
    try words.sql("INSERT INTO @book (cairn_entity) VALUES (99)", on: other)
    try words.sql(
      "UPDATE @book b SET cairn_entity = number FROM @cairn_entity e WHERE e.name = 'AudioBook' "
        + "AND b.cairn_entity = 99", on: other)
    #expect(try told(store, after: 1) == ["insert AudioBook 2"])
  }

  @Test func aPositionIsAnUpdateOfTheObjectWhoseMembersAreOrdered() throws {
    let store = try words.openRecording(capturing: true)
    let shelf = try words.insert("Shelf", in: store)
    let book = try words.insert("Book", ["shelf": .object(shelf.objectID)], in: store)
    try words.sql("UPDATE @book SET shelf_row_position = 7", on: other)
    #expect(try told(store, after: 2) == ["update Shelf 1 row"])
    #expect(try store.snapshots(for: [shelf.objectID])[0]?.version == 2)
    try words.sql(
      "INSERT INTO @book (cairn_entity, shelf_id, shelf_row_position) "
        + "SELECT cairn_entity, 1, 9 FROM @book", on: other)
    try words.sql("UPDATE @book SET title = 'x' WHERE cairn_id = \(book.rowKey ?? 0)", on: other)
    #expect(
      try told(store, after: 3) == ["insert Book 2", "update Shelf 1 row", "update Book 1 title"])
  }

  @Test func linksAreUpdatesOfTheObjectsThatTheyJoin() throws {
    let store = try words.openRecording(capturing: true)
    let book = try words.insert("Book", in: store)
    let shelf = try words.insert("Shelf", in: store)
    let author = try words.insert("Author", in: store)
    let keys = [book, shelf, author].compactMap(\.rowKey)
    try words.sql("INSERT INTO @book_tags VALUES (\(keys[0]), \(keys[1]))", on: other)
    try words.sql("DELETE FROM @book_tags", on: other)
    // Without an inverse, the key of the owner stands with the member.
    try words.sql("UPDATE @book SET author_wishes_id = \(keys[2])", on: other)
    let (tags, tagged) = ("update Book \(keys[0]) tags", "update Shelf \(keys[1]) tagged")
    #expect(
      try told(store, after: 3) == [tags, tagged, tags, tagged, "update Author \(keys[2]) wishes"])
    let found = try store.snapshots(for: [book, shelf, author].map(\.objectID))
    #expect(found.map { $0?.version } == [4, 3, 2])
  }

  @Test func whatIsTakenBackIsNotRecorded() throws {
    let store = try words.openRecording(capturing: true)
    try words.sql("BEGIN", on: other)
    try words.sql("SAVEPOINT a", on: other)
    try words.sql("INSERT INTO @shelf (cairn_id) VALUES (1)", on: other)
    try words.sql("ROLLBACK TO a", on: other)
    try words.sql("INSERT INTO @shelf (cairn_id) VALUES (2)", on: other)
    try words.sql("COMMIT", on: other)
    try words.sql("BEGIN", on: other)
    try words.sql("INSERT INTO @shelf (cairn_id) VALUES (3)", on: other)
    try words.sql("ROLLBACK", on: other)
    #expect(try told(store) == ["insert Shelf 2"])
    #expect(try store.readHistory(HistoryReadRequest()).count == 1)
  }

  @Test func aTransactionThatIsRecordedIsNotPrepared() throws {
    let store = try words.openRecording(capturing: true)
    try words.sql("BEGIN", on: other)
    try words.sql("INSERT INTO @shelf (place) VALUES ('a')", on: other)
    let failure = #expect(throws: PostgreSQLFailure.self) {
      try words.sql("PREPARE TRANSACTION 'of another program'", on: other)
    }
    #expect(failure?.message.contains("NOTIFY") == true, "\(failure as Any)")
    // It has left no lock behind.
    try words.insert("Shelf", ["place": .string("b")], in: store)
    #expect(try words.changes(in: store, after: 0).count == 1)
  }

  @Test func oneTransactionMayWriteTwoStores() throws {
    let second = try StoreWords()
    let stores = try [words, second].map { try $0.openRecording(capturing: true) }
    try words.sql("BEGIN", on: other)
    try words.sql("INSERT INTO @shelf (place) VALUES ('a')", on: other)
    try second.sql("INSERT INTO @shelf (place) VALUES ('b')", on: other)
    try words.sql("COMMIT", on: other)
    for store in stores { #expect(try told(store) == ["insert Shelf 1"]) }
  }

  @Test func aRoleThatMayWriteATableNeedsNoRightOnHistory() throws {
    let store = try words.openRecording(capturing: true)
    let role = words.server.newName("clerk")
    try words.sql("CREATE ROLE \(role) LOGIN", on: other)
    try words.sql("GRANT USAGE ON SCHEMA \"\(words.schema)\" TO \(role)", on: other)
    try words.sql("GRANT INSERT, SELECT ON @shelf TO \(role)", on: other)
    let clerk = try words.foreign(user: role)
    try words.sql("INSERT INTO @shelf (place) VALUES ('a')", on: clerk)
    #expect(try told(store) == ["insert Shelf 1"])
    for text in ["SELECT 1 FROM @cairn_change", "SELECT @cairn_capture_key()"] {
      let failure = #expect(throws: PostgreSQLFailure.self) { try words.sql(text, on: clerk) }
      #expect(failure?.state == .noRight)
    }
  }

  @Test func namesOfAModelAreNamesInTriggers() throws {
    let names = ["tx", "cairn", "n", "o", "key", "select", "it's $fn$ \"q\""]
    let thing = EntityDescription(
      name: "Order", properties: names.map { LibraryModel.attribute($0, .string) })
    for case let attribute as AttributeDescription in thing.properties {
      attribute.preservesValueInHistoryOnDeletion = true
    }
    let store = try words.openRecording(
      model: try LibraryModel.schema([thing]).model, capturing: true)
    let row = try words.insert("Order", ["tx": .string("a")], in: store)
    try words.sql(
      "UPDATE @\"order\" SET tx = 'b', cairn = 'c', n = 'd', \"select\" = 'e'", on: other)
    try words.sql("DELETE FROM @\"order\"", on: other)
    let changes = try words.changes(in: store, after: 1)
    #expect(changes.map(\.objectID) == [row.objectID, row.objectID])
    #expect(changes.first?.changedProperties == ["tx", "cairn", "n", "select"])
    #expect(
      changes.last?.tombstone == [
        "tx": .string("b"), "cairn": .string("c"), "n": .string("d"), "select": .string("e"),
      ])
  }

  /// What a store's own session does is recorded by itself; what happens along with it is not its own.
  @Test func whatTriggersOfOthersWriteMeanwhileIsRecorded() throws {
    let store = try words.openRecording(capturing: true)
    let shelf = try words.insert("Shelf", ["place": .string("north")], in: store)
    try words.sql(
      "CREATE FUNCTION @count_books() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
        + "UPDATE @shelf SET place = 'full'; RETURN NULL; END $$", on: other)
    try words.sql(
      "CREATE TRIGGER count_books AFTER INSERT ON @book FOR EACH ROW EXECUTE FUNCTION @count_books()",
      on: other)
    try words.insert("Book", ["title": .string("x")], in: store)
    #expect(try told(store, after: 1) == ["insert Book 1", "update Shelf 1 place"])
    #expect(try store.readHistory(HistoryReadRequest()).map(\.number) == [1, 2, 3])
    let found = try store.snapshots(for: [shelf.objectID])[0]
    #expect(found?.version == 2)
  }

  @Test func aColumnOfAnAdministratorMayBeOfAnyType() throws {
    let store = try words.openRecording(capturing: true)
    try words.sql("ALTER TABLE @shelf ADD COLUMN extra json", on: other)
    try words.sql("INSERT INTO @shelf (place, extra) VALUES ('north', '{}')", on: other)
    try words.sql("UPDATE @shelf SET extra = '[]'", on: other)
    try words.sql("UPDATE @shelf SET place = 'south'", on: other)
    #expect(try told(store) == ["insert Shelf 1", "update Shelf 1 place"])
    #expect(try words.sql("SELECT max(cairn_version) FROM @shelf", on: other).integer(0, 0) == 2)
  }

  /// A schema that was renamed leaves its name to another store, such as one from a backup.
  @Test func aRenamedSchemaWritesNothingIntoTheStoreThatHasItsNameNow() throws {
    let store = try words.openRecording(capturing: true)
    try words.insert("Shelf", in: store)
    let dump = try words.server.dump(schema: words.schema)
    try store.close()
    let aside = "\(words.schema)_aside"
    try words.sql("ALTER SCHEMA \"\(words.schema)\" RENAME TO \"\(aside)\"", on: other)
    try words.server.restore(dump)
    let live = try words.openRecording(capturing: true)
    let failure = #expect(throws: PostgreSQLFailure.self) {
      try other.run("DELETE FROM \"\(aside)\".shelf", isKept: false)
    }
    #expect(failure?.message.contains("\(aside) of a store was renamed") == true)
    #expect(try told(live) == ["insert Shelf 1"])
    // Opened once, it is a store of its own.
    let renamed = PostgreSQLStore(
      configuration: StoreConfiguration(
        model: live.managedObjectModel, configurationName: nil, url: words.server.storeURL(aside),
        options: StoreOptions([:])))
    try renamed.openStore()
    try other.run("DELETE FROM \"\(aside)\".shelf", isKept: false)
    #expect(try told(renamed) == ["insert Shelf 1", "delete Shelf 1"])
    #expect(try told(live) == ["insert Shelf 1"])
  }

  @Test func triggersThatAnAdministratorTookAwayAreNamedAndMadeAnew() throws {
    let model = try DerivedAttributeTests.model()
    let store = try words.openRecording(model: model, capturing: true)
    #expect(try store.verifyIntegrity() == [])
    try words.sql("DROP TRIGGER cairn_update ON @shelf", on: other)
    try words.sql("ALTER TABLE @book DISABLE TRIGGER USER", on: other)
    let findings = try store.verifyIntegrity()
    #expect(
      findings.count > 1 && findings.allSatisfy { $0.contains("is missing or disabled") },
      "\(findings)")
    try store.close()
    let opened = try words.openRecording(model: model, capturing: true)
    #expect(try opened.verifyIntegrity() == [])
    let missed = try opened.lastPurgedTransactionNumber()
    #expect(missed > 0, "history does not tell what was written meanwhile")
    try words.sql("INSERT INTO @shelf (place) VALUES ('north')", on: other)
    try words.sql("UPDATE @shelf SET place = 'south'", on: other)
    #expect(try told(opened, after: missed) == ["insert Shelf 1", "update Shelf 1 place"])
    try opened.close()
    let again = try words.openRecording(model: model, capturing: true)
    #expect(try again.lastPurgedTransactionNumber() == missed, "nothing is missed any more")
  }

  @Test(arguments: ["capture_shelf_insert", "capture_number", "derive_author_book_total_of_book"])
  func functionsThatAnAdministratorDroppedAreNamedAndMadeAnew(_ name: String) throws {
    let model = try DerivedAttributeTests.model()
    let store = try words.openRecording(model: model, capturing: true)
    try words.sql("DROP FUNCTION @cairn_\(name)() CASCADE", on: other)
    let findings = try store.verifyIntegrity()
    #expect(findings.count == 1 && findings[0].contains("cairn_\(name)"), "\(findings)")
    try store.close()
    let opened = try words.openRecording(model: model, capturing: true)
    #expect(try opened.verifyIntegrity() == [])
    let missed = try opened.lastPurgedTransactionNumber()
    #expect((missed > 0) == name.hasPrefix("capture"))
    try words.sql("INSERT INTO @shelf (place) VALUES ('north')", on: other)
    #expect(try told(opened, after: missed) == ["insert Shelf 1"])
  }

  /// The load of an administrator who disabled them himself.
  @Test func aStoreIsOpenedAlthoughTriggersCannotBeMadeAnewBesideAProgram() throws {
    let model = try DerivedAttributeTests.model()
    try words.openRecording(model: model, capturing: true).close()
    try words.sql("ALTER TABLE @shelf DISABLE TRIGGER USER", on: other)
    try words.sql("BEGIN", on: other)
    try words.sql("INSERT INTO @shelf (place) VALUES ('north')", on: other)
    let store = try words.openRecording(model: model, capturing: true)
    #expect(try !store.verifyIntegrity().isEmpty)
    #expect(try store.lastPurgedTransactionNumber() == 0)
    try words.sql("COMMIT", on: other)
    try store.close()
    let opened = try words.openRecording(model: model, capturing: true)
    #expect(try opened.verifyIntegrity() == [])
    #expect(try opened.lastPurgedTransactionNumber() > 0)
  }

  @Test func triggersOfAnOlderVersionAreMadeAnew() throws {
    let model = try DerivedAttributeTests.model()
    try words.openRecording(model: model, capturing: true).close()
    func sources() throws -> String? {
      try words.sql(
        "SELECT string_agg(p.proname || p.prosrc, '' ORDER BY p.proname) FROM pg_catalog.pg_proc p "
          + "WHERE p.pronamespace = '\"\(words.schema)\"'::regnamespace", on: other
      ).text(0, 0)
    }
    let whole = try #require(try sources())
    try words.sql(
      "CREATE OR REPLACE FUNCTION @cairn_capture_number() RETURNS trigger LANGUAGE plpgsql "
        + "AS 'BEGIN RETURN NULL; END'", on: other)
    #expect(try sources() != whole)
    try words.open(model: model, [StoreOptionKey.readOnly: true]).close()
    #expect(try sources() != whole)
    try words.open(model: model).close()
    #expect(try sources() == whole)
  }
}
