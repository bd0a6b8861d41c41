// Derived attributes and declared indexes, whichever program writes.

import CairnModel
import CairnPredicates
import TestSupport
@_spi(Stores) import CairnStore
import CairnTesting
import Foundation
import TestServers
import Testing

@testable import CairnPostgreSQL

@Suite(.needsServer) struct DerivedAttributeTests {
  let words: StoreWords
  let other: PostgreSQLConnection

  init() throws {
    words = try StoreWords()
    other = try words.foreign()
  }

  static func model() throws -> ManagedObjectModel {
    try LibraryModel.make { entities in
      let (author, book, shelf) = (entities["Author"], entities["Book"], entities["Shelf"])
      author?.properties += [
        DerivedAttributeDescription("bookTotal", .integer64, from: "books.@count"),
        DerivedAttributeDescription("folded", .string, from: "canonical:(firstName)"),
        DerivedAttributeDescription("lastPublished", .date, from: "books.published.@max"),
        DerivedAttributeDescription("pages", .integer64, from: "books.pages.@sum"),
        DerivedAttributeDescription("touched", .date, from: "now()"),
        DerivedAttributeDescription("birth", .date, from: "born"),
      ]
      book?.properties += [
        LibraryModel.attribute("pages", .integer32), LibraryModel.attribute("published", .date),
        DerivedAttributeDescription("writer", .string, from: "author.firstName"),
        DerivedAttributeDescription("tagCount", .integer32, from: "tags.@count"),
      ]
      shelf?.properties += [
        DerivedAttributeDescription("tagPages", .double, from: "tagged.pages.@avg")
      ]
    }.model
  }

