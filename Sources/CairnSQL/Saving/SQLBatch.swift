import CairnModel
import CairnPredicates
import CairnStore

// What batch requests mean, whichever database executes them.

/// The refusals of batch requests.
package enum SQLBatch {
  /// - Throws: 134030 for an entity that has no objects of its own.
  package static func checkIsConcrete(_ entity: SQLEntity) throws {
    guard entity.entity.isAbstract else { return }
    throw CoreDataError(
      .persistentStoreOperation, "\(entity.name) is abstract; it has no objects of its own.")
  }

  /// The error for a new row whose unique values another row has.
  package static func refusal(
    of row: RowSnapshot, _ entity: SQLEntity, _ constraint: SQLConstraint
  ) -> CoreDataError {
    let values = zip(constraint.names, constraint.slots).map { name, slot in
      "\(name) = \(AttributeCoding.decode(row[slot]).map { "\($0)" } ?? "nil")"
    }
    return CoreDataError(
      .managedObjectConstraintMerge,
      "A batch insert has a \(entity.name) with \(values.joined(separator: ", ")), which another "
        + "row has already; nothing was inserted. Give the context a merge policy to overwrite or "
        + "to skip such rows.")
  }

  /// The error for a row that a delete rule keeps.
  package static func deniedDelete(
    of object: ManagedObjectID, _ relationship: RelationshipDescription
  ) -> CoreDataError {
    CoreDataError(
      .validationRelationshipDeniedDelete,
      "\(object) cannot be deleted while its \(relationship.name) has members; nothing was deleted."
    )
  }
}

extension SQLEntity {
  /// The slot of a property that rows of the entity store.
  ///
  /// - Throws: 134060 for a name that is none.
  package func storedSlot(_ name: String) throws -> Int {
    guard let slot = layout.slotByName[name], slots[slot].column != nil else {
      throw SQLQueryError.unknownKeyPath(name, self)
    }
    return slot
  }

  /// The row of a batch insert: its values, and defaults for the others.
  package func newRow(
    _ id: ManagedObjectID, _ values: [String: AttributeValue]
  ) throws -> RowSnapshot {
    var all = layout.defaultValues
    for (name, value) in values { all[try storedSlot(name)] = value }
    return .make(objectID: id, version: 0, values: all)
  }

  /// What a batch insert overwrites of a row of the entity; what the entity lacks is left out.
  package func overwritten(by values: [String: AttributeValue]) -> [Int: AttributeValue] {
    var result: [Int: AttributeValue] = [:]
    for (name, value) in values {
      guard let slot = layout.slotByName[name], slots[slot].column != nil else { continue }
      result[slot] = value
    }
    return result
  }

  // MARK: Updates

  /// A new value as the attribute stores it; nil for a relationship.
  package func encoded(_ value: Any?, for name: String) throws -> AttributeValue {
    guard let attribute = layout.slots[try storedSlot(name)].attribute else { return .null }
    do {
      return try AttributeCoding.encode(value, for: attribute)
    } catch {
      throw CoreDataError(.persistentStoreOperation, "\(error)", underlyingError: error)
    }
  }

  /// The values of a batch update that are constants of attributes; nil where one is not.
  package func constants(
    _ values: [String: ObjectExpression]
  ) throws -> [String: AttributeValue]? {
    var result: [String: AttributeValue] = [:]
    for (name, expression) in values {
      guard case .constant = expression.node else { return nil }
      result[name] = try encoded(expression.value(for: nil), for: name)
    }
    return result
  }

  /// What a batch update makes of a row.
  package func newValues(
    _ values: [String: ObjectExpression], of row: SnapshotView
  ) throws -> [Int: AttributeValue] {
    var result: [Int: AttributeValue] = [:]
    for (name, expression) in values {
      let slot = try storedSlot(name)
      let new = try expression.value(for: row)
      if layout.slots[slot].attribute != nil {
        result[slot] = try encoded(new, for: name)
      } else if let object = AttributeCoding.unwrapped(new) {
        guard let object = object as? any ObjectIdentifying else {
          throw CoreDataError(
            .persistentStoreOperation,
            "The new value of \(self.name).\(name) must be an object, an object ID or nil.")
        }
        result[slot] = .object(object.objectID)
      } else {
        result[slot] = .null
      }
    }
    return result
  }

  // MARK: Delete rules

  /// The relationships of rows of the entity that have a delete rule.
  package func relationships(_ rule: DeleteRule) -> [RelationshipDescription] {
    let toOnes = layout.slots.compactMap(\.relationship).filter { !$0.isTransient }
    return (toOnes + layout.toManys).filter { $0.deleteRule == rule }
  }

  /// The relationships whose members lose what leads to a deleted row of the entity.
  package var nullified: [RelationshipDescription] {
    relationships(.nullify).filter { $0.inverseRelationship?.isToMany == false }
  }
}
