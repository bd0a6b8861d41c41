import Foundation

/// Numbers as `NSNumber` prints them.
enum NumberText {
  /// Whole doubles without a fraction, other doubles with as many digits as tell them apart.
  static func plain(_ value: PredicateValue) -> String {
    switch value {
    case .boolean(let flag): return flag ? "1" : "0"
    case .integer(let number): return "\(number)"
    case .double(let number):
      if let whole = Int64(exactly: number), abs(number) < 1e15 { return "\(whole)" }
      return "\(number)"
    case .decimal(let number): return NSDecimalNumber(decimal: number).stringValue
    case .null, .string, .date, .data, .uuid, .url, .objectID, .object, .array, .set, .dictionary:
      return ""
    }
  }

  /// Seconds with at least six decimals, and more where they are needed to tell dates apart.
  static func seconds(_ number: Double) -> String {
    let short = String(format: "%.6f", number)
    return Double(short) == number ? short : "\(number)"
  }
}
