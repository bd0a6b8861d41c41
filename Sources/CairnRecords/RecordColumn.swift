// One member of a row, read from an object.

@_spi(Generated) import Cairn
import CairnControl
import Foundation

/// A property, or a key path such as `maintainer.name` or `dependents.@count`, that a row shows.
struct RecordColumn {
  enum Source {
    case slot(Int)
    case toOne(Int)
    case toMany(RelationshipDescription)
    case path(steps: [RelationshipDescription], slot: Int)
    case aggregate(ObjectExpression)
  }

  let name: String
  let source: Source
  /// Whether a SQL store sorts rows by it without reading them all first.
  let isSortedBySQL: Bool

  /// The columns of every stored property of an entity, in the layout's order.
  static func all(of entity: EntityDescription) -> [RecordColumn] {
    let layout: EntityLayout = entity.layout
    let slots = layout.slots.enumerated().compactMap { index, slot -> RecordColumn? in
      if slot.isTransient { return nil }
      return RecordColumn(
        name: slot.name, source: slot.relationship == nil ? .slot(index) : .toOne(index),
        isSortedBySQL: slot.isSortedBySQL)
    }
    let toManys = layout.toManys.filter { !$0.isTransient }
    return slots
      + toManys.map { RecordColumn(name: $0.name, source: .toMany($0), isSortedBySQL: false) }
  }

  /// The column of one property or key path.
  ///
  /// - Throws: `unknownProperty` when the entity has no such path.
  init(path: String, entity: EntityDescription) throws {
    name = path
    let parts = path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    let unknown = ControlError.unknownProperty(path, of: entity)
    if let slot = entity.layout.slotByName[path] {
      source = entity.layout.slots[slot].relationship == nil ? .slot(slot) : .toOne(slot)
      isSortedBySQL = entity.layout.slots[slot].isSortedBySQL
      return
    }
    if let index = entity.layout.toManyByName[path] {
      source = .toMany(entity.layout.toManys[index])
      isSortedBySQL = false
      return
    }
    var steps: [RelationshipDescription] = []
    var current = entity
    for (position, part) in parts.enumerated() {
      if part.hasPrefix("@") {
        guard steps.last?.isToMany == true,
          Self.isAggregate(parts[position...], of: current)
        else { throw unknown }
        source = .aggregate(ObjectExpression(forKeyPath: path))
        isSortedBySQL = false
        return
      }
      let rest = parts[position...].joined(separator: ".")
      if let slot = current.layout.slotByName[rest],
        current.layout.slots[slot].relationship == nil
      {
        source = .path(steps: steps, slot: slot)
        isSortedBySQL = current.layout.slots[slot].isSortedBySQL
        return
      }
      guard let relationship = current.relationshipsByName[part],
        let destination = relationship.destinationEntity
      else { throw unknown }
      if relationship.isToMany {
        // Only an aggregate can follow a to-many: there is more than one value.
        guard position + 1 < parts.count, parts[position + 1].hasPrefix("@") else { throw unknown }
      }
      steps.append(relationship)
      current = destination
    }
    throw unknown
  }

  /// Whether the operator exists and fits what it is given: callers name it, so nothing may be left
  /// to be found out by evaluating it.
  private static func isAggregate(
    _ parts: ArraySlice<String>, of entity: EntityDescription
  ) -> Bool {
    guard let name = parts.first else { return false }
    if name == "@count" { return parts.count == 1 }
    guard ["@sum", "@avg", "@min", "@max"].contains(name), parts.count == 2,
      let type = parts.last.flatMap({ entity.attributesByName[$0]?.attributeType })
    else { return false }
    switch type {
    case .integer16, .integer32, .integer64, .decimal, .double, .float: return true
    case .string, .date: return name == "@min" || name == "@max"
    case .boolean, .binaryData, .uuid, .uri, .transformable, .objectID, .composite, .undefined:
      return false
    }
  }

  private init(name: String, source: Source, isSortedBySQL: Bool) {
    self.name = name
    self.source = source
    self.isSortedBySQL = isSortedBySQL
  }

  /// What a SQL store sorts a row by; only where it does.
  func sortValue(of object: ManagedObject) -> AttributeValue {
    switch source {
    case .slot(let slot): return object.storedValue(at: slot)
    case .toOne:
      return references(of: object).first?.rowKey.map { .integer($0) } ?? .null
    case .path(let steps, let slot):
      return Self.end(of: steps, from: object)?.storedValue(at: slot) ?? .null
    case .toMany, .aggregate: return .null
    }
  }

  /// Where to-one relationships lead.
  private static func end(
    of steps: [RelationshipDescription], from object: ManagedObject
  ) -> ManagedObject? {
    steps.reduce(object) { $0?.value(forKey: $1.name) as? ManagedObject }
  }

  /// The objects that the column's value refers to.
  func references(of object: ManagedObject) -> [ManagedObjectID] {
    switch source {
    case .toOne(let slot):
      if case .object(let id) = object.storedValue(at: slot) { return [id] }
      return []
    case .toMany(let relationship): return object.objectIDs(forRelationshipNamed: relationship.name)
    case .slot, .path, .aggregate: return []
    }
  }

  /// The column's value; `names` has the name of every object that is referred to.
  func value(of object: ManagedObject, names: [ManagedObjectID: String]) -> JSONValue {
    switch source {
    case .slot(let slot): return RecordCoding.json(object.storedValue(at: slot))
    case .toOne:
      return references(of: object).first.flatMap { names[$0] }.map { .string($0) } ?? .null
    case .toMany(let relationship):
      let members = references(of: object).compactMap { names[$0] }
      // A set has no order of its own; the same rows must look the same each time.
      return .array((relationship.isOrdered ? members : members.sorted()).map { .string($0) })
    case .path(let steps, let slot):
      return Self.end(of: steps, from: object).map { RecordCoding.json($0.storedValue(at: slot)) }
        ?? .null
    case .aggregate(let expression):
      // What has no value, such as the sum of a column that overflows, is null.
      return Self.json(try? expression.value(for: object))
    }
  }

  /// The wire form of a computed value.
  private static func json(_ value: Any?) -> JSONValue {
    switch AttributeCoding.unwrapped(value) {
    case let number as NSNumber:
      let double = number.doubleValue
      return Int64(exactly: double) == number.int64Value
        ? .exact(number.int64Value) : .exact(double)
    case let text as String: return .string(text)
    case let date as Date: return RecordCoding.json(.date(date))
    default: return .null
    }
  }
}

extension EntityLayout.Slot {
  fileprivate var isSortedBySQL: Bool {
    guard !isTransient else { return false }
    switch attribute?.attributeType {
    // A to-one relationship: its key.
    case nil: return true
    case .integer16, .integer32, .integer64, .decimal, .double, .float, .string, .boolean, .date,
      .uuid,
      .uri:
      return true
    case .binaryData, .transformable, .objectID, .composite, .undefined: return false
    }
  }
}
