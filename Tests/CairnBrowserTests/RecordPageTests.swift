// The page of one record, its bytes and its history.
import Cairn
import Foundation
import Testing

@testable import CairnBrowser

@Suite struct RecordPageTests {
  private let sample: SampleStore

  init() throws { sample = try SampleStore(books: 260) }

  private func author(_ name: String) async throws -> String {
    let page = try await RowsPage(
      sample.browsed, entity: "Author", query: .init(condition: "name BEGINSWITH '\(name)'"))
    return try #require(page.rows.first?.key)
  }

  @Test func aRecordShowsItsValuesAndItsMembersAsLinks() async throws {
    let key = try await author("Ann")
    let page = try await RecordPage(sample.browsed, entity: "Author", key: key)
    #expect(page.title == "Ann" && page.entity == "Author")
    #expect(page.fields.map(\.name) == ["name", "portrait"])
    let books = try #require(page.relationships.first)
    #expect(books.name == "books" && books.count == "260")
    #expect(books.members.count == RecordPage.memberLimit)
    #expect(books.remainder == "The first 200 of 260 are shown.")
    #expect(books.members.allSatisfy { $0.target?.hasPrefix("/records/") == true })
  }

  @Test func aToOneLeadsToTheRecordByItsName() async throws {
    let rows = try await RowsPage(sample.browsed, entity: "Novel", query: .init())
    let page = try await RecordPage(
      sample.browsed, entity: "Novel", key: try #require(rows.rows.first?.key))
    let author = try #require(page.fields.first { $0.name == "author" }?.value)
    #expect(author.text == "Ann")
    let key = try await self.author("Ann")
    #expect(author.target == "/records/Author/\(key)")
  }

  @Test func picturesAreShownAndOtherBytesAreNot() async throws {
    let key = try await author("Ann")
    let page = try await RecordPage(sample.browsed, entity: "Author", key: key)
    let portrait = try #require(page.fields.first { $0.name == "portrait" }?.value)
    #expect(portrait.picture == "/records/Author/\(key)/portrait")
    #expect(portrait.picture == portrait.target)
    let bytes = try await AttributeBytes(
      sample.browsed, entity: "Author", key: key, attribute: "portrait")
    #expect(bytes.data == SampleStore.picture && bytes.picture == .png)
    await #expect(throws: PageError.self) {
      try await AttributeBytes(sample.browsed, entity: "Author", key: key, attribute: "name")
    }
  }

  @Test func aRecordThatIsNotThereIsMissing() async throws {
    for (entity, key) in [
      ("Author", "p99"), ("Author", "x"), ("Nope", "p1"), ("Book", "p0"), ("Author", ""),
    ] {
      await #expect(throws: PageError.self, "\(entity) \(key)") {
        try await RecordPage(sample.browsed, entity: entity, key: key)
      }
    }
  }

  @Test func theHistoryOfARecordNamesAuthorAndKind() async throws {
    let key = try await author("Ann")
    let page = try await ChangesPage(sample.browsed, entity: "Author", key: key)
    #expect(page.changes.map(\.kind) == ["inserted"])
    #expect(page.changes.first?.author == "importer")
    #expect(page.record == "/records/Author/\(key)")
  }

  @Test func theHistoryOfTheStoreShowsTransactionsWithLinks() async throws {
    let page = try await HistoryPage(sample.browsed, before: nil)
    let transaction = try #require(page.transactions.first)
    #expect(page.transactions.count == 1 && page.older == nil)
    #expect(transaction.origin.contains("by importer"))
    #expect(transaction.changes.count == HistoryPage.changeLimit)
    #expect(transaction.remainder == "The first 20 of 262 changes are shown.")
    // Nothing keeps a browser from asking so.
    _ = try await HistoryPage(sample.browsed, before: .min)
    let older = try await HistoryPage(sample.browsed, before: 1)
    #expect(older.isEmpty)
  }
}

@Suite struct HistoryWindowTests {
  @Test func olderTransactionsComeInFurtherPagesAlsoAfterAPurge() async throws {
    let sample = try SampleStore(books: 0)
    try await sample.write { context in
      let author = try #require(
        try context.fetch(FetchRequest<ManagedObject>(entityName: "Author")).first)
      for round in 0..<119 {
        author.setValue("Name \(round)", forKey: "name")
        try context.save()
      }
    }
    var numbers: [[String]] = []
    var before: Int64?
    for _ in 0..<5 {
      let page = try await HistoryPage(sample.browsed, before: before)
      numbers.append(page.transactions.map(\.number))
      guard let older = page.older else { break }
      before = Int64(older.split(separator: "=")[1])
    }
    let everyNumber = (1...120).reversed().map { "\($0)" }
    #expect(numbers.flatMap { $0 } == everyNumber)
    #expect(numbers.map(\.count) == [50, 50, 20])

    try await sample.write { context in
      let request = PersistentHistoryChangeRequest.fetchHistory(
        after: nil as PersistentHistoryToken?)
      let result = try context.execute(request) as? PersistentHistoryResult
      let all = result?.result as? [PersistentHistoryTransaction] ?? []
      try context.execute(PersistentHistoryChangeRequest.deleteHistory(before: all[99]))
    }
    let first = try await HistoryPage(sample.browsed, before: nil)
    let kept = (100...120).reversed().map { "\($0)" }
    #expect(first.transactions.map(\.number) == kept)
    #expect(first.older == nil)
  }
}
