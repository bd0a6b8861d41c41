import CairnPredicates
import Foundation

/// A value of the wrong class for an attribute.
///
/// Core Data raises with this text.
public struct AttributeCodingError: Error, CustomStringConvertible, Sendable {
  public let description: String
}

/// Turns what a programmer assigns to an attribute into its stored form and back.
public enum AttributeCoding {
  /// The stored form of a value.
  ///
  /// - Throws: ``AttributeCodingError`` when the value's class does not fit the attribute's type.
  public static func encode(
    _ value: Any?, for attribute: AttributeDescription
  ) throws -> AttributeValue {
    guard let value = unwrapped(value) else { return .null }
    switch attribute.attributeType {
    case .integer16, .integer32, .integer64:
      if let number = value as? NSNumber { return .integer(number.int64Value) }
    case .boolean:
      if let flag = value as? Bool { return .boolean(flag) }
      if let number = value as? NSNumber { return .boolean(number.boolValue) }
    case .double:
      if let number = value as? NSNumber { return .double(number.nearestDouble) }
    case .float:
      if let number = value as? NSNumber { return .float(number.floatValue) }
    case .decimal:
      if let decimal = value as? Decimal { return .decimal(decimal) }
      if let decimal = (value as? NSNumber).flatMap(decimal) { return .decimal(decimal) }
    case .string:
      if let string = value as? String { return .string(string) }
    case .date:
      if let date = value as? Date { return .date(date) }
    case .binaryData:
      if let data = value as? Data { return .data(data) }
    case .uuid:
      if let uuid = value as? UUID { return .uuid(uuid) }
    case .uri:
      if let url = value as? URL { return .url(url) }
    case .transformable:
      try checkValueClass(of: value, for: attribute)
      return .data(try TransformableCoding.data(from: value, for: attribute))
    case .objectID:
      if let object = value as? any ObjectIdentifying { return .object(object.objectID) }
    case .undefined, .composite:
      break
    }
    throw wrongClass(of: value, for: attribute)
  }

  /// Checks the class of a value without encoding what a transformer would encode.
  ///
  /// - Throws: ``AttributeCodingError`` when the value's class does not fit the attribute's type.
  package static func checkClass(of value: Any?, for attribute: AttributeDescription) throws {
    guard let value = unwrapped(value) else { return }
    switch attribute.attributeType {
    case .undefined: return
    case .transformable: try checkValueClass(of: value, for: attribute)
    case .composite:
      if value as? [String: Any] == nil { throw wrongClass(of: value, for: attribute) }
    default: _ = try encode(value, for: attribute)
    }
  }

  /// A transformable attribute takes values of the class that the model names.
  ///
  /// A class that does not exist here, such as one of Apple's user interface, may be any.
  private static func checkValueClass(
    of value: Any, for attribute: AttributeDescription
  ) throws {
    guard let name = attribute.attributeValueClassName, let wanted = NamedClass.type(named: name)
    else {
      return
    }
    if isObject(value, of: wanted) { return }
    throw wrongClass(of: value, for: attribute)
  }

  private static func isObject(_ value: Any, of wanted: AnyClass) -> Bool {
    // Swift's values stand for Foundation's objects.
    let object: Any = (value as? any _ObjectiveCBridgeable)?._bridgeToObjectiveC() ?? value
    var next: AnyClass? = type(of: object) as? AnyClass
    while let current = next {
      if current == wanted { return true }
      next = _getSuperclass(current)
    }
    return false
  }

  private static func wrongClass(
    of value: Any, for attribute: AttributeDescription
  ) -> AttributeCodingError {
    AttributeCodingError(
      description: "Unacceptable type of value for attribute: property = \"\(attribute.name)\"; "
        + "desired type = \(attribute.attributeValueClassName ?? "\(attribute.attributeType)"); "
        + "given type = \(Swift.type(of: value)); value = \(PlainText.of(value)).")
  }

  /// The value as programmers see it: numbers and booleans as `NSNumber`, decimals as
  /// `NSDecimalNumber`, the rest as `String`, `Date`, `Data`, `UUID`, `URL`, `ManagedObjectID`.
  public static func decode(
    _ value: AttributeValue, for attribute: AttributeDescription? = nil
  ) -> Any? {
    switch value {
    case .null: return nil
    case .boolean(let flag): return NSNumber(value: flag)
    case .integer(let number): return NSNumber(value: number)
    case .float(let number): return NSNumber(value: number)
    case .double(let number): return NSNumber(value: number)
    case .decimal(let decimal): return DecimalNumber(decimal: decimal)
    case .string(let string): return string
    case .date(let date): return date
    case .data(let data):
      if let attribute, attribute.attributeType == .transformable {
        return TransformableCoding.object(from: data, for: attribute)
      }
      return data
    case .uuid(let uuid): return uuid
    case .url(let url): return url
    case .object(let objectID): return objectID
    }
  }

  /// The decimal of a number: of a binary fraction the shortest that means it, as SQLite stores read one.
  ///
  /// Nil for what is no decimal, such as infinity. Foundation's `decimalValue` ends the process there, and
  /// rounds large integers.
  package static func decimal(of number: NSNumber) -> Decimal? {
    if let decimal = number as? NSDecimalNumber { return decimal.decimalValue }
    if number.doubleValue.isNaN { return .nan }
    switch UInt8(bitPattern: number.objCType.pointee) {
    case UInt8(ascii: "d"): return Decimal(shortest: number.doubleValue)
    case UInt8(ascii: "f"): return Decimal(string: "\(number.floatValue)")
    default: return Decimal(string: number.stringValue)
    }
  }

  /// Removes the optional layers that `Any` can hide; `NSNull` counts as nil.
  public static func unwrapped(_ value: Any?) -> Any? {
    guard let value, !(value is NSNull) else { return nil }
    if let optional = value as? any OptionalProtocol {
      return unwrapped(optional.wrappedAny)
    }
    return value
  }
}

/// Lets `Any` that holds an optional be opened.
private protocol OptionalProtocol {
  var wrappedAny: Any? { get }
}

extension Optional: OptionalProtocol {
  fileprivate var wrappedAny: Any? { self }
}
