// A table takes rows of its own entities alone, from SQL and from stores.

import CairnModel
import TestSupport
@_spi(Stores) import CairnStore
import Foundation
import TestServers
import Testing

@testable import CairnPostgreSQL

@Suite(.needsServer) struct EntityCheckTests {
  let words: StoreWords
  let other: PostgreSQLConnection

  init() throws {
    words = try StoreWords()
    other = try words.foreign()
  }

  /// - Parameter entity: What SQL gives as the entity's number.
  private func insert(_ entity: String, into table: String) throws {
    try words.sql("INSERT INTO @\(table) (cairn_entity) VALUES (\(entity))", on: other)
  }

  private func number(_ name: String) -> String {
    "(SELECT number FROM @cairn_entity WHERE name = '\(name)')"
  }

  private func expectRefusal(of entity: String, in table: String) {
    let failure = #expect(throws: PostgreSQLFailure.self) { try insert(entity, into: table) }
    #expect(failure?.state == .checkViolation)
  }

  @Test func rowsOfOtherEntitiesAreRefused() throws {
    _ = try words.open()
    for name in ["Book", "AudioBook"] { try insert(number(name), into: "book") }
    try insert(number("Shelf"), into: "shelf")
    expectRefusal(of: "99", in: "shelf")
    expectRefusal(of: number("Book"), in: "shelf")
    expectRefusal(of: number("Shelf"), in: "book")
  }

  @Test func aMigrationLetsRowsOfNewSubentitiesIn() throws {
    func model(subentities: String...) throws -> ManagedObjectModel {
      let book = EntityDescription(
        name: "Book", properties: [LibraryModel.attribute("title", .string)])
      book.subentities = subentities.map { EntityDescription(name: $0) }
      return try LibraryModel.model(of: [book] + book.subentities)
    }
    let (old, new) = (try model(subentities: "AudioBook"), try model(subentities: "PaperBook"))
    try words.open(model: old).close()
    try insert(number("AudioBook"), into: "book")
    try PostgreSQLStore.migrateInPlace(
      at: try #require(words.server.storeURL(words.schema)), from: old, to: new,
      options: StoreOptions([:]))
    let store = try words.open(model: new)
    try insert(number("PaperBook"), into: "book")
    expectRefusal(of: "99", in: "book")
    #expect(try store.verifyIntegrity() == [])
  }

  @Test func aStoreWithoutTheCheckGetsItWhenItIsOpened() throws {
    try words.open().close()
    try words.sql("ALTER TABLE @shelf DROP CONSTRAINT cairn_entity_of_table", on: other)
    // It does not keep the store from being opened.
    try insert("99", into: "shelf")
    let store = try words.open()
    expectRefusal(of: "98", in: "shelf")
    let findings = try store.verifyIntegrity()
    #expect(findings.count == 1 && findings[0].contains("entity number 99"), "\(findings)")
  }
}
