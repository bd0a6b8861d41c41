import Foundation

/// Reads key paths from values.
///
/// A step over a collection reads the rest of the path from each member; the result is an array
/// with one entry per member, null and duplicates included, as a join would give. A step from null
/// is null, except that operators see an empty collection. Values that are not `KeyValueReading`
/// are read by reflection, which sees stored properties only.
package enum KeyPathReading {
  /// The value at the end of a key path.
  ///
  /// - Throws: ``PredicateEvaluationError`` for a key that the value does not have.
  package static func value(
    of start: PredicateValue, keyPath: String
  ) throws -> PredicateValue {
    if !keyPath.utf8.contains(UInt8(ascii: ".")), keyPath.utf8.first != UInt8(ascii: "@") {
      return try step(from: start, key: keyPath)
    }
    return try value(of: start, path: keyPath.split(separator: ".")[...])
  }

  static func value(
    of start: PredicateValue, path: ArraySlice<Substring>
  ) throws -> PredicateValue {
    var current = start
    var rest = path
    while let key = rest.popFirst() {
      if key.first == "@" {
        return try CollectionOperators.apply(String(key), to: current, rest)
      }
      if let members = listMembers(of: current) {
        // Only this step: a later operator looks at the whole collection.
        current = .array(try members.map { try step(from: $0, key: String(key)) })
      } else {
        current = try step(from: current, key: String(key))
      }
    }
    return current
  }

  private static func listMembers(of value: PredicateValue) -> [PredicateValue]? {
    switch value {
    case .array(let members): return members
    case .set(let members): return Array(members)
    case .null, .boolean, .integer, .double, .decimal, .string, .date, .data, .uuid, .url,
      .objectID, .object, .dictionary:
      return nil
    }
  }

  private static func step(from value: PredicateValue, key: String) throws -> PredicateValue {
    if key == "self" || key == "SELF" { return value }
    switch value {
    case .null: return .null
    case .array(let members): return .array(try members.map { try step(from: $0, key: key) })
    case .set(let members): return .array(try members.map { try step(from: $0, key: key) })
    case .dictionary(let members): return members[.string(key)] ?? .null
    case .object(let reference): return try read(key, from: reference.object)
    case .objectID(let id):
      if key == "objectID" { return value }
      if key == "entity" { return .object(ObjectReference(id.namedEntity)) }
      throw noSuchKey(key, of: value)
    case .string, .url, .boolean, .integer, .double, .decimal, .date, .data, .uuid:
      guard let result = MessageTable.property(SelectorName(key), of: value) else {
        throw noSuchKey(key, of: value)
      }
      return result
    }
  }

  private static func read(_ key: String, from object: Any) throws -> PredicateValue {
    if let identified = object as? any IdentifiedObject {
      if key == "objectID" { return .objectID(identified.identity) }
      if key == "entity" { return .object(ObjectReference(identified.identity.namedEntity)) }
    }
    if let probed = object as? any KeyProbing {
      return PredicateValue(try probed.readValue(forKey: key))
    }
    if let readable = object as? any KeyValueReading {
      return PredicateValue(readable.value(forKey: key))
    }
    if let entity = object as? any NamedEntity {
      if key == "name" { return PredicateValue(entity.name) }
    } else if let value = property(key, of: object) {
      return PredicateValue(value)
    }
    throw noSuchKey(key, of: .object(ObjectReference(object)))
  }

  /// A stored property of an ordinary Swift value, which reflection can see.
  private static func property(_ key: String, of object: Any) -> Any? {
    var mirror: Mirror? = Mirror(reflecting: object)
    while let current = mirror {
      if let child = current.children.first(where: { $0.label == key }) { return child.value }
      mirror = current.superclassMirror
    }
    return nil
  }

  private static func noSuchKey(_ key: String, of value: PredicateValue) -> any Error {
    PredicateEvaluationError(
      .unsupportedKeyPath,
      "[<\(type(of: value.anyValue ?? NSNull()))> valueForUndefinedKey:]: this class is not "
        + "key value coding-compliant for the key \(key).")
  }
}

extension PredicateValue {
  /// Whether a value of this kind has a key of its own, such as `length`.
  package func hasProperty(_ key: String) -> Bool {
    MessageTable.property(SelectorName(key), of: self) != nil
  }
}
