import Foundation

/// `CAST(value, "Class")`.
package enum ValueCasting {
  /// The value as an instance of a class; null stays null.
  ///
  /// - Throws: ``PredicateEvaluationError`` when there is no such cast.
  package static func cast(
    _ value: PredicateValue, to type: String
  ) throws -> PredicateValue {
    if value.isNull { return .null }
    let result: PredicateValue?
    switch type {
    case "NSString": result = string(value)
    case "NSNumber": result = number(value)
    case "NSDecimalNumber": result = decimal(value)
    case "NSDate": result = date(value)
    case "NSUUID": result = uuid(value)
    case "NSURL": result = url(value)
    case "NSData": result = data(value)
    default: result = nil
    }
    guard let result else {
      throw PredicateEvaluationError(
        .wrongType,
        "Don't know how to cast \(PredicatePrinter.text(of: .constant(value))) to \(type).")
    }
    return result
  }

  private static func string(_ value: PredicateValue) -> PredicateValue? {
    switch value {
    case .string: return value
    case .url(let url): return .string(url.absoluteString)
    case .uuid(let uuid): return .string(uuid.uuidString)
    case .boolean, .integer, .double, .decimal: return .string(NumberText.plain(value))
    case .date(let date): return .string(PlainText.of(date))
    case .null, .data, .objectID, .object, .array, .set, .dictionary: return nil
    }
  }

  private static func number(_ value: PredicateValue) -> PredicateValue? {
    switch value {
    case .boolean, .integer, .double, .decimal: return value
    case .date(let date): return .number(date.timeIntervalSinceReferenceDate)
    case .string(let text):
      if let integer = Int64(text) { return .integer(integer) }
      return Double(text).map { .number($0) }
    case .null, .data, .uuid, .url, .objectID, .object, .array, .set, .dictionary: return nil
    }
  }

  private static func decimal(_ value: PredicateValue) -> PredicateValue? {
    switch value {
    case .decimal: return value
    case .boolean, .integer: return .decimal(Decimal(NumberOrder.integer(of: value) ?? 0))
    case .double: return decimal(.string(NumberText.plain(value)))
    case .string(let text):
      guard text.utf8.allSatisfy({ "+-.eE0123456789".utf8.contains($0) }) else { return nil }
      return Decimal(string: text, locale: Locale(identifier: "en_US_POSIX")).map { .number($0) }
    case .null, .date, .data, .uuid, .url, .objectID, .object, .array, .set, .dictionary:
      return nil
    }
  }

  private static func date(_ value: PredicateValue) -> PredicateValue? {
    switch value {
    case .date: return value
    case .boolean, .integer, .double, .decimal:
      return PredicateValue(
        Date(timeIntervalSinceReferenceDate: NumberOrder.double(of: value)))
    case .string(let text):
      // How the printer writes the distant ends of time.
      if let seconds = Double(text), seconds.isInfinite {
        return .date(Date(timeIntervalSinceReferenceDate: seconds))
      }
      if let date = try? Date(text, strategy: .iso8601) { return .date(date) }
      let fractional = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
      return (try? Date(text, strategy: fractional)).map { .date($0) }
    case .null, .data, .uuid, .url, .objectID, .object, .array, .set, .dictionary: return nil
    }
  }

  private static func uuid(_ value: PredicateValue) -> PredicateValue? {
    if case .uuid = value { return value }
    guard case .string(let text) = value else { return nil }
    return UUID(uuidString: text).map { .uuid($0) }
  }

  private static func url(_ value: PredicateValue) -> PredicateValue? {
    if case .url = value { return value }
    guard case .string(let text) = value else { return nil }
    return URL(string: text).map { .url($0) }
  }

  private static func data(_ value: PredicateValue) -> PredicateValue? {
    if case .data = value { return value }
    guard case .string(let text) = value else { return nil }
    return Data(base64Encoded: text).map { .data($0) }
  }
}
