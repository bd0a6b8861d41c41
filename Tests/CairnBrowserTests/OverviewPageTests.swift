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

@Suite struct ListenAddressTests {
  @Test func portsAndLoopbackAddressesAreTaken() throws {
    #expect(try ListenAddress("8080") == .loopback(host: "127.0.0.1", port: 8080))
    #expect(try ListenAddress("127.0.0.1:0") == .loopback(host: "127.0.0.1", port: 0))
    #expect(try ListenAddress("localhost:80") == .loopback(host: "127.0.0.1", port: 80))
    #expect(try ListenAddress("[::1]:80") == .loopback(host: "::1", port: 80))
    #expect(try ListenAddress("/run/x") == .socket(path: "/run/x"))
    #expect(try ListenAddress("unix:/run/x") == .socket(path: "/run/x"))
  }

  @Test(arguments: [
    "0.0.0.0:80", "192.168.1.1:80", "[::]:80", "example.org:80", "70000", "-1", "", "127.0.0.1:",
    "unix:relative", "/" + String(repeating: "x", count: 110),
  ])
  func otherAddressesAreRefused(text: String) {
    #expect(throws: ListenAddressError.self) { try ListenAddress(text) }
  }
}

@Suite struct FormQueryTests {
  @Test func valuesAreDecodedAsFormsEncodeThem() {
    let query = FormQuery("where=name+%3D%3D+'a%2Bb'&sort=-name&empty=&flag&page=2&page=3")
    #expect(query["where"] == "name == 'a+b'")
    #expect(query["sort"] == "-name" && query["empty"] == "" && query["flag"] == nil)
    #expect(query["page"] == "3")
    #expect(FormQuery(nil)["where"] == nil && FormQuery("a=%FF")["a"] == nil)
  }
}
