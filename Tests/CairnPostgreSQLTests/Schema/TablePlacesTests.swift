// Tables and columns that were dropped and put back are none that programs wrote to.

import CairnModel
import TestSupport
@_spi(Stores) import CairnStore
import Foundation
import TestServers
import Testing

@testable import CairnPostgreSQL

@Suite(.needsServer) struct TablePlacesTests {
  let words: StoreWords
  let other: PostgreSQLConnection

  init() throws {
    words = try StoreWords()
    other = try words.foreign()
  }

  /// What the next opening tells sync of a store that sync has written to.
  private func lost(after statements: String...) throws -> Set<String>? {
    let store = try words.openRecording(capturing: true)
    try words.sql(
      "INSERT INTO @cairn_sidecar (map, key, value) VALUES ('sync_meta', 'head', '')", on: other)
    try store.close()
    for statement in statements { try words.sql(statement, on: other) }
    return try trace()
  }

  private func trace() throws -> Set<String>? {
    let store = try words.openRecording(capturing: true)
    defer { try? store.close() }
    #expect(try store.verifyIntegrity() == [])
    return try store.sidecarValues(for: [MigrationTrace.key])[0].map {
      MigrationTrace(decoding: $0).names
    }
  }

  private func purged() throws -> Int64 {
    try words.openRecording(capturing: true).lastPurgedTransactionNumber()
  }

  @Test func valuesOfAColumnThatWasPutBackAreLost() throws {
    let names = try lost(
      after: "ALTER TABLE @author DROP COLUMN fee CASCADE",
      "ALTER TABLE @author ADD COLUMN fee numeric")
    #expect(names == ["Author.fee"])
    try words.sql(
      "DELETE FROM @cairn_sidecar WHERE map = 'sync_meta' AND key = 'dropped'", on: other)
    #expect(try trace() == nil, "it is told once")
  }

  @Test func valuesOfATableThatWasPutBackAreLost() throws {
    let names = try lost(
      after: "CREATE TABLE @copy (LIKE @book INCLUDING ALL)", "DROP TABLE @book CASCADE",
      "ALTER TABLE @copy RENAME TO book",
      "ALTER INDEX @copy_isbn13_idx RENAME TO book_unique_isbn13_index")
    #expect(
      names == [
        "Book.title", "Book.ISBN13", "Book.author", "Book.shelf", "AudioBook.title",
        "AudioBook.ISBN13", "AudioBook.author", "AudioBook.shelf", "AudioBook.minutes",
        "Author.wishes",
      ])
    #expect(try purged() == 0, "its rows are not looked at as if programs had written them")
  }

  @Test func nothingIsLostWithTriggersAlone() throws {
    #expect(try lost(after: "DROP TRIGGER cairn_update ON @shelf") == nil)
    #expect(try purged() > 0)
  }

  /// Its bookkeeping is as old as its rows.
  @Test func aSchemaThatWasRestoredAsAWholeIsNoneOfTheseTables() throws {
    #expect(try lost() == nil)
    let dump = try words.server.dump(schema: words.schema)
    try words.sql("DROP SCHEMA \"\(words.schema)\" CASCADE", on: other)
    try words.server.restore(dump)
    #expect(try trace() == nil)
  }

  @Test func aMigrationNotesTheTablesThatItMakes() throws {
    let old = try LibraryModel.make().model
    let store = try words.open(model: old)
    try words.sql(
      "INSERT INTO @cairn_sidecar (map, key, value) VALUES ('sync_meta', 'head', '')", on: other)
    try store.close()
    let new = try PostgreSQLMigrationTests.next()
    try PostgreSQLStore.migrateInPlace(
      at: try #require(words.server.storeURL(words.schema)), from: old, to: new,
      options: StoreOptions([:]))
    let next = try words.open(model: new)
    let found = try next.sidecarValues(for: [MigrationTrace.key])[0]
    // What the migration itself drops.
    #expect(found.map { MigrationTrace(decoding: $0).names } == ["Author.weight"])
  }
}
