import CairnModel
import CairnPredicates
import CairnStore
import Foundation

/// The model's rules for one property of one object.
struct PropertyValidation {
  let object: ManagedObject

  /// - Throws: ``CoreDataError`` with the code that fits the rule that does not hold.
  func validate(_ value: Any?, forKey key: String) throws {
    guard let property = object.entity.propertiesByName[key] else { return }
    let value = AttributeCoding.unwrapped(value)
    switch property {
    case let relationship as RelationshipDescription:
      try checkClass(of: value, for: relationship)
      try check(relationship, count: Self.count(value), value: value)
    case is FetchedPropertyDescription: return
    default:
      if let attribute = property as? AttributeDescription {
        try checkClass(of: value, for: attribute)
      }
      try check(property, value: value, key: key)
    }
  }

  /// The rules of an attribute.
  func check(_ property: PropertyDescription, value: Any?, key: String) throws {
    // A refused value is what the object shows, although none is stored.
    if let attribute = property as? AttributeDescription {
      try checkRefusal(of: attribute, key: key)
    }
    if value == nil {
      if !property.isOptional { throw missing(property, key: key) }
    } else {
      try checkPredicates(of: property, value: value, key: key)
    }
  }

  /// A value that could not be encoded when it was set is reported now.
  private func checkRefusal(of attribute: AttributeDescription, key: String) throws {
    guard let refused = object.looseValue(key) as? RefusedValue else { return }
    throw error(
      .managedObjectValidation, attribute, refused.reason, value: refused.value, key: key)
  }

  /// The same for a slot, without boxing values that no rule asks about.
  func validate(slot: Int) throws {
    let isNull = object.firedSlots[slot].isNull
    let name = object.layout.slots[slot].name
    switch object.layout.slots[slot].content {
    case .toOne(let relationship):
      if isNull, !relationship.isOptional { throw missing(relationship) }
      if !relationship.validationPredicates.isEmpty, !isNull {
        try checkPredicates(of: relationship, value: object.value(forKey: relationship.name))
      }
    case .attribute(let attribute):
      if attribute.attributeType == .undefined {
        try check(attribute, value: object.looseValue(name), key: name)
      } else if isNull {
        try checkRefusal(of: attribute, key: name)
        if object.layout.needsValue(slot, isNull: { object.firedSlots[$0].isNull }) {
          throw missing(attribute, key: name)
        }
      } else if !attribute.validationPredicates.isEmpty {
        let value = AttributeCoding.decode(object.firedSlots[slot], for: attribute)
        try checkPredicates(of: attribute, value: value, key: name)
      }
    }
  }

  func validate(toMany index: Int) throws {
    let relationship = object.layout.toManys[index]
    let isUnlimited = relationship.maxCount == 0 && relationship.minCount == 0
    if isUnlimited, relationship.validationPredicates.isEmpty { return }
    let members = object.loadedToMany(index).members
    try check(relationship, count: members.count, value: members)
  }

  private static func count(_ value: Any?) -> Int {
    switch value {
    case nil: return 0
    // Foundation casts it to an empty Swift set.
    case let set as ManagedObjectSet: return set.count
    case let set as Set<AnyHashable>: return set.count
    case let ordered as NSOrderedSet: return ordered.count
    case let set as NSSet: return set.count
    case let array as [Any]: return array.count
    default: return 1
    }
  }

  // MARK: Classes

  private func checkClass(of value: Any?, for attribute: AttributeDescription) throws {
    // A class's own accessor may answer with a member of an enumeration.
    let stored = (value as? any RawRepresentable).map { $0.rawValue as Any } ?? value
    do {
      try AttributeCoding.checkClass(of: stored, for: attribute)
    } catch let refusal {
      throw error(.managedObjectValidation, attribute, "\(refusal)", value: value)
    }
  }

  private func checkClass(of value: Any?, for relationship: RelationshipDescription) throws {
    guard let value else { return }
    let members = relationship.isToMany ? Self.members(value, relationship) : [value]
    if let members, members.allSatisfy({ Self.isMember($0, of: relationship) }) { return }
    throw error(
      .managedObjectValidation, relationship,
      "Unacceptable type of value for relationship: property = \"\(relationship.name)\"; desired "
        + "type = \(relationship.destinationEntity?.managedObjectClassName ?? "NSManagedObject"); "
        + "given type = \(type(of: value)); value = \(value).", value: value)
  }

