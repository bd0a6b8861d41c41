// Setting the properties of an object from a row.

@_spi(Generated) import Cairn
import CairnControl
import Foundation

/// Applies row members to objects; shared by saves and imports.
struct RecordWriting {
  /// Finds the object that a relationship's wire value names.
  typealias Resolve = (JSONValue, RelationshipDescription) throws -> ManagedObject

  let entity: EntityDescription

  init(entityNamed name: String, in model: ManagedObjectModel) throws {
    guard let entity = model.entitiesByName[name] else {
      throw ControlError.unknownEntity(name, in: model)
    }
    self.entity = entity
  }

  init(entity: EntityDescription) { self.entity = entity }

  /// Refuses entities that have no objects of their own.
  func checkIsInsertable() throws {
    if entity.isAbstract {
      throw invalid("", "the entity is abstract; insert one of its subentities")
    }
  }

  /// Sets every member of the row.
  ///
  /// - Throws: `unknownProperty` or `invalidValue`; members before the bad one are set.
  func apply(
    _ values: [String: JSONValue], to object: ManagedObject, resolve: Resolve
  ) throws {
    for (name, json) in values.sorted(by: { $0.key < $1.key }) {
      if let slot = entity.layout.slotByName[name] {
        try set(json, slot: slot, of: object, resolve: resolve)
      } else if let relationship = entity.relationshipsByName[name] {
        try setMembers(json, of: relationship, object: object, resolve: resolve)
      } else if name != "id" && name != "entity" {
        throw ControlError.unknownProperty(name, of: entity)
      }
    }
  }

  private func set(
    _ json: JSONValue, slot index: Int, of object: ManagedObject, resolve: Resolve
  ) throws {
    let slot = entity.layout.slots[index]
    switch slot.content {
    case .attribute(let attribute):
      if attribute is DerivedAttributeDescription {
        throw invalid(slot.name, "the store computes this attribute; leave it out")
      }
      let value: AttributeValue
      do {
        value = try RecordCoding.value(json, for: attribute)
      } catch let error as RecordCodingError {
        throw invalid(slot.name, error.reason)
      }
      if !object.storedValue(at: index).isSameStoredValue(as: value) {
        object.setStoredValue(value, at: index)
      }
    case .toOne(let relationship):
      let destination = json == .null ? nil : try resolve(json, relationship)
      let current = object.value(forKey: relationship.name) as? ManagedObject
      if current !== destination { object.setValue(destination, forKey: relationship.name) }
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

  func invalid(_ property: String, _ reason: String) -> ControlError {
    .invalidValue(entity: entity.name ?? "", property: property, reason: reason)
  }
}
