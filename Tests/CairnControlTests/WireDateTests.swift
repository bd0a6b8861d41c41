// Dates on the wire.
import CairnControl
import Foundation
import Testing

@Suite struct WireDateTests {
  @Test func datesAreISO8601WithFractionAndZ() {
    #expect(WireDate.text(Date(timeIntervalSince1970: 0)) == "1970-01-01T00:00:00.000Z")
    #expect(
      WireDate.text(Date(timeIntervalSince1970: 951_782_400.25)) == "2000-02-29T00:00:00.250Z")
    #expect(WireDate.text(Date(timeIntervalSince1970: -1)) == "1969-12-31T23:59:59.000Z")
  }

  @Test func everyDateComesBackBitForBit() {
    var generator = SystemRandomNumberGenerator()
    for _ in 0..<2000 {
      let seconds = Double.random(in: -60_000_000_000...60_000_000_000, using: &generator)
      let date = Date(timeIntervalSinceReferenceDate: seconds)
      guard let text = WireDate.text(date), let back = WireDate.parse(text) else {
        Issue.record("no text for \(seconds)")
        continue
      }
      #expect(
        abs(back.timeIntervalSinceReferenceDate - seconds) <= seconds.ulp / 2 + 1e-9, "\(text)")
    }
    let near = Date(timeIntervalSinceReferenceDate: 800_000_000.123_456_7)
    #expect(WireDate.text(near).flatMap(WireDate.parse) == near)
  }

  @Test(arguments: [
    "2026-02-30T00:00:00Z", "2026-13-01T00:00:00Z", "2026-01-01", "x", "2026-01-01T25:00:00Z",
  ])
  func whatIsNoDateIsRefused(_ text: String) {
    #expect(WireDate.parse(text) == nil)
  }

  @Test func offsetsCount() {
    #expect(
      WireDate.parse("2026-01-01T02:00:00+02:00") == WireDate.parse("2026-01-01T00:00:00.000Z"))
  }
}
