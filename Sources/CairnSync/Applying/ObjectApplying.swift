@_spi(Generated) import CairnContext
import CairnModel
import CairnStore
import Foundation

/// Carries out a plan with objects in a context, which a program's classes and the model's rules for
/// whole objects can have a say in.
///
/// Used on the context's queue only.
final class ObjectApplying {
  private let plan: ImportPlan
  private let access: StoreAccess
  private let ledger: Ledger
  private let context: ManagedObjectContext
  private let formerKeys: [RecordID: Int64]
  /// The objects of the store by record: those that were there, then the new ones.
  private var objectIDs: [RecordID: ManagedObjectID]
  private var objects: [RecordID: ManagedObject] = [:]
  private var records: [ObjectIdentifier: RecordID] = [:]

  init(
    _ plan: ImportPlan, objects: [RecordID: ManagedObjectID], access: StoreAccess,
    ledger: Ledger, context: ManagedObjectContext, formerKeys: [RecordID: Int64]
  ) {
    self.plan = plan
    objectIDs = objects
    self.access = access
    self.ledger = ledger
    self.context = context
    self.formerKeys = formerKeys
  }

  /// The record that an object of the context stands for.
  func record(of object: ManagedObject) -> RecordID? {
    if let id = records[ObjectIdentifier(object)] { return id }
    return (try? ledger.recordID(for: object.objectID)) ?? nil
  }

  /// Changes the objects.
  ///
  /// - Returns: The objects of all records of the plan by their IDs in the store, and false when the
  ///   context changed others along, which then are news to the plan.
  func changeObjects() throws -> (objects: [RecordID: ManagedObjectID], isExact: Bool) {
    let existing = plan.rows.filter { $0.kind != .insert }.compactMap { objectIDs[$0.id] }
    // The objects are to be those the plan was made on.
    _ = try context.persistentStoreCoordinator?.snapshots(for: existing, maximumAge: 0)
    for action in plan.rows where action.kind == .insert { try insert(action) }
    for action in plan.rows where action.kind != .delete { try setValues(of: action) }
    for action in plan.links { try setLinks(action) }
    for action in plan.orders { try setOrder(action) }
    for action in plan.rows where action.kind == .delete {
      context.delete(try object(of: action))
    }
    context.processPendingChanges()
    giveBackKeys()
    let inserted = plan.rows.filter { $0.kind == .insert }.compactMap { objects[$0.id] }
    if !inserted.isEmpty { try context.obtainPermanentIDs(for: inserted) }
    for action in plan.rows where action.kind == .insert {
      objectIDs[action.id] = objects[action.id]?.objectID
    }
    let deleted = Set(plan.rows.filter { $0.kind == .delete }.map(\.id))
    let isExact = context.deletedObjects.allSatisfy { object in
      record(of: object).map(deleted.contains) ?? false
    }
    return (objectIDs, isExact)
  }

  private func insert(_ action: ImportPlan.RowAction) throws {
    guard let entity = access.schema.entities[action.entity] else { return }
    let object = entity.entity.insertObject(into: context)
    context.assign(object, to: access.store)
    remember(action.id, object)
  }

  /// Gives rows that come back the keys they had.
  private func giveBackKeys() {
    let returning = plan.rows.compactMap { action -> (ManagedObject, ManagedObjectID)? in
      guard action.kind == .insert, let key = formerKeys[action.id], let object = objects[action.id]
      else { return nil }
      return (object, access.store.objectID(for: object.entity, rowKey: key))
    }
    context.giveKnownIDs(returning)
  }

  private func remember(_ id: RecordID, _ object: ManagedObject) {
    objects[id] = object
    records[ObjectIdentifier(object)] = id
  }

  /// The object of an action, of the entity that the bookkeeping says; damaged bookkeeping may say
  /// another.
  private func object(of action: ImportPlan.RowAction) throws -> ManagedObject {
    guard let object = object(action.id), object.entity.name == action.entity else {
      throw RowApplying.wrongEntity(
        action, found: objects[action.id]?.entity.name ?? objectIDs[action.id]?.entity.name)
    }
    return object
  }

  private func object(_ id: RecordID) -> ManagedObject? {
    if let object = objects[id] { return object }
    var found = objectIDs[id]
    if found == nil {
      found = (try? ledger.record(id)).flatMap { $0 }.flatMap { ledger.objectID(for: $0) }
    }
    guard let found else { return nil }
    let object = context.object(with: found)
    remember(id, object)
    return object
  }

  private func setValues(of action: ImportPlan.RowAction) throws {
    guard let entity = access.schema.entities[action.entity] else { return }
    let object = try object(of: action)
    for item in action.values {
      let column = entity.columns[item.column]
      let value: AttributeValue
      if let target = item.value.reference {
        guard let target = self.object(target) else { continue }
        value = .object(target.objectID)
      } else if let plain = RowReading.attributeValue(item.value) {
        value = plain
      } else {
        continue
      }
      if !object.storedValue(at: column.slot).isSameStoredValue(as: value) {
        object.setStoredValue(value, at: column.slot)
      }
    }
  }

  private func setLinks(_ action: ImportPlan.LinkAction) throws {
    guard let relation = access.schema.links[action.relationship],
      let owner = object(action.owner)
    else { return }
    MemberChange.apply(
      to: relation.relationship, of: owner, adding: action.added.compactMap(object),
      removing: action.removed.compactMap(object))
  }

  /// Brings the members into the order; what is not part of it comes last.
  private func setOrder(_ action: ImportPlan.OrderAction) throws {
    guard let owner = object(action.owner) else { return }
    let current =
      (owner.value(forKey: action.relationship) as? NSOrderedSet)?
      .compactMap { $0 as? ManagedObject } ?? []
    let places = Dictionary(
      action.members.enumerated().compactMap { place, id in
        object(id).map { (ObjectIdentifier($0), place) }
      }, uniquingKeysWith: { first, _ in first })
    let sorted = current.enumerated().sorted { a, b in
      let first = places[ObjectIdentifier(a.element)] ?? .max
      let second = places[ObjectIdentifier(b.element)] ?? .max
      return first == second ? a.offset < b.offset : first < second
    }
    if sorted.map(\.offset) != Array(current.indices) {
      owner.setValue(NSOrderedSet(array: sorted.map(\.element)), forKey: action.relationship)
    }
  }
}
