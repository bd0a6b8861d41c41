import CairnModel
import CairnPredicates
import Foundation

/// Following a key path through objects, collections and composites.
enum KeyPathAccess {
  static func value(of start: Any?, _ path: Substring) -> Any? {
    guard let start = AttributeCoding.unwrapped(start), !path.isEmpty else { return start }
    if path.first == "@" { return applied(String(path), to: start) }
    if let object = start as? ManagedObject, object.layout.slotByName[String(path)] != nil {
      return object.value(forKey: String(path))
    }
    let (key, rest) = split(path)
    return value(of: step(from: start, key: key), rest)
  }

  private static func split(_ path: Substring) -> (key: String, rest: Substring) {
    guard let dot = path.firstIndex(of: ".") else { return (String(path), "") }
    return (String(path[..<dot]), path[path.index(after: dot)...])
  }

  /// What a value, or each member of a collection, has for a key, in which points mean nothing.
  static func value(of start: Any?, key: String) -> Any? {
    guard let start = AttributeCoding.unwrapped(start) else { return nil }
    return key.first == "@" ? applied(key, to: start) : step(from: start, key: key)
  }

  private static func step(from value: Any, key: String) -> Any? {
    switch value {
    case let object as ManagedObject: return object.value(forKey: key)
    case let ordered as NSOrderedSet:
      // One by one: made of an array, Foundation's ordered set lists what comes twice two times.
      let values = NSMutableOrderedSet()
      for member in ordered { self.value(of: member, key: key).map(values.add) }
      return NSOrderedSet(orderedSet: values)
    case let members as Set<AnyHashable>:
      return Set(members.compactMap { self.value(of: $0.base, key: key) as? AnyHashable })
    case let members as [Any]: return members.map { self.value(of: $0, key: key) ?? NSNull() }
    case let dictionary as [String: Any]: return dictionary[key]
    default: return applied(key, to: value)
    }
  }

  /// Operators, and the few properties that plain values have, are those of predicates.
  private static func applied(_ path: String, to value: Any) -> Any? {
    do {
      return try KeyPathReading.value(of: PredicateValue(value), keyPath: path).anyValue
    } catch {
      // Core Data raises here; key paths from outside are checked before they are evaluated.
      fatalError("\(error)")
    }
  }

  static func set(_ value: Any?, _ keyPath: String, of object: ManagedObject) {
    guard let dot = keyPath.firstIndex(of: "."), object.layout.slotByName[keyPath] == nil else {
      return object.setValue(value, forKey: keyPath)
    }
    let key = String(keyPath[..<dot])
    let rest = keyPath[keyPath.index(after: dot)...]
    if object.layout.composites[key] != nil {
      // An element that is composite itself.
      var whole = object.value(forKey: key) as? [String: Any] ?? [:]
      ElementDictionary.put(value, at: rest.split(separator: ".")[...], in: &whole)
      return object.setValue(whole, forKey: key)
    }
    for next in objects(in: object.value(forKey: key)) {
      next.setValue(value, forKeyPath: String(rest))
    }
  }

  static func set(_ value: Any?, _ key: String, ofAll members: [Any]) {
    for member in members {
      guard let object = member as? ManagedObject else {
        // The program's collection; Core Data raises here for what has no such key.
        fatalError("setValue(_:forKey:) of a collection sets the values of managed objects only.")
      }
      object.setValue(value, forKey: key)
    }
  }

  /// The managed objects that a step leads to.
  private static func objects(in value: Any?) -> [ManagedObject] {
    switch value {
    case let object as ManagedObject: return [object]
    case let ordered as NSOrderedSet: return ordered.compactMap { $0 as? ManagedObject }
    case let members as Set<ManagedObject>: return Array(members)
    case let members as [ManagedObject]: return members
    default: return []
    }
  }
}
