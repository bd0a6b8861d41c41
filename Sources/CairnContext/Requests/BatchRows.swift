import CairnModel
import CairnStore
import Foundation

/// The rows of a batch insert, from whichever source the request has, as values.
struct BatchRows {
  let entity: EntityDescription
  let request: BatchInsertRequest

  /// - Throws: 134060 for a name that is none of the entity's, 1550 for a value of the wrong class.
  func collect() throws -> [[String: AttributeValue]] {
    var rows = try (request.objectsToInsert ?? []).map(row)
    if let handler = request.dictionaryHandler {
      let dictionary = NSMutableDictionary()
      while !handler(dictionary) {
        var values: [String: Any] = [:]
        for (key, value) in dictionary { if let key = key as? String { values[key] = value } }
        rows.append(try row(values))
        dictionary.removeAllObjects()
      }
    }
    if let handler = request.managedObjectHandler {
      let object = ObjectClasses.type(for: entity).init(detachedFrom: entity)
      while !handler(object) {
        rows.append(row(object))
        object.adoptSlots(of: entity.layout.defaultValues)
        object.changedSlots.removeAll()
        object.looseValues = nil
      }
    }
    return rows
  }

  private func row(_ values: [String: Any]) throws -> [String: AttributeValue] {
    var row: [String: AttributeValue] = [:]
    for (name, value) in values {
      guard let slot = entity.layout.slotByName[name] else { throw Self.unknown(name, of: entity) }
      switch entity.layout.slots[slot].content {
      case .attribute(let attribute): row[name] = try Self.check(value, for: attribute)
      case .toOne:
        row[name] = (value as? any ObjectIdentifying).map { .object($0.objectID) } ?? .null
      }
    }
    return row
  }

  /// What a handler set.
  private func row(_ object: ManagedObject) -> [String: AttributeValue] {
    var row: [String: AttributeValue] = [:]
    for slot in object.changedSlots.members where !entity.layout.slots[slot].isTransient {
      row[entity.layout.slots[slot].name] = object.storedValue(at: slot)
    }
    return row
  }

  // MARK: Values

  /// The new value of a property in a batch update.
  static func expression(
    _ value: Any, forProperty name: String, of entity: EntityDescription
  ) throws -> ObjectExpression {
    guard let slot = entity.layout.slotByName[name] else { throw unknown(name, of: entity) }
    if let expression = value as? ObjectExpression { return expression }
    if let attribute = entity.layout.slots[slot].attribute { try check(value, for: attribute) }
    let constant = (value as? ManagedObject)?.objectID ?? AttributeCoding.unwrapped(value)
    return ObjectExpression(forConstantValue: constant)
  }

  @discardableResult
  private static func check(
    _ value: Any, for attribute: AttributeDescription
  ) throws -> AttributeValue {
    do {
      return try AttributeCoding.encode(value, for: attribute)
    } catch {
      throw CoreDataError(.managedObjectValidation, "\(error)", underlyingError: error)
    }
  }

  private static func unknown(_ name: String, of entity: EntityDescription) -> CoreDataError {
    CoreDataError(
      .coreData,
      "\(entity.name ?? "?") has no attribute or to-one relationship named \"\(name)\".")
  }
}
