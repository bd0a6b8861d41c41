// The first page, and the page that checks the file.
import Cairn
import CairnRecords
import CairnStore
import Foundation
import Testing

@testable import CairnBrowser

@Suite struct OverviewPageTests {
  @Test func theOverviewCountsRowsWithThoseOfSubentities() async throws {
    let sample = try SampleStore()
    let page = try await OverviewPage(sample.browsed)
    #expect(page.entities.map(\.name) == ["Author", "Book", "Novel"])
    #expect(page.entities.map(\.count) == ["2", "3", "1"])
    #expect(page.facts.contains { $0.name == "History" && $0.value.hasPrefix("1 transaction") })
    #expect(page.diagram.contains("href=\"/entities/Book\""))
  }

  @Test func aFileThatIsWholeIsSaidToBe() async throws {
    let sample = try SampleStore()
    let page = try await CheckPage(sample.browsed)
    #expect(page.isGood && !page.isDamaged && page.findings.isEmpty)
  }

  @Test func aStoreWithoutHistorySaysSo() async throws {
    let sample = try SampleStore(keepsHistory: false)
    let page = try await OverviewPage(sample.browsed)
    #expect(page.facts.contains { $0.name == "History" && $0.value == "not kept" })
    #expect(!page.hasHistory)
  }

  @Test func nothingIsWrittenIntoTheFolder() async throws {
    let sample = try SampleStore()
    let before = try Data(contentsOf: sample.url)
    _ = try await OverviewPage(sample.browsed)
    _ = try await RowsPage(sample.browsed, entity: "Book", query: .init(condition: "pages > 0"))
    _ = try await CheckPage(sample.browsed)
    #expect(try Data(contentsOf: sample.url) == before)
  }
}
