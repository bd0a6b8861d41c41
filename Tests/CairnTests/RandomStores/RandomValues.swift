// Random values of attributes, and what objects hold as text that can be compared.

import Cairn
import Foundation
import ParitySamples

enum RandomValues {
  /// A value for an attribute; nil now and then.
  static func value(
    of attribute: AttributeDescription, isUnique: Bool, _ random: inout ParityRandom
  ) -> Any? {
    if attribute.isOptional, random.below(6) == 0 { return nil }
    switch attribute.attributeType {
    case .integer16: return random.pick([0, -1, 7, Int(Int16.max), Int(Int16.min)])
    case .integer32: return random.pick([0, 3, -9, Int(Int32.max), Int(Int32.min)])
    case .integer64: return random.pick([0, 1, -5, 1 << 53, Int.max, Int.min])
    case .boolean: return random.below(2) == 0
    case .decimal:
      return NSDecimalNumber(
        string: random.pick([
          "0", "10.11", "-3", "12345678901234567890.123456789", "0.1", "1e60",
        ]))
    case .double: return random.pick([0, 0.1, -2.5, 1e300, 3, 52.52])
    case .float: return random.pick([Float(0), 0.5, -1.25, 3, 13.4])
    case .date:
      return Date(
        timeIntervalSinceReferenceDate: random.pick([0, 0.25, 86_400, -1e9, 7e8 + 0.125]))
    case .string:
      if isUnique { return "u\(random.below(60))" }
      return random.pick(["", "a", "Été", "o'clock", "100%", "zwei\nZeilen", "名", "B"])
    case .uuid:
      return UUID(
        uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, UInt8(random.below(256))))
    case .uri: return URL(string: "https://example.org/\(random.below(50))?q=a%20b")
    case .binaryData:
      let size = random.pick([0, 1, 38, 500, 500, 500, 120_000])
      return Data(repeating: UInt8(random.below(256)), count: size)
    case .transformable: return random.pick([["a"], [], ["b", "c"]]) as NSArray
    case .composite:
      return ["city": random.pick(["Rom", "Ulm"]), "level": random.below(9)] as [String: Any]
    case .undefined, .objectID: return nil
    }
  }

  /// Everything that an object holds and stores keep, by property.
  ///
  /// - Parameter isFresh: Whether it has just been read; otherwise what other objects' changes have
  ///   changed is left out: derived attributes, and to-many relationships without an inverse, whose
  ///   members belong to one owner in the file only.
  static func contents(
    of object: ManagedObject, isFresh: Bool
  ) -> [String: String] {
    var result: [String: String] = [:]
    for (name, property) in object.entity.propertiesByName where !property.isTransient {
      if property is DerivedAttributeDescription, !isFresh { continue }
      if let relationship = property as? RelationshipDescription {
        if relationship.isToMany, relationship.inverseRelationship == nil, !isFresh { continue }
        result[name] = members(object.value(forKey: name), of: relationship)
      } else {
        result[name] = text(object.value(forKey: name))
      }
    }
    return result
  }

  private static func members(
    _ value: Any?, of relationship: RelationshipDescription
  ) -> String {
    switch value {
    case nil: return "-"
    case let object as ManagedObject: return key(object)
    case let set as NSOrderedSet:
      return set.array.compactMap { ($0 as? ManagedObject).map(key) }.joined(separator: " ")
    case let set as NSSet:
      return set.allObjects.compactMap { ($0 as? ManagedObject).map(key) }.sorted()
        .joined(separator: " ")
    default: return "unexpected \(String(describing: value))"
    }
  }

  /// Such as `Book/p3`.
  static func key(_ object: ManagedObject) -> String {
    object.objectID.uriRepresentation().path
  }

  private static func text(_ value: Any?) -> String {
    switch value {
    case nil: return "nil"
    case let data as Data: return "\(data.count) bytes \(data.first ?? 0) \(data.last ?? 0)"
    case let date as Date: return "\(date.timeIntervalSinceReferenceDate)"
    case let list as [String: Any]:
      return list.sorted { $0.key < $1.key }.map { "\($0.key) \(text($0.value))" }
        .joined(separator: ", ")
    case let value?: return "\(value)"
    }
  }
}
