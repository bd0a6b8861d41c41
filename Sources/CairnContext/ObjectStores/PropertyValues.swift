import CairnModel
import CairnStore
import Foundation

/// Makes rows of values that stores of a program's own give by property name.
enum PropertyValues {
  /// The row of an object.
  ///
  /// - Parameters:
  ///   - value: The value of a property by its name; nil or `NSNull` for none.
  ///   - destination: The destination of a to-one relationship.
  /// - Throws: 134070 for a value of the wrong class, and what the closures throw.
  static func row(
    of id: ManagedObjectID, version: Int64, value: (String) throws -> Any?,
    destination: (RelationshipDescription) throws -> ManagedObjectID?
  ) throws -> RowSnapshot {
    let layout: EntityLayout = id.entity.layout
    let values = try layout.slots.map { slot -> AttributeValue in
      if slot.isTransient { return .null }
      switch slot.content {
      case .toOne(let relationship):
        return try destination(relationship).map { .object($0) } ?? .null
      case .attribute(let attribute):
        do {
          return try AttributeCoding.encode(try leaf(slot.name, value), for: attribute)
        } catch let error as AttributeCodingError {
          throw CoreDataError(
            .persistentStoreOperation, "The store gave a wrong value for \(id): \(error)",
            underlyingError: error)
        }
      }
    }
    return .make(objectID: id, version: version, values: values)
  }

  /// A value by name; leaves of composites are looked for in dictionaries.
  private static func leaf(_ path: String, _ value: (String) throws -> Any?) rethrows -> Any? {
    let parts = path.split(separator: ".").map(String.init)
    var current = try value(parts.first ?? path)
    for part in parts.dropFirst() {
      if let dictionary = current as? [String: Any] {
        current = dictionary[part]
      } else {
        current = (current as? NSDictionary)?[part]
      }
    }
    return current
  }

  /// An attribute value without an attribute: by its class.
  ///
  /// - Throws: 134070 when no attribute can have it.
  static func attributeValue(of value: Any) throws -> AttributeValue {
    guard let value = AttributeCoding.unwrapped(value) else { return .null }
    switch value {
    case let text as String: return .string(text)
    case let date as Date: return .date(date)
    case let data as Data: return .data(data)
    case let uuid as UUID: return .uuid(uuid)
    case let url as URL: return .url(url)
    case let decimal as Decimal: return .decimal(decimal)
    case let object as any ObjectIdentifying: return .object(object.objectID)
    case let number as NSDecimalNumber: return .decimal(number.decimalValue)
    case let number as NSNumber:
      if number === NSNumber(value: true) { return .boolean(true) }
      if number === NSNumber(value: false) { return .boolean(false) }
      switch UInt8(bitPattern: number.objCType.pointee) {
      case UInt8(ascii: "f"), UInt8(ascii: "d"): return .double(number.doubleValue)
      default: return .integer(number.int64Value)
      }
    default:
      throw CoreDataError(
        .persistentStoreOperation,
        "A \(Swift.type(of: value)) cannot be a value in a dictionary that a store returns.")
    }
  }

  /// The IDs in what a store gives for a relationship: an ID, an object, a collection of them, or
  /// nothing.
  static func objectIDs(in value: Any?) -> [ManagedObjectID] {
    guard let value = AttributeCoding.unwrapped(value) else { return [] }
    switch value {
    case let object as any ObjectIdentifying: return [object.objectID]
    case let id as ManagedObjectID: return [id]
    case let list as [Any]: return list.flatMap { objectIDs(in: $0) }
    case let set as NSSet: return set.allObjects.flatMap { objectIDs(in: $0) }
    case let set as NSOrderedSet: return set.array.flatMap { objectIDs(in: $0) }
    case let set as Set<AnyHashable>: return set.flatMap { objectIDs(in: $0.base) }
    default: return []
    }
  }
}
