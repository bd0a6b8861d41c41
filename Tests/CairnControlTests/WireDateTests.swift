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

  @Test func momentsToTheMillisecondHaveThreeDigits() {
    for millisecond in UInt64(0)..<1000 {
      let moment = WireDate(milliseconds: 1_795_942_744_000 + millisecond)
      let digits = String(1000 + millisecond).dropFirst()
      #expect(WireDate.text(moment.date) == "2026-11-29T08:59:04.\(digits)Z")
      #expect(moment.milliseconds == 1_795_942_744_000 + millisecond)
    }
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

  @Test(arguments: [3e11, -3e11, 1e14, 2_999_999_999_999_999_488, -2_999_999_999_999_999_488])
  func aDateFarAwayComesBack(_ seconds: Double) {
    let date = Date(timeIntervalSinceReferenceDate: seconds)
    #expect(WireDate.text(date).flatMap(WireDate.parse) == date)
  }

  @Test(arguments: [Double.infinity, -Double.infinity, Double.nan, 1e300, -1e300, 9e18])
  func aDateWithoutATextIsHeldAtOneThatHasOne(_ seconds: Double) {
    let date = Date(timeIntervalSinceReferenceDate: seconds)
    #expect(WireDate.text(date) == nil)
    let held = WireDate(date)
    #expect(WireDate.text(held.date) != nil)
    #expect(held.milliseconds <= 1 << 53)
  }

  @Test(arguments: [
    "2026-02-30T00:00:00Z", "2026-13-01T00:00:00Z", "2026-01-01", "x", "2026-01-01T25:00:00Z",
    "", "2026-01-01T00:00:00", "2026-01-01T00:00:00.Z", "2026-01-01T00:00:00Z ",
    " 2026-01-01T00:00:00Z", "2026-1-01T00:00:00Z", "02026-01-01T00:00:00Z",
    "+2026-01-01T00:00:00Z", "2026-01-00T00:00:00Z", "2026-01-01T00:60:00Z",
    "2026-01-01T00:00:61Z", "2026-01-01 00:00:00Z", "2026-01-01T00:00:00+24:00",
    "2026-01-01T00:00:00+01:60", "2026-01-01T00:00:00+0100", "2026-01-01T00:00:00.5",
    "+100000000000-01-01T00:00:00Z", "٢٠٢٦-01-01T00:00:00Z", "2026-01-01T00:00:00.٥Z",
    "2025-02-29T00:00:00Z",
  ])
  func whatIsNoDateIsRefused(_ text: String) {
    #expect(WireDate.parse(text) == nil)
  }

  @Test(arguments: [
    ("2026-01-01t00:00:00z", "2026-01-01T00:00:00.000Z"),
    ("2026-01-01T00:00:60Z", "2026-01-01T00:01:00.000Z"),
    ("+002026-01-01T00:00:00Z", "2026-01-01T00:00:00.000Z"),
    ("-000001-03-01T00:00:00Z", "-000001-03-01T00:00:00.000Z"),
    ("+1234567-03-01T00:00:00Z", "+1234567-03-01T00:00:00.000Z"),
    ("2024-02-29T23:59:59.5-00:30", "2024-03-01T00:29:59.500Z"),
  ])
  func otherFormsOfADateAreRead(_ text: String, same: String) {
    #expect(WireDate.parse(text).flatMap(WireDate.text) == same)
  }

  @Test(arguments: ["1", "12", "123456789012345", "1234567890123456", "99999999999999999999"])
  func aFractionOfAnyLengthIsReadAsTheNearestNumber(_ digits: String) {
    let date = WireDate.parse("2001-01-01T00:00:00.\(digits)Z")
    #expect(date?.timeIntervalSinceReferenceDate == Double("0.\(digits)"))
  }

  @Test func offsetsCount() {
    #expect(
      WireDate.parse("2026-01-01T02:00:00+02:00") == WireDate.parse("2026-01-01T00:00:00.000Z"))
  }
}
