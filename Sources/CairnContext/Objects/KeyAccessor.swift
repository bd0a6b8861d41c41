import CairnModel
import Foundation

/// A property that a subclass implements itself, as key-value access reaches it.
///
/// Swift on Linux cannot look methods up by name, so a class lists those of its properties that
/// `value(forKey:)`, `setValue(_:forKey:)`, key paths, predicates in memory and validation are to
/// go through, in a file with `@_spi(Runtime) import Cairn`:
///
/// ```swift
/// final class Run: ManagedObject {
///   override class var keyAccessors: [String: KeyAccessor] { ["processID": .init(\Run.processID)] }
///   var processID: Int32 { get { … } set { … } }
///   override func setNilValueForKey(_ key: String) { processID = 0 }
/// }
/// ```
///
/// The property must not be implemented with `value(forKey:)` of the same key, which would call
/// itself; ``ManagedObject/primitiveValue(forKey:)`` and the slot accessors are for that.
public struct KeyAccessor: Sendable {
  let read: @Sendable (ManagedObject) -> Any?
  /// Nil for a property that cannot be set.
  let write: (@Sendable (ManagedObject, Any?) -> Outcome)?

  enum Outcome {
    case done
    /// Nil was to be put into a property that has no nil.
    case nilRefused
    case wrongType(desired: String)
  }

  /// A property that can be read and set.
  public init<Object: ManagedObject, Value>(
    _ keyPath: ReferenceWritableKeyPath<Object, Value> & Sendable
  ) {
    read = { ($0 as? Object).map { $0[keyPath: keyPath] as Any } }
    write = { object, value in
      guard let object = object as? Object else {
        return .wrongType(desired: "\(Object.self)")
      }
      return Self.assign(value) { object[keyPath: keyPath] = $0 }
    }
  }

  /// A property that can only be read.
  public init<Object: ManagedObject, Value>(reading keyPath: KeyPath<Object, Value> & Sendable) {
    read = { ($0 as? Object).map { $0[keyPath: keyPath] as Any } }
    write = nil
  }

  init(
    read: @escaping @Sendable (ManagedObject) -> Any?,
    write: (@Sendable (ManagedObject, Any?) -> Outcome)?
  ) {
    self.read = read
    self.write = write
  }

  /// Sets a value of any kind as one of the property's type.
  static func assign<Value>(_ value: Any?, _ set: (Value) -> Void) -> Outcome {
    guard let value = AttributeCoding.unwrapped(value) else {
      guard let optional = Value.self as? any NilHolding.Type,
        let none = optional.noValue as? Value
      else { return .nilRefused }
      set(none)
      return .done
    }
    // Numbers of any type go through NSNumber.
    guard
      let converted = value as? Value ?? (value as? NSNumber) as? Value
        ?? (Value.self as? any RawRepresentable.Type).flatMap({ member(of: $0, value) as? Value })
    else {
      return .wrongType(desired: "\(Value.self)")
    }
    set(converted)
    return .done
  }

  /// The member of an enumeration with a number as its raw value.
  private static func member<Member: RawRepresentable>(
    of type: Member.Type, _ value: Any
  ) -> Member? {
    (value as? Member.RawValue ?? (value as? NSNumber) as? Member.RawValue)
      .flatMap { Member(rawValue: $0) }
  }

  func value(in object: ManagedObject) -> Any? { AttributeCoding.unwrapped(read(object)) }

  func set(_ value: Any?, forKey key: String, in object: ManagedObject) {
    guard let write else { return object.setValue(value, forUndefinedKey: key) }
    switch write(object, value) {
    case .done: return
    case .nilRefused: object.setNilValueForKey(key)
    case .wrongType(let desired):
      // Core Data raises for this; the value comes from the program.
      fatalError(
        "Unacceptable type of value for attribute: property = \"\(key)\"; desired type = "
          + "\(desired); given type = \(value.map { "\(type(of: $0))" } ?? "nil"); value = "
          + "\(value ?? "nil").")
    }
  }
}

/// Tells whether a type can say nil.
private protocol NilHolding {
  static var noValue: Any { get }
}

extension Optional: NilHolding {
  fileprivate static var noValue: Any { Self.none as Any }
}

/// A rule of a subclass for one property: Core Data's `validate<Key>`.
///
/// A class lists its rules, because they cannot be found by their names on Linux, in a file with
/// `@_spi(Runtime) import Cairn`:
///
/// ```swift
/// final class Person: ManagedObject {
///   override class var keyValidators: [String: KeyValidator] {
///     ["name": .init(Person.validateName)]
///   }
///   func validateName(_ value: inout Any?) throws { … }
/// }
/// ```
///
/// A rule runs after the model's own for the property, and only when those hold. It may replace
/// the value. What it throws takes part in the error of the save.
public struct KeyValidator: Sendable {
  let check: @Sendable (ManagedObject, inout Any?) throws -> Void

  /// A rule that is a method of the class.
  public init<Object: ManagedObject>(
    _ method: @escaping @Sendable (Object) -> (inout Any?) throws -> Void
  ) {
    check = { object, value in
      guard let object = object as? Object else { return }
      try method(object)(&value)
    }
  }
}