  /// Nil for what is no collection of the relationship's kind.
  private static func members(_ value: Any, _ relationship: RelationshipDescription) -> [Any]? {
    switch (value, relationship.isOrdered) {
    case (let ordered as NSOrderedSet, true): return ordered.array
    // Foundation casts it to an empty Swift set.
    case (let set as ManagedObjectSet, false): return Array(set.members)
    case (let set as NSSet, false): return set.allObjects
    case (let set as Set<AnyHashable>, false): return set.map(\.base)
    case (_, _): return nil
    }
  }

  private static func isMember(_ value: Any, of relationship: RelationshipDescription) -> Bool {
    guard let object = value as? ManagedObject else { return false }
    guard let entity = relationship.destinationEntity else { return true }
    return object.entity.isKindOf(entity: entity)
  }

  // MARK: Rules

  private func missing(_ property: PropertyDescription, key: String? = nil) -> CoreDataError {
    error(
      .validationMissingMandatoryProperty, property,
      "\(label(of: property, key)) is a required value.", value: nil, key: key)
  }

  private func check(
    _ relationship: RelationshipDescription, count: Int, value: Any?
  ) throws {
    let name = label(of: relationship)
    if count == 0 {
      if relationship.isOptional { return }
      if !relationship.isToMany { throw missing(relationship) }
      // Only the smallest count says how many members a required relationship needs.
      if relationship.minCount > 0 {
        throw error(
          .validationRelationshipLacksMinimumCount, relationship, "\(name) is a required value.",
          value: value)
      }
    }
    if relationship.isToMany {
      if count < relationship.minCount {
        throw error(
          .validationRelationshipLacksMinimumCount, relationship,
          "Too few objects in \(name): \(count), at least \(relationship.minCount) required.",
          value: value)
      }
      if relationship.maxCount > 0, count > relationship.maxCount {
        throw error(
          .validationRelationshipExceedsMaximumCount, relationship,
          "Too many objects in \(name): \(count), at most \(relationship.maxCount) allowed.",
          value: value)
      }
    }
    try checkPredicates(of: relationship, value: value)
  }

  private func checkPredicates(
    of property: PropertyDescription, value: Any?, key: String? = nil
  ) throws {
    for (predicate, warning) in zip(property.validationPredicates, property.validationWarnings) {
      let holds: Bool
      do {
        holds = try predicate.test(value)
      } catch let underlying {
        throw error(
          .managedObjectValidation, property,
          "\(label(of: property, key)) cannot be validated: \(underlying)", value: value,
          predicate: predicate, key: key)
      }
      if holds { continue }
      if let code = (warning as? NSNumber)?.intValue {
        throw error(
          .init(rawValue: code), property, Self.text(code, label(of: property, key)), value: value,
          predicate: predicate, key: key)
      }
      let text = "\(warning)"
      throw error(
        .managedObjectValidation, property, model?.localizedErrorString(text) ?? text,
        value: value, predicate: predicate, key: key)
    }
  }

  // MARK: Errors

  private static func text(_ code: Int, _ name: String) -> String {
    switch code {
    case 1610: return "\(name) is too large."
    case 1620: return "\(name) is too small."
    case 1630: return "\(name) is too late."
    case 1640: return "\(name) is too soon."
    case 1660: return "\(name) is too long."
    case 1670: return "\(name) is too short."
    case 1680: return "\(name) does not match the required pattern."
    default: return "\(name) is not valid."
    }
  }

  /// The localized name; without one an element of a composite attribute goes by its path.
  private func label(of property: PropertyDescription, _ path: String? = nil) -> String {
    let name = model?.localizedName(of: property, in: object.entity) ?? property.name
    return name == property.name ? path ?? name : name
  }

  private var model: ManagedObjectModel? { object.entity.managedObjectModel }

  private func error(
    _ code: CoreDataError.Code, _ property: PropertyDescription, _ message: String, value: Any?,
    predicate: ObjectPredicate? = nil, key: String? = nil
  ) -> CoreDataError {
    var info: [String: Any] = [
      "NSValidationErrorObject": object, "NSValidationErrorKey": key ?? property.name,
    ]
    if let value { info["NSValidationErrorValue"] = value }
    if let predicate { info["NSValidationErrorPredicate"] = predicate }
    return CoreDataError(code, message, userInfo: info)
  }
}
