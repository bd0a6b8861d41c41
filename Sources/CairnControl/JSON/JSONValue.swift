// A JSON document as a value.

/// Any JSON value.
///
/// Whole numbers that fit 64 bits stay exact.
public enum JSONValue: Sendable, Hashable {
  case null
  case bool(Bool)
  case integer(Int64)
  case number(Double)
  case string(String)
  case array([JSONValue])
  case object([String: JSONValue])

  /// The largest whole number that every JSON reader keeps exact.
  public static let largestSafeInteger: Int64 = 1 << 53

  /// A whole number as the wire carries it: as text beyond 2^53.
  public static func exact(_ value: Int64) -> JSONValue {
    value.magnitude <= UInt64(largestSafeInteger) ? .integer(value) : .string(String(value))
  }

  /// A floating-point number as the wire carries it; JSON has no NaN and no infinity.
  public static func exact(_ value: Double) -> JSONValue {
    if value.isNaN { return .string("NaN") }
    if value.isInfinite { return .string(value < 0 ? "-Infinity" : "Infinity") }
    return .number(value)
  }

  /// The whole number in a number or in the text form of ``exact(_:)-(Int64)``.
  public var exactInteger: Int64? {
    switch self {
    case .integer(let value): value
    case .number(let value): Int64(exactly: value)
    case .string(let text): Int64(text)
    case .null, .bool, .array, .object: nil
    }
  }

  /// The number in any of the forms of ``exact(_:)-(Double)``.
  public var exactDouble: Double? {
    switch self {
    case .integer(let value): Double(value)
    case .number(let value): value
    case .string("NaN"): .nan
    case .string("Infinity"): .infinity
    case .string("-Infinity"): -.infinity
    case .null, .bool, .string, .array, .object: nil
    }
  }

  /// The text of a string.
  public var stringValue: String? {
    if case .string(let text) = self { text } else { nil }
  }

  /// The truth value of a boolean.
  public var boolValue: Bool? {
    if case .bool(let value) = self { value } else { nil }
  }

  /// The members of an object.
  public var objectValue: [String: JSONValue]? {
    if case .object(let members) = self { members } else { nil }
  }

  /// The elements of an array.
  public var arrayValue: [JSONValue]? {
    if case .array(let elements) = self { elements } else { nil }
  }

  /// A member of an object; nil when there is none or this is no object.
  public subscript(key: String) -> JSONValue? { objectValue?[key] }

  /// What kind of value this is, for messages.
  public var kindName: String {
    switch self {
    case .null: "null"
    case .bool: "a boolean"
    case .integer, .number: "a number"
    case .string: "a string"
    case .array: "an array"
    case .object: "an object"
    }
  }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral,
  ExpressibleByFloatLiteral, ExpressibleByBooleanLiteral, ExpressibleByNilLiteral,
  ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
  public init(stringLiteral value: String) { self = .string(value) }
  public init(integerLiteral value: Int64) { self = .integer(value) }
  public init(floatLiteral value: Double) { self = .number(value) }
  public init(booleanLiteral value: Bool) { self = .bool(value) }
  public init(nilLiteral: ()) { self = .null }
  public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
  public init(dictionaryLiteral elements: (String, JSONValue)...) {
    self = .object(Dictionary(elements, uniquingKeysWith: { $1 }))
  }
}
