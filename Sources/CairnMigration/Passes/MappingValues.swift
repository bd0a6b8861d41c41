@_spi(Generated) import CairnContext
import CairnModel
import CairnPredicates
import CairnStore
import Foundation

/// Evaluates the expressions of property mappings and puts the values into destination objects.
struct MappingValues {
  let manager: MigrationManager
  let mapping: EntityMapping
  let policy: EntityMigrationPolicy

  /// Sets an attribute, or an element of a composite one by its path; without an expression it keeps
  /// its default, and a mandatory one keeps it also where the expression has no value.
  ///
  /// - Throws: 134170 when the expression cannot be evaluated or its value does not fit, 134110 when
  ///   an inferred mapping has no value for a mandatory attribute.
  func setAttribute(
    _ property: PropertyMapping, of object: ManagedObject, source: ManagedObject
  ) throws {
    let name = property.name ?? ""
    let layout: EntityLayout = object.entity.layout
    guard let attribute = Self.attribute(name, of: object.entity) else {
      throw failure(property, "\(object.entity.name ?? "") has no attribute \(name).")
    }
    guard let expression = property.valueExpression else {
      if attribute.defaultValue == nil, Self.isMandatory(attribute),
        layout.slotByName[name] != nil, manager.mappingModel.isInferred,
        mapping.entityMigrationPolicyClassName == nil
      {
        throw missing(attribute, name, of: object)
      }
      return
    }
    let value = try value(of: expression, property, object, source)
    if let slot = layout.slotByName[name] {
      return try set(value, at: slot, of: object, property)
    }
    guard let leaves = layout.composites[name] else { return }
    let parts = value as? [String: Any]
    guard parts != nil || value == nil || value is NSNull else {
      throw failure(property, "its value is no dictionary of the elements.")
    }
    for slot in leaves {
      var part: Any? = parts
      for step in layout.slots[slot].name.split(separator: ".").dropFirst() {
        part = (part as? [String: Any])?[String(step)]
      }
      try set(part, at: slot, of: object, property)
    }
  }

  /// Gives the mandatory elements of optional composite attributes that have a value their defaults,
  /// where they have none; called when all attributes are set.
  ///
  /// - Throws: 134110 when an inferred mapping has no value for one.
  func completeComposites(of object: ManagedObject) throws {
    let layout: EntityLayout = object.entity.layout
    for slot in layout.ruledSlots where layout.slots[slot].group != nil {
      guard !layout.slots[slot].isTransient, object.storedValue(at: slot).isNull,
        layout.needsValue(slot, isNull: { object.storedValue(at: $0).isNull }),
        let attribute = layout.slots[slot].attribute
      else { continue }
      let standard = layout.defaultValues[slot]
      if !standard.isNull {
        object.setStoredValue(standard, at: slot)
      } else if manager.mappingModel.isInferred, mapping.entityMigrationPolicyClassName == nil {
        throw missing(attribute, layout.slots[slot].name, of: object)
      }
    }
  }

  // The layout knows most properties by name; an entity makes a dictionary of them each time.

  private static func attribute(
    _ name: String, of entity: EntityDescription
  ) -> AttributeDescription? {
    let layout: EntityLayout = entity.layout
    if let slot = layout.slotByName[name], let attribute = layout.slots[slot].attribute,
      attribute.name == name || name.hasSuffix(".\(attribute.name)")
    {
      return attribute
    }
    return entity.attributesByName[name]
  }

  private static func relationship(
    _ name: String, of entity: EntityDescription
  ) -> RelationshipDescription? {
    let layout: EntityLayout = entity.layout
    if let slot = layout.slotByName[name] { return layout.slots[slot].relationship }
    if let index = layout.toManyByName[name] { return layout.toManys[index] }
    return entity.relationshipsByName[name]
  }

  private static func isMandatory(_ attribute: AttributeDescription) -> Bool {
    !attribute.isOptional && !attribute.isTransient
  }

  private func set(
    _ value: Any?, at slot: Int, of object: ManagedObject, _ property: PropertyMapping
  ) throws {
    let layout: EntityLayout = object.entity.layout
    guard let attribute = layout.slots[slot].attribute else { return }
    // A composite that is optional is whole before it is known what it must have.
    let isMandatory =
      !layout.slots[slot].isTransient && !attribute.isOptional && layout.slots[slot].group == nil
    if value == nil || value is NSNull, isMandatory {
      // A mandatory attribute that was optional keeps its default where it had no value.
      if !layout.defaultValues[slot].isNull { return }
      if manager.mappingModel.isInferred {
        throw missing(attribute, layout.slots[slot].name, of: object)
      }
    }
    do {
      let stored = try AttributeCoding.encode(value, for: attribute)
      if stored.isNull, isMandatory, !layout.defaultValues[slot].isNull { return }
      object.setStoredValue(stored, at: slot)
    } catch {
      throw failure(property, "\(error)", error)
    }
  }

