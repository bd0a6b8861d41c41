import CairnModel
import CairnStore
import Foundation

/// Validates whole objects and reports everything at once.
enum ObjectValidation {
  /// All objects about to be saved: deleted, then inserted, then updated ones.
  ///
  /// - Throws: The one error, or 1560 with all of them under `NSDetailedErrors`.
  static func validate(_ pending: PendingChanges) throws {
    // Without rules of a class or the model there is nothing to be asked.
    if !pending.traits.contains(.rules) { return }
    try validate(pending.objects)
  }

  static func validate(_ objects: some Sequence<ManagedObject>) throws {
    var errors = ValidationErrors()
    for object in objects where object.flags.contains(.deleted) {
      if object.flags.contains(.inaccessible) { continue }
      errors.collect { try object.validateForDelete() }
    }
    for object in objects where object.isInserted {
      errors.collect { try object.validateForInsert() }
    }
    for object in objects where object.isUpdated {
      errors.collect { try object.validateForUpdate() }
    }
    try errors.throwIfAny()
  }

  /// Every property, in the order of their names.
  static func validateProperties(of object: ManagedObject) throws {
    // A class that has rules of its own is asked by key, as key-value validation would.
    if object.flags.contains(.hasRuleHooks) {
      try validateByKeys(object)
      return
    }
    let layout = object.layout
    if layout.ruledSlots.isEmpty, layout.ruledToManys.isEmpty, layout.ruledComposites.isEmpty {
      return
    }
    if isGone(object) { return }
    var errors = ValidationErrors()
    let checks = PropertyValidation(object: object)
    for slot in layout.ruledSlots { errors.collect { try checks.validate(slot: slot) } }
    for index in layout.ruledToManys { errors.collect { try checks.validate(toMany: index) } }
    validateComposites(of: object, checks, &errors)
    try errors.throwIfAny()
  }

  /// Whether it turns out now that there is no row any more: it has no values to be validated.
  private static func isGone(_ object: ManagedObject) -> Bool {
    _ = object.firedSlots
    return object.isDeleted
  }

  private static func validateByKeys(_ object: ManagedObject) throws {
    if isGone(object) { return }
    var errors = ValidationErrors()
    let checks = PropertyValidation(object: object)
    for slot in 0..<object.slotCount {
      errors.collect {
        if object.layout.slots[slot].name.contains(".") {
          try checks.validate(slot: slot)
        } else {
          try validateByKey(object, slot: slot)
        }
      }
    }
    for (index, relationship) in object.layout.toManys.enumerated() {
      errors.collect {
        if object.touchedToMany(index) != nil || !relationship.isOptional {
          var value = self.value(of: object, forKey: relationship.name)
          try object.validateValue(&value, forKey: relationship.name)
        } else {
          try checks.validate(toMany: index)
        }
      }
    }
    validateComposites(of: object, checks, &errors)
    try errors.throwIfAny()
  }

  /// Composites as a whole; their elements are validated as slots.
  private static func validateComposites(
    of object: ManagedObject, _ checks: PropertyValidation, _ errors: inout ValidationErrors
  ) {
    for composite in object.layout.ruledComposites {
      errors.collect {
        let value = self.value(of: object, forKey: composite.name)
        try checks.check(composite, value: value, key: composite.name)
      }
    }
  }

  /// `validateValue` may replace the value; a replacement is stored.
  private static func validateByKey(_ object: ManagedObject, slot: Int) throws {
    let key = object.layout.slots[slot].name
    let old = value(of: object, forKey: key)
    var value = old
    try object.validateValue(&value, forKey: key)
    let isSame: Bool
    switch (old, value) {
    case (nil, nil): isSame = true
    case (let a?, let b?): isSame = (a as? AnyHashable) == (b as? AnyHashable)
    case (nil, _?), (_?, nil): isSame = false
    }
    if isSame { return }
    if KeyAccess(object: object).hasClassProperty(key) {
      KeyAccess(object: object).setModelValue(value, forKey: key)
    } else {
      object.setValue(value, forKey: key)
    }
  }

  /// What is to be stored, not what a property of the class makes of it.
  private static func value(of object: ManagedObject, forKey key: String) -> Any? {
    let keys = KeyAccess(object: object)
    return keys.hasClassProperty(key) ? keys.modelValue(forKey: key) : object.value(forKey: key)
  }

  /// Deny rules: no member may be left that is not being deleted itself.
  static func validateDeletion(of object: ManagedObject) throws {
    if !object.layout.deniesDeletion { return }
    var errors = ValidationErrors()
    for slot in 0..<object.slotCount {
      guard let relationship = object.layout.slots[slot].relationship,
        relationship.deleteRule == .deny,
        let target = InverseMaintenance.target(of: object, at: slot), !target.isDeleted
      else { continue }
      errors.add(denied(object, relationship))
    }
    for (index, relationship) in object.layout.toManys.enumerated()
    where relationship.deleteRule == .deny {
      if object.loadedToMany(index).members.contains(where: { !$0.isDeleted }) {
        errors.add(denied(object, relationship))
      }
    }
    try errors.throwIfAny()
  }

  private static func denied(
    _ object: ManagedObject, _ relationship: RelationshipDescription
  ) -> CoreDataError {
    CoreDataError(
      .validationRelationshipDeniedDelete,
      "\(object.objectID) cannot be deleted, because \(relationship.name) is not empty.",
      userInfo: [
        "NSValidationErrorObject": object, "NSValidationErrorKey": relationship.name,
      ])
  }
}

/// Errors of several checks, to be thrown together.
struct ValidationErrors {
  private var errors: [any Error] = []

  mutating func add(_ error: any Error) {
    // Several errors at once are several errors of ours.
    let nested = error as NSError
    if nested.domain == CoreDataError.errorDomain,
      nested.code == CoreDataError.Code.validationMultipleErrors.rawValue,
      let details = nested.userInfo["NSDetailedErrors"] as? [any Error]
    {
      for detail in details { add(detail) }
    } else {
      errors.append(error)
    }
  }

  mutating func collect(_ check: () throws -> Void) {
    do { try check() } catch { add(error) }
  }

  func throwIfAny() throws {
    guard let first = errors.first else { return }
    if errors.count == 1 { throw first }
    throw CoreDataError(
      .validationMultipleErrors, "Multiple validation errors occurred.",
      userInfo: ["NSDetailedErrors": errors.map { $0.asCocoaError as NSError }])
  }
}
