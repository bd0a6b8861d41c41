import CairnModel
import CairnSQL
import Foundation

/// The two columns of a date in a statement; see ``StoredDate``.
///
/// The time of a column never comes before that of an earlier date, so that the time decides first, by its index; only
/// where it is the one that a constant rounds to does the exact number matter, and there its range is known.
struct DateForm {
  let time: String
  let exact: String

  init(time: String, exact: String) {
    self.time = time
    self.exact = exact
  }

  /// - Returns: nil for a term that is computed.
  init?(_ term: SQLTerm) {
    guard term.kind == .date, term.parts.count == 2 else { return nil }
    self.init(time: term.parts[0].sql, exact: term.parts[1].sql)
  }

  var term: SQLTerm {
    var term = SQLTerm(SQLFragment(seconds), .date)
    term.parts = [SQLFragment(time), SQLFragment(exact)]
    return term
  }

  /// Compares the date with seconds since 2001.
  func compare(_ relation: NumberRelation, _ seconds: Double) -> SQLFragment {
    let date = Date(timeIntervalSinceReferenceDate: seconds)
    // A constant is a number: NaN is null.
    guard let stored = StoredDate(date) else { return SQLFragment("FALSE") }
    let rounded = StoredDate.date(microseconds: stored.microseconds, exact: nil)
      .timeIntervalSinceReferenceDate
    let range = StoredDate.seconds(roundedTo: stored.microseconds)
    let time = SQLFragment(self.time)
    func at(_ sign: String) -> SQLFragment { time + " \(sign) " + .parameter(.date(date)) }
    func exact(_ sign: String, _ number: Double) -> SQLFragment {
      SQLFragment("\(self.exact) \(sign) ?", [.double(number)])
    }
    let isMissing = SQLFragment("\(self.exact) IS NULL")
    switch relation {
    case .equal:
      guard rounded == seconds else { return "(" + at("=") + " AND " + exact("=", seconds) + ")" }
      let others: [SQLFragment] = [
        isMissing, exact("=", seconds), exact("<", range.lowerBound), exact(">", range.upperBound),
      ]
      return "(" + at("=") + " AND (" + .joined(others, by: " OR ") + "))"
    case .unequal: return "(" + compare(.equal, seconds) + ") IS NOT TRUE"
    case .less, .lessOrEqual:
      let isRounded = relation == .less ? rounded < seconds : rounded <= seconds
      let decided: SQLFragment =
        isRounded
        ? isMissing + " OR " + exact(relation.sign, seconds) + " OR "
          + exact(">", range.upperBound)
        : exact(">=", range.lowerBound) + " AND " + exact(relation.sign, seconds)
      return "(" + at("<=") + " AND (" + at("<") + " OR " + decided + "))"
    case .greater, .greaterOrEqual:
      let isRounded = relation == .greater ? rounded > seconds : rounded >= seconds
      let decided: SQLFragment =
        isRounded
        ? isMissing + " OR " + exact(relation.sign, seconds) + " OR "
          + exact("<", range.lowerBound)
        : exact(relation.sign, seconds) + " AND " + exact("<=", range.upperBound)
      return "(" + at(">=") + " AND (" + at(">") + " OR " + decided + "))"
    }
  }

  // MARK: Computing

  /// What ``StoredDate/date(microseconds:exact:)`` gives, as seconds since 2001, digit by digit.
  private var seconds: String {
    let (past, future) = (Self.ends.past, Self.ends.future)
    // Microseconds since 2001; the parts of a time are whole numbers, which doubles hold.
    let whole =
      "(date_part('epoch', date_trunc('minute', \(time)))::bigint * 1000000 "
      + "+ date_part('microseconds', \(time))::bigint - 978307200000000)"
    let rounded = "\(whole)::double precision / 1000000"
    return
      "(CASE WHEN \(time) = 'infinity' THEN CASE WHEN \(exact) BETWEEN \(future) AND 'infinity' "
      + "THEN \(exact) ELSE 'infinity' END "
      + "WHEN \(time) = '-infinity' THEN CASE WHEN \(exact) <= \(past) "
      + "THEN \(exact) ELSE '-infinity' END "
      // Only so far can the server multiply and round; a NaN is greater than all.
      + "WHEN \(exact) IS NULL OR abs(\(exact)) > 9223372036854 THEN \(rounded) "
      + "WHEN round(\(exact) * 1000000)::bigint = \(whole) THEN \(exact) ELSE \(rounded) END)"
  }

  /// The last seconds before all times, and the first behind them.
  private static let ends = (
    past: StoredDate.seconds(roundedTo: .min).upperBound,
    future: StoredDate.seconds(roundedTo: .max).lowerBound
  )
}

extension StoredDate {
  /// All seconds since 2001 that are kept as a time.
  static func seconds(roundedTo microseconds: Int64) -> ClosedRange<Double> {
    // The least number whose time is not before, and the greatest whose time is not behind: rounding keeps the order.
    func first(_ isFound: (Double) -> Bool) -> Double {
      var (low, high) = (Double.infinity.negated.rank, Double.infinity.rank)
      while low < high {
        let middle = low + Int64((UInt64(bitPattern: high &- low)) / 2)
        if isFound(Double(rank: middle)) { high = middle } else { low = middle + 1 }
      }
      return Double(rank: low)
    }
    let lower = first { self.microseconds(of: $0) >= microseconds }
    let next = first { self.microseconds(of: $0) > microseconds }
    let isLast = self.microseconds(of: next) <= microseconds
    return lower...max(lower, isLast ? next : next.nextDown)
  }
}

extension Double {
  fileprivate var negated: Double { -self }
  /// The place among all doubles, so that one step is one to the next.
  fileprivate var rank: Int64 {
    let bits = Int64(bitPattern: bitPattern)
    return bits >= 0 ? bits : Int64.min &- bits
  }
  fileprivate init(rank: Int64) {
    self.init(bitPattern: UInt64(bitPattern: rank >= 0 ? rank : Int64.min &- rank))
  }
}
