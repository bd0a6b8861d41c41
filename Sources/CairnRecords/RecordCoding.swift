// Attribute values as the wire carries them, and back.

import Cairn
import CairnControl
import Foundation

/// Why a value on the wire cannot be taken.
public struct RecordCodingError: Error, Sendable {
  public let reason: String
}

/// Translates between stored values and the wire: dates as ISO 8601, binary as base64, UUIDs and
/// URLs as text, decimals as strings, integers beyond 2^53 as strings.
///
/// A date that has no text, infinite or farther away than any calendar goes, is its seconds since 2001.
public enum RecordCoding {
  /// The wire form of a stored attribute value.
  ///
  /// References have none; they are named elsewhere.
  public static func json(_ value: AttributeValue) -> JSONValue {
    switch value {
    case .null, .object: return .null
    case .boolean(let flag): return .bool(flag)
    case .integer(let number): return .exact(number)
    case .float(let number): return .exact(Double(number))
    case .double(let number): return .exact(number)
    case .decimal(let decimal): return .string("\(decimal)")
    case .string(let text): return .string(text)
    case .date(let date):
      return WireDate.text(date).map { .string($0) }
        ?? .exact(date.timeIntervalSinceReferenceDate)
    case .data(let data): return .string(data.base64EncodedString())
    case .uuid(let uuid): return .string(uuid.uuidString)
    case .url(let url): return .string(url.absoluteString)
    }
  }

  /// The stored form of a wire value for an attribute.
  ///
  /// - Throws: ``RecordCodingError`` that says what the attribute's type wants.
  public static func value(
    _ json: JSONValue, for attribute: AttributeDescription
  ) throws -> AttributeValue {
    if json == .null { return .null }
    switch attribute.attributeType {
    case .integer16: return try integer(json, Int64(Int16.min)...Int64(Int16.max))
    case .integer32: return try integer(json, Int64(Int32.min)...Int64(Int32.max))
    case .integer64: return try integer(json, .min ... .max)
    case .boolean:
      if let flag = json.boolValue { return .boolean(flag) }
      if let number = json.exactInteger, number == 0 || number == 1 { return .boolean(number == 1) }
      throw wrong(json, "true or false")
    case .double:
      guard let number = json.exactDouble else { throw wrong(json, "a number") }
      return .double(number)
    case .float:
      guard let number = json.exactDouble else { throw wrong(json, "a number") }
      return .float(Float(number))
    case .decimal:
      if let text = json.stringValue, let decimal = decimal(text) { return .decimal(decimal) }
      if let number = json.exactInteger { return .decimal(Decimal(number)) }
      throw wrong(json, "a decimal as a string, such as \"12.50\"")
    case .string:
      guard let text = json.stringValue else { throw wrong(json, "a string") }
      return .string(text)
    case .date:
      guard let date = json.stringValue.flatMap(WireDate.parse) ?? dateWithoutText(json) else {
        throw wrong(json, "a date such as 2026-03-14T15:09:26.535Z")
      }
      return .date(date)
    case .binaryData, .transformable:
      guard let text = json.stringValue, let data = Data(base64Encoded: text) else {
        throw wrong(json, "base64")
      }
      return .data(data)
    case .uuid:
      guard let text = json.stringValue, let uuid = UUID(uuidString: text) else {
        throw wrong(json, "a UUID")
      }
      return .uuid(uuid)
    case .uri:
      guard let text = json.stringValue, let url = URL(string: text) else {
        throw wrong(json, "a URL")
      }
      return .url(url)
    case .undefined, .objectID, .composite:
      throw RecordCodingError(reason: "values of this attribute's type do not travel")
    }
  }

  /// Nil also for other numbers: nothing says from when on they count, and in which unit.
  private static func dateWithoutText(_ json: JSONValue) -> Date? {
    guard let seconds = json.exactDouble, !seconds.isNaN else { return nil }
    let date = Date(timeIntervalSinceReferenceDate: seconds)
    return WireDate.text(date) == nil ? date : nil
  }

  private static func integer(
    _ json: JSONValue, _ range: ClosedRange<Int64>
  ) throws -> AttributeValue {
    guard let number = json.exactInteger else {
      guard case .number = json else { throw wrong(json, "a whole number") }
      throw RecordCodingError(
        reason: "\(json.text) is no whole number from \(range.lowerBound) to \(range.upperBound)")
    }
    guard range.contains(number) else {
      throw RecordCodingError(
        reason: "\(number) is out of range; \(range.lowerBound) to \(range.upperBound) fits")
    }
    return .integer(number)
  }

  private static func decimal(_ text: String) -> Decimal? {
    let pattern = #"^[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?$"#
    guard text.range(of: pattern, options: .regularExpression) != nil else { return nil }
    return Decimal(string: text)
  }

  private static func wrong(_ json: JSONValue, _ wanted: String) -> RecordCodingError {
    RecordCodingError(reason: "\(wanted) is wanted, not \(json.kindName)")
  }
}
