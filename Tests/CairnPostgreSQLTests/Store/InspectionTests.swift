// What a store finds to be wrong with itself: each rule is broken behind the server's back.

import CairnModel
import CairnPredicates
import TestSupport
@_spi(Stores) import CairnStore
import Foundation
import TestServers
import Testing

@testable import CairnPostgreSQL

@Suite(.needsServer) struct InspectionTests {
  let words: StoreWords
  let store: PostgreSQLStore
  let foreign: PostgreSQLConnection
  let ann: RowSnapshot

  init() throws {
    words = try StoreWords()
    store = try words.openRecording(
      model: LibraryModel.make { entities in
        let count = DerivedAttributeDescription()
        count.name = "count"
        count.attributeType = .integer64
        count.derivationExpression = ObjectExpression(format: "books.@count")
        entities["Author"]?.properties += [
          count, relationship("spouse", to: entities["Author"] ?? EntityDescription()),
        ]
        let spouse = entities["Author"]?.relationshipsByName["spouse"]
        spouse?.inverseRelationship = spouse
      }.model)
    foreign = try words.foreign()
    ann = try words.insert("Author", ["firstName": .string("Ann")], in: store)
    for isbn in ["1", "2"] {
      try words.insert(
        "Book", ["ISBN13": .string(isbn), "author": .object(ann.objectID)], in: store)
    }
    try words.insert("AudioBook", ["author": .object(ann.objectID)], in: store)
    let gone = try words.insert("Shelf", in: store)
    try words.save(in: store) { $0.deletions = [.init(snapshot: gone)] }
    try words.insert("Shelf", in: store)
  }

  /// Runs statements that no rule of the server holds up.
  private func breaking(_ statements: String...) throws -> [String] {
    #expect(try store.verifyIntegrity() == [])
    try words.sql("SET session_replication_role = 'replica'", on: foreign)
    for statement in statements { try words.sql(statement, on: foreign) }
    return try store.verifyIntegrity()
  }

  private func expect(_ words: String..., in findings: [String]) {
    #expect(findings.count == words.count, "\(findings)")
    for (word, finding) in zip(words, findings) { #expect(finding.contains(word)) }
  }

  @Test(arguments: [
    ("ALTER TABLE @author DROP COLUMN first_name", "first_name of author is missing"),
    ("ALTER TABLE @author ALTER fee TYPE double precision", "double precision instead of numeric"),
    ("DROP TABLE @book_tags", "Many-to-many relationship"),
    ("DROP TABLE @cairn_sidecar", "The table cairn_sidecar is missing"),
    ("ALTER TABLE @cairn_sidecar DROP CONSTRAINT cairn_sidecar_pkey", "no primary key"),
    ("DROP INDEX @book_unique_isbn13_index", "unique index book_unique_isbn13_index of book"),
    (
      "DELETE FROM @cairn_name WHERE column_name = 'born'",
      "does not say what the column born of author"
    ),
    ("UPDATE @cairn_entity SET name = 'Writer' WHERE name = 'Author'", "entity than Author"),
  ])
  func aStructureThatIsNotTheModelsIsFound(_ statement: String, _ finding: String) throws {
    let findings = try breaking(statement)
    #expect(findings.count == 1 && findings[0].contains(finding), "\(findings)")
  }

  @Test func aKeyThatLeadsNowhereIsFound() throws {
    expect(
      "Author/p1: count", "Author/p99, which does not exist",
      in: try breaking("UPDATE @book SET author_id = 99 WHERE isbn13 = '1'"))
  }

  @Test func anOwnerThatDoesNotExistIsFound() throws {
    expect(
      "Author/p99, an owner of wishes, does not exist",
      in: try breaking("UPDATE @book SET author_wishes_id = 99 WHERE isbn13 = '2'"))
  }

  @Test func aLinkThatLeadsNowhereIsFound() throws {
    expect(
      "Shelf/p98, a link of Book.tags, does not exist",
      in: try breaking("INSERT INTO @book_tags (book_id, shelf_id) VALUES (1, 98)"))
  }

  @Test func anEntityThatTheReferenceDoesNotNameIsFound() throws {
    expect(
      "whose entity is number",
      in: try breaking("UPDATE @author SET favourite_book_id = 1, favourite_book_entity = 77"))
  }

  @Test func aSideThatDoesNotLeadBackIsFound() throws {
    try words.insert("Author", in: store)
    expect(
      "spouse leads to Author/p2, whose spouse leads to nothing",
      in: try breaking("UPDATE @author SET spouse_id = 2 WHERE cairn_id = 1"))
  }

  @Test func rowsThatNoEntityHasAreFound() throws {
    expect(
      "entity number 44", "has the version 0",
      in: try breaking(
        "UPDATE @shelf SET cairn_entity = 44, cairn_version = 0"))
  }

  @Test func valuesThatAreThereTwiceAreFound() throws {
    expect(
      "unique index", "have the same ISBN13",
      in: try breaking(
        "DROP INDEX @book_unique_isbn13_index", "UPDATE @book SET isbn13 = '1'"))
  }

  @Test func aDerivedValueThatIsNotWhatItIsDerivedFromIsFound() throws {
    expect(
      "Author/p1: count", in: try breaking("UPDATE @author SET count = 7"))
  }

  @Test func keysThatWouldBeGivenTwiceAreFound() throws {
    expect(
      "set it with setval",
      in: try breaking("INSERT INTO @shelf (cairn_id) VALUES (1000)"))
  }

  @Test func historyThatIsNotWholeIsFound() throws {
    expect(
      "which does not exist", "has no number", "The sequence of transactions",
      "Shelf/p1 was deleted",
      in: try breaking(
        "INSERT INTO @cairn_change (transaction_key, kind, entity, row_key) VALUES (-1, 1, 1, 1)",
        "INSERT INTO @cairn_transaction (key, number, committed, seconds) "
          + "VALUES (-2, 9999, now(), 0), (-3, NULL, now(), 0)",
        "INSERT INTO @shelf (cairn_id) VALUES (1)"))
  }
}
