import Foundation

/// How dates are kept: a `timestamp with time zone`, and beside it the exact number where that is rounded.
///
/// Core Data's dates are doubles, seconds since 2001, which are finer than the server's microseconds for centuries
/// around that year. The number beside it counts only where it rounds to the time that is kept, so that a program
/// that changes the time alone is understood.
struct StoredDate: Equatable {
  /// Microseconds since 2000, the server's own; the least and greatest number mean infinity.
  let microseconds: Int64
  /// Seconds since 2001; nil where the microseconds say all.
  let exact: Double?

  /// From 2000 to 2001, which is a leap year.
  private static let offset: Int64 = 366 * 86_400 * 1_000_000
  /// What the server's type holds: 4714 BC to 294276 AD.
  private static let range: Range<Int64> = -211_813_488_000_000_000..<9_223_371_331_200_000_000

  /// - Returns: nil for what is no number, which is NULL.
  init?(_ date: Date) {
    let seconds = date.timeIntervalSinceReferenceDate
    if seconds.isNaN { return nil }
    microseconds = Self.microseconds(of: seconds)
    exact = Self.seconds(of: microseconds).bitPattern == seconds.bitPattern ? nil : seconds
  }

  /// The date that a row means.
  static func date(microseconds: Int64, exact: Double?) -> Date {
    if let exact, !exact.isNaN, Self.microseconds(of: exact) == microseconds {
      return Date(timeIntervalSinceReferenceDate: exact)
    }
    return Date(timeIntervalSinceReferenceDate: seconds(of: microseconds))
  }

  static func microseconds(of seconds: Double) -> Int64 {
    let scaled = (seconds * 1_000_000).rounded(.toNearestOrEven)
    // Converting is exact or fails, infinity included.
    guard let whole = Int64(exactly: scaled) else { return scaled < 0 ? .min : .max }
    let (sum, overflow) = whole.addingReportingOverflow(offset)
    if overflow || sum >= range.upperBound { return .max }
    return sum < range.lowerBound ? .min : sum
  }

  private static func seconds(of microseconds: Int64) -> Double {
    switch microseconds {
    case .min: return -.infinity
    case .max: return .infinity
    default:
      let (since2001, overflow) = microseconds.subtractingReportingOverflow(offset)
      return Double(overflow ? microseconds : since2001) / 1_000_000
    }
  }
}
