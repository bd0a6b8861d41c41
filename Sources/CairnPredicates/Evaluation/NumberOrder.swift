import Foundation

/// The order of numbers across their types; see `ValueComparison.swift`.
package enum NumberOrder {
  /// How two values of the kind `number` compare.
  package static func compare(_ a: PredicateValue, _ b: PredicateValue) -> ComparisonResult {
    switch (integer(of: a), integer(of: b)) {
    case (let a?, let b?): return order(a, b)
    case (let a?, nil):
      if case .decimal(let b) = b { return order(Decimal(a), b) }
      return compare(a, double(of: b))
    case (nil, let b?):
      if case .decimal(let a) = a { return order(a, Decimal(b)) }
      return compare(b, double(of: a)).reversed
    case (nil, nil):
      if case .decimal(let a) = a, case .decimal(let b) = b { return order(a, b) }
      return order(double(of: a), double(of: b))
    }
  }

  /// The value of booleans and integers.
  package static func integer(of value: PredicateValue) -> Int64? {
    switch value {
    case .boolean(let flag): return flag ? 1 : 0
    case .integer(let number): return number
    case .null, .double, .decimal, .string, .date, .data, .uuid, .url, .objectID, .object, .array,
      .set, .dictionary:
      return nil
    }
  }

  /// The value of any number as a double; dates as seconds since 2001.
  ///
  /// 0 for other values.
  package static func double(of value: PredicateValue) -> Double {
    switch value {
    case .boolean(let flag): return flag ? 1 : 0
    case .integer(let number): return Double(number)
    case .double(let number): return number
    case .decimal(let number): return number.nearestDouble
    case .date(let date): return date.timeIntervalSinceReferenceDate
    case .null, .string, .data, .uuid, .url, .objectID, .object, .array, .set, .dictionary:
      return 0
    }
  }

  /// An integer and a double by their exact values.
  private static func compare(_ a: Int64, _ b: Double) -> ComparisonResult {
    if b >= 0x1p63 { return .orderedAscending }
    if b < -0x1p63 { return .orderedDescending }
    let whole = b.rounded(.towardZero)
    let result = order(a, Int64(whole))
    return result == .orderedSame ? order(0, b - whole) : result
  }

  private static func order<T: Comparable>(_ a: T, _ b: T) -> ComparisonResult {
    a < b ? .orderedAscending : (a == b ? .orderedSame : .orderedDescending)
  }
}

/// The order of text and bytes without options.
package enum TextOrder {
  /// By UTF-8 bytes, a prefix before what it begins.
  package static func compare(_ a: String, _ b: String) -> ComparisonResult {
    var a = a
    var b = b
    return a.withUTF8 { a in
      b.withUTF8 { b in compareBytes(UnsafeRawBufferPointer(a), UnsafeRawBufferPointer(b)) }
    }
  }

  /// By bytes, a prefix before what it begins.
  package static func compare(_ a: Data, _ b: Data) -> ComparisonResult {
    a.withUnsafeBytes { a in b.withUnsafeBytes { b in compareBytes(a, b) } }
  }

  private static func compareBytes(
    _ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer
  ) -> ComparisonResult {
    if let first = a.baseAddress, let second = b.baseAddress {
      let result = memcmp(first, second, min(a.count, b.count))
      if result != 0 { return result < 0 ? .orderedAscending : .orderedDescending }
    }
    if a.count == b.count { return .orderedSame }
    return a.count < b.count ? .orderedAscending : .orderedDescending
  }
}
