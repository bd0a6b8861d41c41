import CairnModel
import CairnPredicates
import Foundation
import Synchronization

/// Properties that a program's classes implement themselves, as key-value access finds them.
///
/// Objective-C's runtime finds such a property by its name; Linux has none. The companion file that
/// the build plugin generates lists the properties that are marked with `@objc`:
///
/// ```swift
/// extension Item {
///   #if canImport(ObjectiveC)
///   @objc
///   #endif
///   var initial: String { String(name.prefix(1)) }
/// }
/// ```
///
/// `value(forKey:)`, `setValue(_:forKey:)`, key paths, predicates and sort descriptors in memory and
/// the sections of a fetched results controller then know the key. Stores do not: a fetch request
/// that names it fails with `keypath … not found in entity …`.
///
/// A key that the model has may be the class's as well, such as that of a transient attribute which
/// the class computes. Then `value(forKey:)` asks the class, and `setValue(_:forKey:)` sets the class's
/// property if that can be set; validation, `changedValues()` and stores keep to what the object holds. As
/// with Objective-C, an accessor that calls `value(forKey:)` of its own key calls itself.
/// Properties with `@NSManaged` are none of these.
///
/// Safe to use from every thread.
public enum ClassProperties {
  /// Adds a property that can be read and set.
  ///
  /// Classes that are no managed object classes are passed over, as generated code may not know.
  public static func add<Object: AnyObject, Value>(
    _ key: String, _ path: ReferenceWritableKeyPath<Object, Value>
  ) {
    let held = HeldPath(path: path)
    add(
      key, to: Object.self,
      KeyAccessor(
        read: { object in (object as? Object).flatMap { boxed($0[keyPath: held.path]) } },
        write: { object, value in
          guard let object = object as? Object else {
            return .wrongType(desired: "\(Object.self)")
          }
          return KeyAccessor.assign(value) { object[keyPath: held.path] = $0 }
        }))
  }

  /// Adds a property that can only be read.
  public static func add<Object: AnyObject, Value>(_ key: String, _ path: KeyPath<Object, Value>) {
    let held = HeldPath(path: path)
    add(
      key, to: Object.self,
      KeyAccessor(
        read: { object in (object as? Object).flatMap { boxed($0[keyPath: held.path]) } },
        write: nil))
  }

  /// Adds a method without parameters, whose result is read under its name.
  public static func add<Object: AnyObject, Value>(
    _ key: String, method: @escaping @Sendable (Object) -> Value
  ) {
    add(
      key, to: Object.self,
      KeyAccessor(
        read: { object in (object as? Object).flatMap { boxed(method($0)) } }, write: nil))
  }

  private static func add<Object: AnyObject>(
    _ key: String, to type: Object.Type, _ accessor: KeyAccessor
  ) {
    guard type is ManagedObject.Type else { return }
    table.withLock { table in
      var entries = table[key] ?? []
      entries.removeAll { $0.owner == type }
      table[key] = entries + [Entry(owner: type, fits: { $0 is Object }, accessor: accessor)]
    }
    _ = owners.withLock { $0.insert(ObjectIdentifier(type)) }
  }

  /// A value as key-value coding gives it: numbers as objects, enumerations as their raw values.
  private static func boxed(_ value: Any) -> Any? {
    switch AttributeCoding.unwrapped(value) {
    case let value as Bool: return NSNumber(value: value)
    case let value as any BinaryInteger:
      return Int64(exactly: value).map { NSNumber(value: $0) } ?? NSNumber(value: UInt64(value))
    case let value as Double: return NSNumber(value: value)
    case let value as Float: return NSNumber(value: value)
    case let value as any RawRepresentable where value.rawValue is any BinaryInteger:
      return boxed(value.rawValue)
    case let value: return value
    }
  }

  // Unchecked: key paths are immutable, and those of generated code hold no values.
  private struct HeldPath<Path: AnyKeyPath>: @unchecked Sendable {
    let path: Path
  }

  // MARK: Looking up

  /// The accessor that reads a key of an object; nil when its class has none.
  ///
  /// As key-value coding searches: `getName`, `name`, `isName`, `_name`.
  static func reader(of key: String, in object: ManagedObject) -> KeyAccessor? {
    guard !key.isEmpty else { return nil }
    GeneratedModules.load()
    let capital = key.prefix(1).uppercased() + key.dropFirst()
    return table.withLock { table in
      if table.isEmpty { return nil }
      for name in ["get" + capital, key, "is" + capital, "_" + key] {
        if let entry = table[name]?.first(where: { $0.fits(object) }) { return entry.accessor }
      }
      return nil
    }
  }

  /// The accessor of exactly that name; nil when the object's class has none.
  static func accessor(of key: String, in object: ManagedObject) -> KeyAccessor? {
    table.withLock { table in table[key]?.first { $0.fits(object) }?.accessor }
  }

  /// Whether a class itself, not one above it, has any.
  static func has(_ type: AnyClass) -> Bool {
    owners.withLock { $0.contains(ObjectIdentifier(type)) }
  }

  /// The accessor that sets a key of an object; nil when its class has none that can.
  static func writer(of key: String, in object: ManagedObject) -> KeyAccessor? {
    GeneratedModules.load()
    return table.withLock { table in
      // A subclass may make a property settable that its superclass only lets read.
      table[key]?.first { $0.fits(object) && $0.accessor.write != nil }?.accessor
    }
  }

  private struct Entry: Sendable {
    let owner: AnyClass
    let fits: @Sendable (ManagedObject) -> Bool
    let accessor: KeyAccessor
  }
  private static let table = Mutex<[String: [Entry]]>([:])
  private static let owners = Mutex<Set<ObjectIdentifier>>([])
}
