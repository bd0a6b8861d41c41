// Batch requests while other programs write the same rows.

import CairnModel
@_spi(Stores) import CairnStore
import CairnPredicates
import CairnTesting
import Foundation
import Synchronization
import TestServers
import Testing

@testable import CairnPostgreSQL

@Suite(.needsServer) struct BatchTests {
  let words: StoreWords
  let store: PostgreSQLStore

  init() throws {
    words = try StoreWords()
    store = try words.openRecording(capturing: true)
  }

  private func entity(_ name: String) throws -> EntityDescription {
    try #require(store.managedObjectModel.entitiesByName[name])
  }

  /// Runs a request while another program has a transaction open, which commits once the request waits for it.
  private func run(
    _ request: StoreBatchRequest, while statements: String...
  ) async throws -> BatchOutcome {
    let foreign = try words.foreign()
    try foreign.run("BEGIN", isKept: false)
    for statement in statements { try words.sql(statement, on: foreign) }
    let outcome = Mutex<Result<BatchOutcome, any Error>?>(nil)
    Thread.detachNewThread { [store] in
      let result = Result { try store.executeBatch(request, author: nil, contextName: nil) }
      outcome.withLock { $0 = result }
    }
    let watcher = try words.foreign()
    let isWaiting = try await eventually {
      try outcome.withLock { $0 != nil }
        || watcher.run(
          "SELECT count(*) FROM pg_locks WHERE NOT granted AND pid IN (SELECT pid FROM pg_stat_activity "
            + "WHERE query LIKE '%\(words.schema)%')", isKept: false
        ).integer(0, 0) != 0
    }
    #expect(isWaiting && outcome.withLock { $0 == nil }, "the request has not waited")
    try foreign.run("COMMIT", isKept: false)
    #expect(await eventually { outcome.withLock { $0 != nil } })
    return try #require(outcome.withLock { $0 }).get()
  }

  private func books(_ isbns: [String]) throws -> StoreBatchRequest {
    let rows = isbns.map { isbn -> BatchRowSource.Row in
      ["ISBN13": .string(isbn), "title": .string("new \(isbn)")]
    }
    return .insert(entity: try entity("Book"), rows: BatchRowSource(rows), duplicates: .overwrite)
  }

  private func titles() throws -> [String?] {
    let rows = try words.sql("SELECT title FROM @book ORDER BY isbn13", on: try words.foreign())
    return (0..<rows.count).map { rows.text($0, 0) }
  }

  @Test func aValueThatAnotherProgramClaimsMeanwhileIsADuplicate() async throws {
    let number = try store.openState().content.schema.sql.entity(entity("Book")).number
    let outcome = try await run(
      books(["1", "2", "3"]),
      while:
        "INSERT INTO @book (cairn_entity, isbn13, title) VALUES (\(number), '2', 'claimed')")
    #expect(outcome.inserted.count == 2 && outcome.updated.count == 1)
    #expect(try titles() == ["new 1", "new 2", "new 3"])
    let last = try #require(try store.readHistory(HistoryReadRequest()).last)
    #expect(last.changes.map(\.kind) == [.update, .insert, .insert])
  }

  @Test func aRowThatAnotherProgramHasDeletedIsNoDuplicate() async throws {
    try words.insert("Book", ["ISBN13": .string("2")], in: store)
    let outcome = try await run(books(["1", "2"]), while: "DELETE FROM @book")
    #expect(outcome.inserted.count == 2 && outcome.updated.isEmpty)
    #expect(try titles() == ["new 1", "new 2"])
  }

  @Test func aBatchOfWhichARowDoesNotTakeTheChangeFailsWhole() throws {
    try words.insert("Book", ["ISBN13": .string("2")], in: store)
    let foreign = try words.foreign()
    try words.sql(
      "CREATE FUNCTION @keep() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN RETURN NULL; END$$",
      on: foreign)
    try words.sql(
      "CREATE TRIGGER keep BEFORE UPDATE ON @book FOR EACH ROW EXECUTE FUNCTION @keep()",
      on: foreign)
    let error = try #require(throws: CoreDataError.self) {
      try store.executeBatch(books(["1", "2", "3"]), author: nil, contextName: nil)
    }
    #expect(error.code.rawValue == 134_090)
    #expect(try titles() == [nil])
  }

  @Test func aRowThatMatchesNoMoreIsNotDeleted() async throws {
    let stays = try words.insert("Shelf", ["place": .string("north")], in: store)
    let goes = try words.insert("Shelf", ["place": .string("north")], in: store)
    let outcome = try await run(
      .delete(
        StoreFetchRequest(
          entity: try entity("Shelf"), predicate: ObjectPredicate(format: "place == 'north'"))),
      while: "UPDATE @shelf SET place = 'south' WHERE cairn_id = \(stays.rowKey ?? 0)")
    #expect(outcome.deleted.ids == [goes.objectID])
    #expect(try store.snapshots(for: [stays.objectID])[0]?.version == 2)
  }

  @Test func anUpdateIsComputedFromWhatAnotherProgramHasWritten() async throws {
    let author = try words.insert("Author", ["bookCount": .integer(1)], in: store)
    let outcome = try await run(
      .update(
        entity: try entity("Author"), includesSubentities: true, predicate: nil,
        values: ["bookCount": ObjectExpression(format: "bookCount + 10")]),
      while: "UPDATE @author SET book_count = 5")
    #expect(outcome.updated == [author.objectID])
    let found = try words.sql(
      "SELECT book_count, cairn_version FROM @author", on: try words.foreign())
    #expect(found.integer(0, 0) == 15 && found.integer(0, 1) == 3)
  }

  @Test func whoHoldsWritesMayRunBatches() throws {
    try store.holdingWrites {
      _ = try store.executeBatch(books(["1"]), author: nil, contextName: nil)
      try words.insert("Shelf", in: store)
      _ = try store.executeBatch(books(["1"]), author: nil, contextName: nil)
    }
    #expect(try store.readHistory(HistoryReadRequest()).map(\.number) == [1, 2, 3])
  }

  @Test func aReadOnlyStoreExecutesNone() throws {
    let reader = try words.open([StoreOptionKey.readOnly: true])
    let error = #expect(throws: CoreDataError.self) {
      try reader.executeBatch(books(["1"]), author: nil, contextName: nil)
    }
    #expect(error?.code == .persistentStoreSave)
  }
}
