// What history records of saves, beside what every store's history does.

import CairnModel
import TestSupport
@_spi(Stores) import CairnStore
import Foundation
import TestServers
import Testing

@testable import CairnPostgreSQL

@Suite(.needsServer) struct HistoryTests {
  let words: StoreWords

  init() throws { words = try StoreWords() }

  @Test func aStoreKeepsHistoryFromWhenItIsAskedTo() throws {
    let before = try words.open()
    try words.insert("Shelf", in: before)
    #expect(try before.readHistory(HistoryReadRequest()).isEmpty)
    let after = try words.openRecording()
    // The one that was open finds out when it saves next.
    let receipt = try words.save(in: before) {
      $0.insertions = [.init(snapshot: try words.row("Shelf", in: before))]
    }
    #expect(receipt.transactionNumber == 1)
    try after.close()
    let again = try words.open()
    try words.insert("Shelf", in: again)
    #expect(try again.readHistory(HistoryReadRequest()).map(\.number) == [1, 2])
  }

  @Test func eachKindOfChangeIsRecordedInTheOrderOfTheRequest() throws {
    let store = try words.openRecording()
    let author = try words.insert("Author", ["firstName": .string("Ann")], in: store)
    let gone = try words.insert("Book", in: store)
    let book = try words.row("AudioBook", ["author": .object(author.objectID)], in: store)
    let books = try #require(
      author.objectID.entity.layout.toManys.firstIndex { $0.name == "books" })
    let receipt = try words.save(in: store) {
      $0.deletions = [.init(snapshot: gone)]
      $0.updates = [
        try words.change(
          author, ["firstName": .string("Bea"), "born": .date(Date())], toManys: [books])
      ]
      $0.insertions = [.init(snapshot: book)]
      $0.author = "importer\0"
    }
    #expect(receipt.transactionNumber == 3)
    let last = try #require(try store.readHistory(HistoryReadRequest(after: 2)).first)
    #expect(last.author == "importer\0" && last.number == 3)
    #expect(last.changes.map(\.kind) == [.delete, .update, .insert])
    #expect(last.changes.map(\.objectID) == [gone.objectID, author.objectID, book.objectID])
    #expect(last.changes.map(\.changedProperties) == [nil, ["firstName", "born", "books"], nil])
    let numbers = try words.changes(in: store).map(\.number)
    #expect(numbers == numbers.sorted() && Set(numbers).count == 5)
  }

  @Test func whatOverwritesIsRecordedAsWhatItDid() throws {
    let store = try words.openRecording()
    let kept = try words.insert("Shelf", ["place": .string("north")], in: store)
    let gone = try words.insert("Shelf", ["place": .string("south")], in: store)
    try words.save(in: store) { $0.deletions = [.init(snapshot: gone)] }
    try words.save(in: store) {
      $0.updates = [
        try words.change(kept, ["place": .string("x")], overwrites: true),
        try words.change(gone, ["place": .string("y")], overwrites: true),
      ]
    }
    let changes = try words.changes(in: store, after: 3)
    #expect(changes.map(\.kind) == [.update, .insert])
    #expect(changes.map(\.changedProperties) == [["place"], nil])
    // A row that is not there is not deleted.
    try words.save(in: store) {
      $0.deletions = [.init(snapshot: gone, overwritesConflicts: true)]
    }
    let receipt = try words.save(in: store) {
      $0.deletions = [.init(snapshot: gone, overwritesConflicts: true)]
    }
    #expect(receipt.transactionNumber == nil)
    #expect(try words.changes(in: store, after: 4).map(\.kind) == [.delete])
  }

  @Test func deletedObjectsLeaveTheirValuesExactly() throws {
    let model = try LibraryModel.make { entities in
      for attribute in entities["Author"]?.attributesByName.values.map({ $0 }) ?? [] {
        attribute.preservesValueInHistoryOnDeletion = true
      }
    }.model
    let store = try words.openRecording(model: model)
    let values: [String: AttributeValue] = [
      "firstName": .string("Ann\0\u{1}\u{2} \"'\\ \u{1F600}"),
      "homepageURL": .url(try #require(URL(string: "https://example.org/?a=%20"))),
      "born": .date(Date(timeIntervalSinceReferenceDate: -0.123_456_789_123)),
      "fee": .decimal(try #require(Decimal(string: "12345678901234567890.0123456789"))),
      "active": .boolean(true), "weight": .float(0.1), "rating": .double(-.infinity),
      "portrait": .data(Data([0, 1, 255])), "id": .uuid(UUID()), "bookCount": .integer(.min),
    ]
    let full = try words.insert("Author", values, in: store)
    let empty = try words.insert("Author", in: store)
    try words.save(in: store) { $0.deletions = [.init(snapshot: full), .init(snapshot: empty)] }
    let changes = try words.changes(in: store, after: 2)
    #expect(changes.map(\.tombstone) == [values, [:]])
  }

  @Test func nothingIsRecordedOfWhatWasNotSaved() throws {
    let store = try words.openRecording()
    let book = try words.insert("Book", ["ISBN13": .string("1")], in: store)
    _ = try store.save(
      {
        var request = SaveChangesRequest()
        request.insertions = [
          .init(snapshot: try words.row("Book", ["ISBN13": .string("1")], in: store))
        ]
        return request
      }())
    try words.save(in: store) { $0.updates = [try words.change(book, ["title": .string("a")])] }
    _ = try store.save(
      {
        var request = SaveChangesRequest()
        request.updates = [try words.change(book, ["title": .string("b")])]
        return request
      }())
    #expect(try words.changes(in: store).map(\.kind) == [.insert, .update])
    // What was refused took numbers of the server's sequences, and none of a transaction.
    #expect(try store.readHistory(HistoryReadRequest()).map(\.number) == [1, 2])
    let left = try words.sql(
      "SELECT count(*) FROM @cairn_change WHERE transaction_key NOT IN (SELECT key FROM @cairn_transaction)",
      on: try words.foreign())
    #expect(left.integer(0, 0) == 0)
  }

  @Test func aPurgeByDateAndThePositionsBeforeIt() throws {
    let store = try words.openRecording()
    for day in 0..<4 {
      try words.save(in: store) {
        $0.insertions = [.init(snapshot: try words.row("Shelf", in: store))]
        $0.date = Date(timeIntervalSinceReferenceDate: Double(day) * 86_400)
      }
    }
    let later = HistoryReadRequest(afterDate: Date(timeIntervalSinceReferenceDate: 86_400))
    #expect(try store.readHistory(later).map(\.number) == [3, 4])
    let second = Date(timeIntervalSinceReferenceDate: 2 * 86_400)
    #expect(try store.purgeHistory(before: nil, date: second) == 2)
    #expect(try store.readHistory(HistoryReadRequest(after: 2)).map(\.number) == [3, 4])
    for position in [Int64(1), 5] {
      let error = #expect(throws: CoreDataError.self) {
        try store.readHistory(HistoryReadRequest(after: position))
      }
      #expect(error?.code == .persistentHistoryTokenExpired)
    }
    #expect(try store.purgeHistory(before: nil, date: Date()) == 2)
    #expect(try store.lastTransactionNumber() == 4)
    #expect(try store.readHistory(HistoryReadRequest(after: 4)).isEmpty)
    try words.insert("Shelf", in: store)
    #expect(try store.readHistory(HistoryReadRequest(after: 4)).map(\.number) == [5])
  }

  @Test func aReadOnlyStoreKeepsWhatThereIs() throws {
    let store = try words.openRecording()
    try words.insert("Shelf", in: store)
    let reader = try words.open([StoreOptionKey.readOnly: true])
    #expect(try reader.readHistory(HistoryReadRequest()).count == 1)
    #expect(throws: CoreDataError.self) { try reader.purgeHistory(before: .max, date: nil) }
  }
}
