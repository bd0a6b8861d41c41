// The page of an entity's rows.
import Cairn
import Foundation
import Testing

@testable import CairnBrowser

@Suite struct RowsPageTests {
  private func titles(_ page: RowsPage) -> [String] {
    guard let column = page.headers.firstIndex(where: { $0.name == "title" }) else { return [] }
    return page.rows.map { $0.values[column].text }
  }

  @Test func rowsComeFiftyAPageWithLinksToTheNextAndThePrevious() async throws {
    let sample = try SampleStore(books: 120)
    let first = try await RowsPage(sample.browsed, entity: "Book", query: .init(sort: "pages"))
    #expect(first.count == "120 rows" && first.rows.count == 50 && first.span == "1 to 50")
    #expect(first.previous == nil && first.next == "/entities/Book?sort=pages&page=2")
    let last = try await RowsPage(
      sample.browsed, entity: "Book", query: .init(sort: "pages", page: 3))
    #expect(last.rows.count == 20 && last.span == "101 to 120")
    #expect(last.previous == "/entities/Book?sort=pages&page=2" && last.next == nil)
    #expect(titles(last).last == "Book 119")
  }

  @Test func aPageBehindTheLastIsEmptyAndLeadsBack() async throws {
    let sample = try SampleStore()
    let page = try await RowsPage(sample.browsed, entity: "Book", query: .init(page: 9))
    #expect(page.isEmpty && page.next == nil && page.previous == "/entities/Book?page=8")
  }

  @Test func aPredicateChoosesAndStaysInTheLinks() async throws {
    let sample = try SampleStore(books: 120)
    let page = try await RowsPage(
      sample.browsed, entity: "Book",
      query: .init(condition: "pages >= 100 AND author.name == 'Ann'"))
    #expect(page.count == "20 rows" && page.problem == nil && page.isFiltered)
    let all = try await RowsPage(
      sample.browsed, entity: "Book", query: .init(condition: "title != ''"))
    #expect(all.next == "/entities/Book?where=title%20%21%3D%20%27%27&page=2")
  }

  @Test(arguments: ["title ==", "nothing == 1", "author.nothing == 1", "FUNCTION('a', 'b') == 1"])
  func aPredicateThatIsNoneSaysWhyAndShowsNoRows(condition: String) async throws {
    let sample = try SampleStore()
    let page = try await RowsPage(
      sample.browsed, entity: "Book", query: .init(condition: condition))
    #expect(page.problem?.isEmpty == false && page.isEmpty)
    #expect(page.condition == condition, "so that it can be mended")
  }

  @Test func headersSortByAttributesTheOtherWayTheSecondTime() async throws {
    let sample = try SampleStore()
    let page = try await RowsPage(sample.browsed, entity: "Book", query: .init(sort: "title"))
    let title = try #require(page.headers.first { $0.name == "title" })
    #expect(title.order == "ascending" && title.sorting == "/entities/Book?sort=-title")
    let author = try #require(page.headers.first { $0.name == "author" })
    #expect(author.order == "none" && author.sorting == nil)
    #expect(titles(page) == ["Book 0", "Book 1", "Book 2"])
    let other = try await RowsPage(sample.browsed, entity: "Book", query: .init(sort: "-title"))
    #expect(titles(other) == ["Book 2", "Book 1", "Book 0"])
  }

  @Test func subentitiesAreAmongTheRowsAndNamed() async throws {
    let sample = try SampleStore()
    let page = try await RowsPage(sample.browsed, entity: "Book", query: .init(sort: "title"))
    #expect(page.rows.map(\.subentity) == ["Novel", nil, nil])
    #expect(page.rows.first?.link.hasPrefix("/records/Novel/p") == true)
    let novels = try await RowsPage(sample.browsed, entity: "Novel", query: .init())
    #expect(novels.superentity == "Book" && novels.superentityLink == "/entities/Book")
    #expect(novels.rows.map(\.subentity) == [nil])
  }

  @Test func anEntityAndAPropertyThatTheModelLacksAreMissing() async throws {
    let sample = try SampleStore()
    await #expect(throws: PageError.self) {
      try await RowsPage(sample.browsed, entity: "Nope", query: .init())
    }
    await #expect(throws: PageError.self) {
      try await RowsPage(sample.browsed, entity: "Book", query: .init(sort: "author"))
    }
  }

  @Test func anotherProgramsWritesAreSeenOnTheNextPage() async throws {
    let sample = try SampleStore()
    let before = try await RowsPage(sample.browsed, entity: "Author", query: .init(sort: "name"))
    #expect(before.rows.count == 2)
    try await sample.write { context in
      let ann = try #require(
        try context.fetch(FetchRequest<ManagedObject>(entityName: "Author")).first {
          $0.value(forKey: "name") as? String == "Ann"
        })
      ann.setValue("Anna", forKey: "name")
      try context.save()
    }
    let after = try await RowsPage(
      sample.browsed, entity: "Author", query: .init(condition: "name == 'Anna'"))
    #expect(after.rows.first?.values.first?.text == "Anna")
  }
}
