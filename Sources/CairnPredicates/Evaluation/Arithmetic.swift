import Foundation

/// Arithmetic on predicate values.
///
/// Like in SQLite: null makes null, integers stay integers until they overflow into doubles,
/// dividing by zero gives null. Decimals stay decimals unless a double takes part. Dates count as
/// seconds since 2001.
enum Arithmetic {
  static func add(_ a: PredicateValue, _ b: PredicateValue) throws -> PredicateValue {
    try combine(a, b, { $0.addingReportingOverflow($1) }, +, +)
  }

  static func subtract(_ a: PredicateValue, _ b: PredicateValue) throws -> PredicateValue {
    try combine(a, b, { $0.subtractingReportingOverflow($1) }, -, -)
  }

  static func multiply(_ a: PredicateValue, _ b: PredicateValue) throws -> PredicateValue {
    try combine(a, b, { $0.multipliedReportingOverflow(by: $1) }, *, *)
  }

  /// Between integers the quotient without its fraction.
  static func divide(_ a: PredicateValue, _ b: PredicateValue) throws -> PredicateValue {
    if a.isNull || b.isNull { return .null }
    if try double(b) == 0 { return .null }
    return try combine(a, b, { $0.dividedReportingOverflow(by: $1) }, /, /)
  }

  /// The remainder, with the sign of the dividend.
  static func modulus(_ a: PredicateValue, _ b: PredicateValue) throws -> PredicateValue {
    if a.isNull || b.isNull { return .null }
    if try double(b) == 0 { return .null }
    if let a = NumberOrder.integer(of: a), let b = NumberOrder.integer(of: b) {
      return .integer(b == -1 ? 0 : a % b)
    }
    return .number(try double(a).truncatingRemainder(dividingBy: double(b)))
  }

  /// Always a double, except that powers of decimals to whole numbers stay decimals.
  static func power(_ a: PredicateValue, _ b: PredicateValue) throws -> PredicateValue {
    if a.isNull || b.isNull { return .null }
    if case .decimal(let base) = a, let exponent = NumberOrder.integer(of: b),
      exponent >= 0, exponent <= 1000
    {
      return .number(Foundation.pow(base, Int(exponent)))
    }
    return .number(Foundation.pow(try double(a), try double(b)))
  }

  /// A function of one double.
  static func apply(
    _ value: PredicateValue, _ function: (Double) -> Double
  ) throws -> PredicateValue {
    value.isNull ? .null : .number(function(try double(value)))
  }

  /// A rounding: integers stay as they are, decimals decimals.
  static func round(
    _ value: PredicateValue, _ rule: FloatingPointRoundingRule
  ) throws -> PredicateValue {
    switch value {
    case .null: return .null
    case .boolean, .integer: return value
    case .decimal(var number):
      let mode: NSDecimalNumber.RoundingMode
      switch rule {
      case .up: mode = .up
      case .down: mode = .down
      default: mode = number.sign == .minus ? .up : .down
      }
      var rounded = Decimal()
      NSDecimalRound(&rounded, &number, 0, mode)
      return .number(rounded)
    case .double, .date, .string, .data, .uuid, .url, .objectID, .object, .array, .set,
      .dictionary:
      return .number(try double(value).rounded(rule))
    }
  }

  static func absolute(_ value: PredicateValue) throws -> PredicateValue {
    if value.isNull { return .null }
    return try double(value) < 0 ? subtract(.integer(0), value) : value
  }

  /// A function of the bits of two integers.
  static func bits(
    _ a: PredicateValue, _ b: PredicateValue, _ function: (Int64, Int64) -> Int64
  ) throws -> PredicateValue {
    if a.isNull || b.isNull { return .null }
    return .integer(function(try integer(a), try integer(b)))
  }

  /// The number as a double.
  static func double(_ value: PredicateValue) throws -> Double {
    guard value.kind == .number else { throw notANumber(value) }
    return NumberOrder.double(of: value)
  }

  /// The whole part of a number that fits an integer.
  static func integer(_ value: PredicateValue) throws -> Int64 {
    if let integer = NumberOrder.integer(of: value) { return integer }
    guard let integer = Int64(exactly: try double(value).rounded(.towardZero)) else {
      throw notANumber(value)
    }
    return integer
  }

  private static func combine(
    _ a: PredicateValue, _ b: PredicateValue,
    _ integers: (Int64, Int64) -> (partialValue: Int64, overflow: Bool),
    _ doubles: (Double, Double) -> Double, _ decimals: (Decimal, Decimal) -> Decimal
  ) throws -> PredicateValue {
    if a.isNull || b.isNull { return .null }
    if let a = NumberOrder.integer(of: a), let b = NumberOrder.integer(of: b) {
      let (result, overflow) = integers(a, b)
      return overflow ? .number(doubles(Double(a), Double(b))) : .integer(result)
    }
    if let a = decimal(a), let b = decimal(b) { return .number(decimals(a, b)) }
    return .number(doubles(try double(a), try double(b)))
  }

  /// Decimals and integers as decimals.
  private static func decimal(_ value: PredicateValue) -> Decimal? {
    if case .decimal(let number) = value { return number }
    return NumberOrder.integer(of: value).map { Decimal($0) }
  }

  private static func notANumber(_ value: PredicateValue) -> any Error {
    PredicateEvaluationError(
      .wrongType,
      "Can't compute with \(PredicatePrinter.text(of: .constant(value))), which is not a number.")
  }
}
