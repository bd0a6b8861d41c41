// IDs in what leaves the machine.
import Testing

@testable import CairnDaemon

@Suite struct IDMaskingTests {
  private let id = "01900C5A-77B2-7C3D-9F00-0123456789ab"

  @Test func anIDIsTheSameNameWithinABundleAndAnotherInTheNext() throws {
    let (masking, next) = (IDMasking(), IDMasking())
    let text = masking.masked("first Item \(id): name is missing; \(id.lowercased())")
    let name = try #require(text.firstMatch(of: /id-[0-9a-z]+/)).output
    #expect(text == "first Item \(name): name is missing; \(name)")
    #expect(next.masked(id) != masking.masked(id))
  }

  @Test func whatIsNoIDStays() {
    let text = "transaction 12345678, 2026-11-28, {\"count\": 3}"
    #expect(IDMasking().masked(text) == text)
  }
}
