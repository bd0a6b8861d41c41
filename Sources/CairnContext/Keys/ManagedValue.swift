import CairnModel
import Foundation

/// Values between the form of key-value access and the type that a `@NSManaged` declaration names.
enum ManagedValue {
  /// The value as the declared type; traps, as Core Data raises, when it cannot be one.
  static func converted<Value>(_ value: Any?, for key: String, of object: ManagedObject) -> Value {
    guard let value else {
      if let empty = empty(Value.self) as? Value { return empty }
      // The accessor's type is the program's and contradicts its model; the daemon has no accessors.
      fatalError(
        "The property \(key) of an object of entity \(object.entity.name ?? "?") is nil, but its "
          + "accessor is declared as \(Value.self), which has no nil; declare it as optional.")
    }
    if let same = value as? Value { return same }
    let wanted = (Value.self as? any OptionalType.Type)?.wrappedType ?? Value.self
    if let converted = converted(value, to: wanted) as? Value { return converted }
    // As above: stores hold values of the model's types, which the accessor does not match.
    fatalError(
      "The property \(key) of an object of entity \(object.entity.name ?? "?") holds a "
        + "\(type(of: value)), which its accessor, declared as \(Value.self), cannot return.")
  }

  /// The value as key-value access takes it: an enumeration as its raw value.
  static func assignable(_ value: Any) -> Any {
    guard let value = value as? any RawRepresentable, !(value is any ReferenceConvertible) else {
      return value
    }
    return value.rawValue
  }

  /// Whether a number is set for a date: accessors of scalar dates count seconds since 2001.
  static func isTimeInterval(_ value: Any?, forKey key: String, of object: ManagedObject) -> Bool {
    guard value is Double, let slot = object.layout.slotByName[key],
      case .attribute(let attribute) = object.layout.slots[slot].content
    else { return false }
    return attribute.attributeType == .date
  }

  /// What nil reads as where the type has no nil.
  private static func empty(_ type: Any.Type) -> Any? {
    switch type {
    case let type as any OptionalType.Type: return type.nothing
    case is Bool.Type: return false
    case let type as any AdditiveArithmetic.Type: return zero(type)
    case let type as any RangeReplaceableCollection.Type: return type.init()
    case let type as any ExpressibleByArrayLiteral.Type: return list(type)
    case let type as any ExpressibleByDictionaryLiteral.Type: return dictionary(type)
    default: return nil
    }
  }
  private static func zero<T: AdditiveArithmetic>(_ type: T.Type) -> Any { T.zero }
  private static func list<T: ExpressibleByArrayLiteral>(_ type: T.Type) -> Any {
    [] as T
  }
  private static func dictionary<T: ExpressibleByDictionaryLiteral>(_ type: T.Type) -> Any {
    [:] as T
  }

  private static func converted(_ value: Any, to type: Any.Type) -> Any? {
    switch (value, type) {
    case (let date as Date, is Double.Type): return date.timeIntervalSinceReferenceDate
    case (let number as NSNumber, is Decimal.Type): return AttributeCoding.decimal(of: number)
    case (let members as Set<ManagedObject>, is NSMutableSet.Type):
      return NSMutableSet(array: Array(members))
    case (let members as Set<ManagedObject>, is NSSet.Type): return NSSet(array: Array(members))
    case (let members as Set<ManagedObject>, is NSOrderedSet.Type):
      return NSOrderedSet(array: Array(members))
    case (let members as NSOrderedSet, is NSMutableOrderedSet.Type):
      return NSMutableOrderedSet(orderedSet: members)
    case (let members as NSOrderedSet, is NSSet.Type): return NSSet(array: members.array)
    // The caller casts the members.
    case (let members as NSOrderedSet, _): return members.array
    case (_, let type as any RawRepresentable.Type): return instance(type, of: value)
    case (let value as any _ObjectiveCBridgeable, _): return value._bridgeToObjectiveC()
    default: return nil
    }
  }

  private static func instance<T: RawRepresentable>(_ type: T.Type, of value: Any) -> Any? {
    (value as? T.RawValue).flatMap { T(rawValue: $0) }
  }
}

/// Optional types, whatever they wrap.
private protocol OptionalType {
  static var wrappedType: Any.Type { get }
  static var nothing: Any { get }
}

extension Optional: OptionalType {
  fileprivate static var wrappedType: Any.Type { Wrapped.self }
  fileprivate static var nothing: Any { Self(nilLiteral: ()) as Any }
}