  /// Sets a relationship to what the expression gives: an object, or a collection of objects.
  ///
  /// - Throws: As ``setAttribute(_:of:source:)``.
  func setRelationship(
    _ property: PropertyMapping, of object: ManagedObject, source: ManagedObject?
  ) throws {
    let name = property.name ?? ""
    guard let relationship = Self.relationship(name, of: object.entity) else {
      throw failure(property, "\(object.entity.name ?? "") has no relationship \(name).")
    }
    guard let expression = property.valueExpression else { return }
    var members = try objects(
      in: value(of: expression, property, object, source), property: property)
    func isPossible(_ member: ManagedObject) -> Bool {
      relationship.destinationEntity.map { member.entity.isKindOf(entity: $0) } ?? false
    }
    // What the relationship does not lead to any more goes, as in place.
    if manager.mappingModel.isInferred { members = members.filter(isPossible) }
    for member in members {
      guard isPossible(member), member.managedObjectContext === manager.destinationContext else {
        throw failure(
          property,
          "an object of \(member.entity.name ?? "") cannot be the destination of \(name), which "
            + "leads to \(relationship.destinationEntity?.name ?? "?").")
      }
    }
    // Their inverses are changed: together they are read in one go. What a policy has deleted is not
    // there any more.
    try manager.destinationContext.fill(members)
    members = members.filter { !$0.isFault && !$0.isDeleted }
    switch (relationship.isToMany, relationship.isOrdered) {
    case (false, _):
      guard members.count <= 1 else {
        throw failure(property, "\(members.count) objects were found for a to-one relationship.")
      }
      object.setValue(members.first, forKey: name)
    case (true, true): object.setValue(NSOrderedSet(array: members), forKey: name)
    case (true, false): object.setValue(Set(members), forKey: name)
    }
  }

  private func objects(in value: Any?, property: PropertyMapping) throws -> [ManagedObject] {
    guard let value, !(value is NSNull) else { return [] }
    if let object = value as? ManagedObject { return [object] }
    guard let objects = ManagedObjects.list(value) else {
      throw failure(property, "its value is no managed object and no collection of them.")
    }
    return objects
  }

  private func value(
    of expression: ObjectExpression, _ property: PropertyMapping, _ object: ManagedObject,
    _ source: ManagedObject?
  ) throws -> Any? {
    // Nearly all are that, and need none of the other variables.
    if case .keyPathOf(.variable(MigrationKey.sourceObject), let path) = expression.node {
      do {
        return try KeyPathReading.value(of: PredicateValue(source), keyPath: path).anyValue
      } catch let error as PredicateEvaluationError {
        throw failure(property, error.reason, error)
      }
    }
    let variables = NSMutableDictionary()
    variables[MigrationKey.manager] = manager
    variables[MigrationKey.sourceObject] = source ?? NSNull()
    variables[MigrationKey.destinationObject] = object
    variables[MigrationKey.entityMapping] = mapping
    variables[MigrationKey.propertyMapping] = property
    variables[MigrationKey.entityPolicy] = policy
    do {
      return try expression.value(for: source, context: variables)
    } catch let error as PredicateEvaluationError {
      throw failure(property, error.reason, error)
    }
  }

  /// As a store says it that migrates by itself.
  private func missing(
    _ attribute: AttributeDescription, _ path: String, of object: ManagedObject
  ) -> CoreDataError {
    CoreDataError(
      .migration,
      "Objects of \(object.entity.name ?? "") have no value for the mandatory attribute "
        + "\(path). Give it a default value in the model, or make it optional.",
      userInfo: [
        "reason": "Validation error missing attribute values on mandatory destination attribute",
        "entity": object.entity.name ?? "", "attribute": path,
      ])
  }

  private func failure(
    _ property: PropertyMapping, _ reason: String, _ error: (any Error)? = nil
  ) -> CoreDataError {
    CoreDataError(
      .entityMigrationPolicy,
      "The mapping \(mapping.title) has no usable value for \(property.name ?? "?"): \(reason)",
      userInfo: ["reason": reason], underlyingError: error)
  }
}

/// The variables of mapping expressions, with Core Data's raw values.
public enum MigrationKey {
  public static let manager = "manager"
  public static let sourceObject = "source"
  public static let destinationObject = "destination"
  public static let entityMapping = "entityMapping"
  public static let propertyMapping = "propertyMapping"
  public static let entityPolicy = "entityPolicy"
}

/// Collections of managed objects in whatever form expressions hold them.
enum ManagedObjects {
  /// The objects; nil when the value holds something else.
  static func list(_ value: Any) -> [ManagedObject]? {
    switch value {
    case let object as ManagedObject: return [object]
    case let objects as [ManagedObject]: return objects
    case let objects as Set<ManagedObject>: return Array(objects)
    case let objects as NSOrderedSet: return whole(objects.array)
    case let objects as NSSet: return whole(objects.allObjects)
    case let objects as [Any?]: return whole(objects.compactMap { $0 })
    case let objects as Set<AnyHashable>: return whole(objects.map(\.base))
    default: return nil
    }
  }

  private static func whole(_ members: [Any]) -> [ManagedObject]? {
    let objects = members.compactMap { $0 as? ManagedObject }
    return objects.count == members.count ? objects : nil
  }
}
