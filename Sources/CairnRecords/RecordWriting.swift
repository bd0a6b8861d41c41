// Setting the properties of an object from a row.

@_spi(Generated) import Cairn
import CairnControl
import Foundation

/// Applies row members to objects; shared by saves and imports.
struct RecordWriting {
  /// Finds the object that a relationship's wire value names.
  typealias Resolve = (JSONValue, RelationshipDescription) throws -> ManagedObject

  /// A property that a row may set.
  private enum Property {
    case attribute(AttributeDescription, slot: Int)
    case toOne(RelationshipDescription)
    case toMany(RelationshipDescription)
  }

  let entity: EntityDescription
  /// In the order of their names, so that the same rows have the same effects and the same errors.
  private let properties: [(name: String, property: Property)]
  private let names: Set<String>

  init(entityNamed name: String, in model: ManagedObjectModel) throws {
    guard let entity = model.entitiesByName[name] else {
      throw ControlError.unknownEntity(name, in: model)
    }
    self.init(entity: entity)
  }

  init(entity: EntityDescription) {
    self.entity = entity
    let layout: EntityLayout = entity.layout
    var properties: [(name: String, property: Property)] = layout.slots.enumerated().map {
      index, slot in
      switch slot.content {
      case .attribute(let attribute):
        (name: slot.name, property: .attribute(attribute, slot: index))
      case .toOne(let relationship): (name: slot.name, property: .toOne(relationship))
      }
    }
    properties += layout.toManys.map { (name: $0.name, property: .toMany($0)) }
    self.properties = properties.sorted { $0.name < $1.name }
    names = Set(properties.map(\.name)).union(["id", "entity"])
  }

  /// Refuses entities that have no objects of their own.
  func checkIsInsertable() throws {
    if entity.isAbstract {
      throw invalid("", "the entity is abstract; insert one of its subentities")
    }
  }

  /// Sets every member of the row.
  ///
  /// - Throws: `invalidValue` for the first member that is wrong, by its name, or `unknownProperty`;
  ///   other members are set.
  func apply(
    _ values: [String: JSONValue], to object: ManagedObject, resolve: Resolve
  ) throws {
    var known = 0
    for (name, property) in properties {
      guard let json = values[name] else { continue }
      known += 1
      switch property {
      case .attribute(let attribute, let slot):
        try set(json, attribute, named: name, slot: slot, of: object)
      case .toOne(let relationship):
        let destination = json == .null ? nil : try resolve(json, relationship)
        let current = object.value(forKey: name) as? ManagedObject
        if current !== destination { object.setValue(destination, forKey: name) }
      case .toMany(let relationship):
        try setMembers(json, of: relationship, object: object, resolve: resolve)
      }
    }
    if known < values.count { try checkNames(values) }
  }

  /// - Throws: `unknownProperty` for the first member that the entity does not have.
  func checkNames(_ values: [String: JSONValue]) throws {
    guard let unknown = values.keys.filter({ !names.contains($0) }).min() else { return }
    throw ControlError.unknownProperty(unknown, of: entity)
  }

  private func set(
    _ json: JSONValue, _ attribute: AttributeDescription, named name: String, slot: Int,
    of object: ManagedObject
  ) throws {
    if attribute is DerivedAttributeDescription {
      throw invalid(name, "the store computes this attribute; leave it out")
    }
    let value: AttributeValue
    do {
      value = try RecordCoding.value(json, for: attribute)
    } catch let error as RecordCodingError {
      throw invalid(name, error.reason)
    }
    if value.isNaN {
      throw invalid(name, "NaN cannot be stored: SQLite keeps nothing in its place; leave it out")
    }
    if !object.storedValue(at: slot).isSameStoredValue(as: value) {
      object.setStoredValue(value, at: slot)
    }
  }

  private func setMembers(
    _ json: JSONValue, of relationship: RelationshipDescription, object: ManagedObject,
    resolve: Resolve
  ) throws {
    guard let list = json == .null ? [] : json.arrayValue else {
      throw invalid(relationship.name, "an array of records is wanted, not \(json.kindName)")
    }
    let members = try list.map { try resolve($0, relationship) }
    if relationship.isOrdered {
      let current = (object.value(forKey: relationship.name) as? NSOrderedSet)?.array ?? []
      let same =
        current.count == members.count
        && zip(current, members).allSatisfy { ($0 as AnyObject) === $1 }
      if !same { object.setValue(NSOrderedSet(array: members), forKey: relationship.name) }
    } else {
      let wanted = Set(members)
      let current = object.value(forKey: relationship.name) as? Set<ManagedObject> ?? []
      if current != wanted { object.setValue(wanted, forKey: relationship.name) }
    }
  }

  /// The error for a member that is wrong.
  func invalid(_ property: String, _ reason: String) -> ControlError {
    .invalidValue(entity: entity.name ?? "", property: property, reason: reason)
  }
}
