// Dates on the wire: ISO 8601 in UTC with a fraction and a Z.
import Foundation

/// A moment as the wire carries it, `2026-03-14T15:09:26.535Z`.
///
/// The fraction has three to nine digits, as many as it takes to read back the same moment. A date comes out of a
/// file or a clock, where it can be anything: one that has no text is held at the first or last that has.
public struct WireDate: Sendable, Hashable, Codable, Comparable {
  /// The moment; it always has a text.
  public let date: Date

  /// Wraps a moment: the nearest that has a text, 2001 for none.
  public init(_ date: Date) {
    let seconds = date.timeIntervalSinceReferenceDate
    guard !Self.hasText(seconds) else {
      self.date = date
      return
    }
    let limit = Self.textLimit.nextDown
    self.date = Date(
      timeIntervalSinceReferenceDate: seconds.isNaN ? 0 : max(-limit, min(limit, seconds)))
  }

  /// - Parameter milliseconds: Since 1970.
  public init(milliseconds: UInt64) {
    // `Date` counts from 2001: by way of seconds since 1970 it would not be what its text with three digits reads as.
    let since2001 = Double(milliseconds) - Double(Self.secondsFrom1970To2001 * 1000)
    self.init(Date(timeIntervalSinceReferenceDate: since2001 / 1000))
  }

  /// Milliseconds since 1970; 0 for earlier dates, and the last that a double holds exactly for later ones.
  public var milliseconds: UInt64 {
    UInt64(min(max(0, (date.timeIntervalSince1970 * 1000).rounded()), 0x1p53))
  }

  /// This moment, to the millisecond.
  public static var now: WireDate { WireDate(milliseconds: WireDate(Date()).milliseconds) }

  public static func < (left: WireDate, right: WireDate) -> Bool { left.date < right.date }

  /// Seconds from 2001 within which dates have a text: their years have at most eleven digits.
  private static let textLimit = 3e18

  private static func hasText(_ seconds: Double) -> Bool { seconds.magnitude < textLimit }

  /// The text form; nil for a date that is not finite or 95 thousand million years away.
  public static func text(_ date: Date) -> String? {
    let seconds = date.timeIntervalSinceReferenceDate
    guard hasText(seconds) else { return nil }
    var whole = seconds.rounded(.down)
    var nanoseconds = Int64(((seconds - whole) * 1e9).rounded())
    if nanoseconds == 1_000_000_000 {
      whole += 1
      nanoseconds = 0
    }
    let total = Int64(whole) + secondsFrom1970To2001
    let day = (total >= 0 ? total : total - 86399) / 86400
    let inDay = total - day * 86400
    let (year, month, monthDay) = civil(fromDay: day)
    let fraction = shortestFraction(nanoseconds, of: seconds, whole: whole)
    let yearText =
      (0...9999).contains(year)
      ? padded(year, 4) : (year < 0 ? "-" : "+") + padded(abs(year), 6)
    return
      "\(yearText)-\(padded(month, 2))-\(padded(monthDay, 2))T"
      + "\(padded(inDay / 3600, 2)):\(padded(inDay / 60 % 60, 2)):\(padded(inDay % 60, 2))"
      + ".\(fraction)Z"
  }

  /// Reads the text form; the fraction may be missing or have any number of digits.
  public static func parse(_ text: String) -> Date? {
    var text = text
    guard let parts = text.withUTF8({ DateParts(scanning: ByteView($0)) }) else { return nil }
    let dayNumber = day(year: parts.year, month: parts.month, day: parts.day)
    let back = civil(fromDay: dayNumber)
    // A day that the month does not have.
    guard back.month == parts.month, back.day == parts.day else { return nil }
    let total = dayNumber * 86400 + parts.secondOfDay - parts.offset - secondsFrom1970To2001
    return Date(timeIntervalSinceReferenceDate: Double(total) + parts.fraction)
  }

  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    let text = try container.decode(String.self)
    guard let date = Self.parse(text) else {
      throw DecodingError.dataCorruptedError(
        in: container, debugDescription: "a date like 2026-03-14T15:09:26.535Z is wanted")
    }
    self.init(date)
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    guard let text = Self.text(date) else {
      throw EncodingError.invalidValue(
        date, .init(codingPath: encoder.codingPath, debugDescription: "the date is out of range"))
    }
    try container.encode(text)
  }

  /// The fewest digits, from three to nine, that read back as the same moment.
  private static func shortestFraction(
    _ nanoseconds: Int64, of seconds: Double, whole: Double
  ) -> String {
    for (digits, unit) in [(3, 1_000_000), (6, 1000)] as [(Int, Int64)] {
      let rounded = (nanoseconds + unit / 2) / unit
      let text = padded(rounded, digits)
      if text.count == digits, let fraction = Double("0.\(text)"), whole + fraction == seconds {
        return text
      }
    }
    return padded(nanoseconds, 9)
  }

  private static let secondsFrom1970To2001: Int64 = 978_307_200

  private static func padded(_ value: Int64, _ width: Int) -> String {
    let digits = String(value)
    return String(repeating: "0", count: max(0, width - digits.count)) + digits
  }

  // Days since 1970 in the proleptic Gregorian calendar, whose years are counted from March here
  // so that the leap day comes last.
  private static func day(year: Int64, month: Int64, day: Int64) -> Int64 {
    let shifted = month <= 2 ? year - 1 : year
    let era = (shifted >= 0 ? shifted : shifted - 399) / 400
    let yearOfEra = shifted - era * 400
    let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
    let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    return era * 146097 + dayOfEra - 719468
  }

  private static func civil(fromDay number: Int64) -> (year: Int64, month: Int64, day: Int64) {
    let shifted = number + 719468
    let era = (shifted >= 0 ? shifted : shifted - 146096) / 146097
    let dayOfEra = shifted - era * 146097
    let yearOfEra =
      (dayOfEra - dayOfEra / 1460 + dayOfEra / 36524 - dayOfEra / 146096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shiftedMonth = (5 * dayOfYear + 2) / 153
    let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
    return (
      yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month,
      dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
    )
  }
}