  private func value(
    _ name: String, of row: RowSnapshot, in store: PostgreSQLStore
  ) throws -> AttributeValue? {
    let found = try #require(try store.snapshots(for: [row.objectID])[0])
    return found[try #require(row.objectID.entity.layout.slotByName[name])]
  }

  private static let day = Date(timeIntervalSinceReferenceDate: 86_400.123_456_789)

  @Test func theyFollowWhatASaveWrites() throws {
    let store = try words.open(model: Self.model())
    let author = try words.row("Author", ["firstName": .string("\u{c9}va")], in: store)
    let books = try (1...3).map { number in
      try words.row(
        number == 1 ? "AudioBook" : "Book",
        [
          "author": .object(author.objectID), "pages": .integer(Int64(number) * 100),
          "published": number == 2 ? .date(Self.day) : .null,
        ], in: store)
    }
    let receipt = try words.save(in: store) {
      $0.insertions = (books + [author]).map { .init(snapshot: $0) }
    }
    let stored = try #require(receipt.snapshots.last)
    func told(_ name: String) throws -> AttributeValue? {
      stored[try #require(stored.objectID.entity.layout.slotByName[name])]
    }
    #expect(try told("bookTotal") == .integer(3) && told("pages") == .integer(600))
    #expect(try told("folded") == .string("eva"))
    // To the last bit, though a column of the server has it rounded.
    #expect(try told("lastPublished") == .date(Self.day))
    for book in books { #expect(try value("writer", of: book, in: store) == .string("\u{c9}va")) }
    // Through what changes: the key, the value, a deletion.
    try words.save(in: store) {
      $0.updates = [
        try words.change(receipt.snapshots[0], ["author": .null]),
        try words.change(stored, ["firstName": .string("Zo\u{eb}")]),
      ]
      $0.deletions = [.init(snapshot: receipt.snapshots[1])]
    }
    #expect(try value("bookTotal", of: author, in: store) == .integer(1))
    #expect(try value("pages", of: author, in: store) == .integer(300))
    #expect(try value("lastPublished", of: author, in: store) == .null)
    #expect(try value("folded", of: author, in: store) == .string("zoe"))
    #expect(try value("writer", of: books[0], in: store) == .null)
    #expect(try value("writer", of: books[2], in: store) == .string("Zo\u{eb}"))
  }

  @Test func theyFollowManyToManyLinks() throws {
    let store = try words.open(model: Self.model())
    let book = try words.insert("Book", ["pages": .integer(10)], in: store)
    let second = try words.insert("Book", ["pages": .integer(30)], in: store)
    let shelf = try words.insert("Shelf", in: store)
    let tags = try #require(book.objectID.entity.relationshipsByName["tags"])
    try words.save(in: store) {
      $0.links = [book, second].map {
        .init(relationship: tags, owner: $0.objectID, added: [shelf.objectID])
      }
    }
    #expect(try value("tagCount", of: book, in: store) == .integer(1))
    #expect(try value("tagPages", of: shelf, in: store) == .double(20))
    try words.sql("UPDATE @book SET pages = 50 WHERE cairn_id = \(second.rowKey ?? 0)", on: other)
    #expect(try value("tagPages", of: shelf, in: store) == .double(30))
    try words.sql("DELETE FROM @book_tags WHERE book_id = \(book.rowKey ?? 0)", on: other)
    #expect(try value("tagPages", of: shelf, in: store) == .double(50))
    #expect(try value("tagCount", of: book, in: store) == .integer(0))
  }

  @Test func plainSQLSeesThemToo() throws {
    let store = try words.openRecording(model: Self.model(), capturing: true)
    try words.sql("INSERT INTO @author (first_name, born) VALUES ('Ann', 'epoch')", on: other)
    try words.sql(
      "INSERT INTO @book (cairn_entity, author_id, pages) SELECT number, 1, 7 FROM @cairn_entity "
        + "WHERE name = 'Book'", on: other)
    let rows = try words.sql(
      "SELECT book_total, a.pages, birth = born, touched > now() - interval '1 hour', writer, "
        + "a.cairn_version FROM @author a JOIN @book b ON true", on: other)
    #expect(rows.integer(0, 0) == 1 && rows.integer(0, 1) == 7)
    #expect(rows.flag(0, 2) == true && rows.flag(0, 3) == true && rows.text(0, 4) == "Ann")
    // What is derived is no change of the object.
    #expect(rows.integer(0, 5) == 1)
    #expect(try words.changes(in: store).map(\.kind) == [.insert, .insert])
  }

  @Test func ofTwoThatCountAtTheSameTimeTheSecondWaitsForTheFirst() async throws {
    let store = try words.open(model: Self.model())
    let author = try words.insert("Author", in: store)
    let stores = try (0..<3).map { _ in try words.open(model: Self.model()) }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for store in stores {
        group.addTask {
          for _ in 0..<15 {
            try words.insert("Book", ["author": .object(author.objectID)], in: store)
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(try value("bookTotal", of: author, in: store) == .integer(45))
  }

  @Test func indexesThatAModelDeclaresAreMade() throws {
    let model = try LibraryModel.make { entities in
      guard let book = entities["Book"],
        let title = book.attributesByName["title"], let isbn = book.attributesByName["ISBN13"]
      else { return }
      let elements = [
        FetchIndexElementDescription(property: title, collationType: .binary),
        FetchIndexElementDescription(property: isbn, collationType: .binary),
      ]
      elements[1].isAscending = false
      let index = FetchIndexDescription(name: "byTitle", elements: elements)
      index.partialIndexPredicate = ObjectPredicate(format: "title != %@", argumentArray: ["it's"])
      book.indexes = [index]
    }.model
    _ = try words.open(model: model)
    let rows = try words.sql(
      "SELECT indexdef FROM pg_indexes WHERE schemaname = '\(words.schema)' AND indexname LIKE 'book_by_title%'",
      on: other)
    let text = try #require(rows.text(0, 0))
    #expect(text.contains("(title NULLS FIRST, isbn13 DESC NULLS LAST)"))
    #expect(text.contains("WHERE (title <> 'it''s'::text)"))
  }
}
