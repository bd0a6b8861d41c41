import Foundation

// Between the values programmers hand in and the values predicates work with.

extension PredicateValue {
  /// The predicate value of anything.
  package init(_ value: Any?) {
    guard let value else {
      self = .null
      return
    }
    if let plain = PredicateValue(plain: value) {
      self = plain
      return
    }
    if type(of: value) is AnyClass {
      self = Self.fromObject(value)
    } else {
      self = Self.fromSwift(value)
    }
  }

  /// The predicate value of what most constants are, told by its exact type; nil for all else.
  ///
  /// Asking a value for classes and protocols, one after the other, costs many times as much.
  init?(plain value: Any) {
    switch ObjectIdentifier(Swift.type(of: value)) {
    case ObjectIdentifier(Int.self):
      guard let value = value as? Int else { return nil }
      self = .integer(Int64(value))
    case ObjectIdentifier(Int64.self):
      guard let value = value as? Int64 else { return nil }
      self = .integer(value)
    case ObjectIdentifier(String.self):
      guard let value = value as? String else { return nil }
      self = .string(value)
    case ObjectIdentifier(Double.self):
      guard let value = value as? Double else { return nil }
      self = .number(value)
    case ObjectIdentifier(Bool.self):
      guard let value = value as? Bool else { return nil }
      self = .boolean(value)
    case ObjectIdentifier(Date.self):
      guard let value = value as? Date else { return nil }
      self = Self.fromDate(value)
    case ObjectIdentifier(UUID.self):
      guard let value = value as? UUID else { return nil }
      self = .uuid(value)
    default: return nil
    }
  }

  private static func fromObject(_ value: Any) -> PredicateValue {
    switch value {
    case let number as NSNumber: return fromNumber(number)
    case let string as NSString: return .string(string as String)
    case let object as any IdentifiedObject:
      return type(of: object).isIdentity
        ? .objectID(object.identity) : .object(ObjectReference(value))
    case is NSNull: return .null
    case let date as NSDate: return fromDate(date as Date)
    case let data as NSData: return .data(data as Data)
    case let uuid as NSUUID: return .uuid(uuid as UUID)
    case let url as NSURL: return .url(url as URL)
    case let array as NSArray: return .array(array.map { PredicateValue($0) })
    case let set as NSSet: return .set(Set(set.map { PredicateValue($0) }))
    case let set as NSOrderedSet: return .array(set.map { PredicateValue($0) })
    case let dictionary as NSDictionary:
      var members: [PredicateValue: PredicateValue] = [:]
      for (key, member) in dictionary { members[PredicateValue(key)] = PredicateValue(member) }
      return .dictionary(members)
    default: return .object(ObjectReference(value))
    }
  }

  private static func fromNumber(_ number: NSNumber) -> PredicateValue {
    if let decimal = number as? NSDecimalNumber { return .number(decimal.decimalValue) }
    if number === NSNumber(value: true) { return .boolean(true) }
    if number === NSNumber(value: false) { return .boolean(false) }
    switch number.objCType.pointee {
    case Int8(UInt8(ascii: "d")), Int8(UInt8(ascii: "f")): return .number(number.doubleValue)
    case Int8(UInt8(ascii: "Q")): return fromUnsigned(number.uint64Value)
    default: return .integer(number.int64Value)
    }
  }

  private static func fromSwift(_ value: Any) -> PredicateValue {
    switch value {
    case let value as PredicateValue: return value
    case let value as String: return .string(value)
    case let value as Bool: return .boolean(value)
    case let value as any FixedWidthInteger:
      if let number = Int64(exactly: value) { return .integer(number) }
      return fromUnsigned(UInt64(truncatingIfNeeded: value))
    case let value as Double: return .number(value)
    case let value as Float: return .number(Double(value))
    case let value as Decimal: return .number(value)
    case let value as Date: return fromDate(value)
    case let value as Data: return .data(value)
    case let value as UUID: return .uuid(value)
    case let value as URL: return .url(value)
    case let value as Substring: return .string(String(value))
    case let value as Character: return .string(String(value))
    case let value as any OptionalContent: return PredicateValue(value.content)
    case let value as [Any]: return .array(value.map { PredicateValue($0) })
    case let value as Set<AnyHashable>: return .set(Set(value.map { PredicateValue($0.base) }))
    case let value as [AnyHashable: Any]:
      var members: [PredicateValue: PredicateValue] = [:]
      for (key, member) in value { members[PredicateValue(key.base)] = PredicateValue(member) }
      return .dictionary(members)
    default: return .object(ObjectReference(value))
    }
  }

  private static func fromUnsigned(_ value: UInt64) -> PredicateValue {
    if let number = Int64(exactly: value) { return .integer(number) }
    return .decimal(Decimal(value))
  }

  private static func fromDate(_ date: Date) -> PredicateValue {
    date.timeIntervalSinceReferenceDate.isNaN ? .null : .date(date)
  }

  /// The value as programmers see it: numbers as `NSNumber`, decimals as `NSDecimalNumber`,
  /// collections as arrays, sets and dictionaries of such values.
  package var anyValue: Any? {
    switch self {
    case .null: return nil
    case .boolean(let value): return NSNumber(value: value)
    case .integer(let value): return NSNumber(value: value)
    case .double(let value): return NSNumber(value: value)
    case .decimal(let value): return DecimalNumber(decimal: value)
    case .string(let value): return value
    case .date(let value): return value
    case .data(let value): return value
    case .uuid(let value): return value
    case .url(let value): return value
    case .objectID(let value): return value
    case .object(let value): return value.object
    case .array(let members): return members.map { $0.anyValue ?? NSNull() }
    case .set(let members): return NSSet(array: members.map { $0.anyValue ?? NSNull() })
    case .dictionary(let members):
      var dictionary: [AnyHashable: Any] = [:]
      for (key, member) in members {
        guard let key = key.anyValue as? AnyHashable else { continue }
        dictionary[key] = member.anyValue ?? NSNull()
      }
      return dictionary
    }
  }
}

/// Lets `Any` that holds an optional be opened.
private protocol OptionalContent {
  var content: Any? { get }
}

extension Optional: OptionalContent {
  fileprivate var content: Any? { self }
}
