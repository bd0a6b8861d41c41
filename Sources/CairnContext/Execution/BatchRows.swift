import CairnModel
import CairnPredicates
import CairnStore
import Foundation

/// The rows of a batch insert, from whichever source the request has, as values; so many at a time.
final class BatchRows {
  /// The rows of one portion.
  static let portion = 1000

  private let entity: EntityDescription
  private var objects: ArraySlice<[String: Any]>
  private var fillDictionary: ((NSMutableDictionary) -> Bool)?
  private var fillObject: ((ManagedObject) -> Bool)?
  /// What handlers have made.
  private var made: RowSpool?
  /// What the handlers fill, the same each time.
  private let dictionary = NSMutableDictionary()
  private lazy var object =
    ObjectClasses.type(for: entity).init(detachedFrom: entity)

  init(entity: EntityDescription, request: BatchInsertRequest) {
    self.entity = entity
    objects = (request.objectsToInsert ?? [])[...]
    fillDictionary = request.dictionaryHandler
    fillObject = request.managedObjectHandler
  }

  /// The next rows; nil when there are no more.
  ///
  /// - Throws: 134060 for a name that is none of the entity's, 1550 for a value of the wrong class.
  func next() throws -> [[String: AttributeValue]]? {
    if fillDictionary != nil || fillObject != nil { made = try runHandlers() }
    if let made { return try made.take() }
    var rows: [[String: AttributeValue]] = []
    while rows.count < Self.portion, let row = try nextRow() { rows.append(row) }
    return rows.isEmpty ? nil : rows
  }

  /// All rows of a handler.
  ///
  /// They are made here, on the context's queue, before the store's transaction begins: a handler may
  /// use the context's objects and the store, and write to it, which inside of the transaction would
  /// wait for itself.
  private func runHandlers() throws -> RowSpool {
    let spool = RowSpool(layout: entity.layout, portion: Self.portion)
    while let row = try nextRow() { try spool.append(row) }
    return spool
  }

  private func nextRow() throws -> [String: AttributeValue]? {
    if let values = objects.popFirst() { return try row(values) }
    if let fillDictionary {
      dictionary.removeAllObjects()
      if !fillDictionary(dictionary) {
        var values: [String: Any] = [:]
        for (key, value) in dictionary { if let key = key as? String { values[key] = value } }
        return try row(values)
      }
      self.fillDictionary = nil
    }
    if let fillObject {
      if !fillObject(object) {
        let values = row(object)
        object.adoptSlots(of: entity.layout.defaultValues)
        object.forgetChangedSlots()
        object.forgetLooseValues()
        object.takeTransientDefaults()
        return values
      }
      self.fillObject = nil
    }
    return nil
  }

  private func row(_ values: [String: Any]) throws -> [String: AttributeValue] {
    var row: [String: AttributeValue] = [:]
    for (name, value) in try values.flatMap({ try Self.parts(of: $1, named: $0, of: entity) }) {
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

  /// The value of a property with its name; of a composite attribute all its elements, as
  /// `address.city`, those that the dictionary lacks being nil, as they become in an object.
  ///
  /// - Throws: 1550 for a composite attribute whose value is no dictionary.
  static func parts(
    of value: Any, named name: String, of entity: EntityDescription
  ) throws -> [(name: String, value: Any)] {
    guard let leaves = entity.layout.composites[name] else { return [(name, value)] }
    var whole: Any? = value
    if let expression = value as? ObjectExpression, case .constant(let constant) = expression.node {
      whole = constant.anyValue
    }
    whole = AttributeCoding.unwrapped(whole)
    if let whole, !(whole is NSDictionary), whole as? [String: Any] == nil {
      throw CoreDataError(
        .managedObjectValidation,
        "The composite attribute \"\(name)\" of \(entity.name ?? "?") takes a dictionary of its "
          + "elements, not \(type(of: whole)). Give it one, or set an element by its path.")
    }
    return leaves.map { slot in
      let path = entity.layout.slots[slot].name
      let part = path.split(separator: ".").dropFirst().reduce(whole) { value, step in
        (value as? [String: Any])?[String(step)] ?? (value as? NSDictionary)?[String(step)]
      }
      return (path, part ?? NSNull())
    }
  }

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
