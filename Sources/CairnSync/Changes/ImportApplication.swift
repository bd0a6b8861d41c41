import CairnContext
import CairnModel
import CairnStore
import Foundation

/// Carries out an import plan in a context: objects first, then what the rows could not show goes
/// into the bookkeeping, and both are saved in one transaction.
///
/// Used on the context's queue only.
final class ImportApplication {
  private let plan: ImportPlan
  private let context: ManagedObjectContext
  private var ledger: Ledger { plan.ledger }
  private var access: StoreAccess { plan.access }
  /// The objects of the records that the commit touches.
  private(set) var objects: [RecordID: ManagedObject] = [:]
  private var records: [ObjectIdentifier: RecordID] = [:]

  init(plan: ImportPlan, context: ManagedObjectContext) {
    self.plan = plan
    self.context = context
  }

  /// The record that an object of the context stands for.
  func record(of object: ManagedObject) -> RecordID? {
    if let id = records[ObjectIdentifier(object)] { return id }
    return (try? ledger.recordID(for: object.objectID)) ?? nil
  }

  /// Which incoming record is to blame for an object that does not pass validation: its own, or
  /// the delete that would leave it without a reference it needs.
  func culprit(of object: ManagedObject, among set: ChangeSet) -> RecordID? {
    guard let id = record(of: object) else { return nil }
    let incoming = Set(set.records.map(\.id))
    if incoming.contains(id) { return id }
    guard let state = plan.items[id]?.after else { return nil }
    let targets = state.registers.values.compactMap(\.value.reference)
    return targets.first { incoming.contains($0) && plan.items[$0]?.object != nil }
  }

  /// The records of the objects that the commit touches, by their IDs as they are now.
  private(set) lazy var recordByObjectID = Dictionary(
    objects.map { ($1.objectID, $0) }, uniquingKeysWith: { first, _ in first })

  // MARK: Objects

  func changeObjects() throws {
    let ids = plan.items.keys.sorted()
    try primeRows(ids)
    for id in ids {
      guard let item = plan.items[id], try plan.isPresent(id) else { continue }
      if let objectID = item.object {
        remember(id, context.object(with: objectID))
      } else if let entity = access.schema.entities[item.after.entity] {
        let object = ObjectCreation.make(entity.entity, in: context)
        context.assign(object, to: access.store)
        remember(id, object)
      }
    }
    for id in ids { try setAttributes(id) }
    for id in ids { try setReferences(id) }
    let byOwner = Dictionary(grouping: plan.links.keys) {
      LinkKey(relationship: $0.relationship, owner: $0.owner, member: $0.owner)
    }
    for group in byOwner.keys.sorted() { try setLinks(byOwner[group] ?? []) }
    for id in ids {
      guard let item = plan.items[id], let objectID = item.object, try !plan.isPresent(id) else {
        continue
      }
      let object = context.object(with: objectID)
      records[ObjectIdentifier(object)] = id
      context.delete(object)
    }
    context.processPendingChanges()
  }

  private func remember(_ id: RecordID, _ object: ManagedObject) {
    objects[id] = object
    records[ObjectIdentifier(object)] = id
  }

  /// Brings the row cache up to date, so that the objects are those the plan was made from.
  private func primeRows(_ ids: [RecordID]) throws {
    let existing = ids.compactMap { plan.items[$0]?.object }
    _ = try context.persistentStoreCoordinator?.snapshots(for: existing, maximumAge: 0)
  }

  private func setAttributes(_ id: RecordID) throws {
    guard let object = objects[id], let item = plan.items[id],
      let entity = access.schema.entities[item.after.entity]
    else { return }
    for column in entity.columns where column.relationship == nil {
      guard let register = item.after.registers[column.name],
        let value = RowReading.attributeValue(register.value)
      else { continue }
      if item.object != nil, item.before?.registers[column.name]?.value == register.value {
        continue
      }
      if !object.storedValue(at: column.slot).isSameStoredValue(as: value) {
        object.setStoredValue(value, at: column.slot)
      }
    }
  }

  /// The object that a reference leads to now; nil when it is not here.
  private func target(_ value: WireValue?) throws -> ManagedObject? {
    guard let reference = value?.reference else { return nil }
    let id = try plan.resolve(reference)
    if let object = objects[id] { return object }
    guard try plan.isPresent(id), let entry = try ledger.record(id),
      let objectID = ledger.objectID(for: entry)
    else { return nil }
    let object = context.object(with: objectID)
    remember(id, object)
    return object
  }

  private func setReferences(_ id: RecordID) throws {
    guard let object = objects[id], let item = plan.items[id],
      let entity = access.schema.entities[item.after.entity]
    else { return }
    for column in entity.columns {
      guard let relationship = column.relationship,
        let register = item.after.registers[column.name]
      else { continue }
      var wanted = try target(register.value)
      if let found = wanted, let destination = relationship.destinationEntity,
        !found.entity.isKindOf(entity: destination)
      {
        wanted = nil
      }
      if let found = wanted, try isHeldByLater(found, relationship, id, register) { wanted = nil }
      let value: AttributeValue = wanted.map { .object($0.objectID) } ?? .null
      if object.storedValue(at: column.slot) != value {
        object.setStoredValue(value, at: column.slot)
      }
    }
  }

  /// For a one-to-one relationship: whether another record claims the target with a later write.
  private func isHeldByLater(
    _ target: ManagedObject, _ relationship: RelationshipDescription, _ id: RecordID,
    _ register: Register
  ) throws -> Bool {
    guard let inverse = relationship.inverseRelationship, !inverse.isToMany,
      inverse !== relationship, let layout = target.entity.layout,
      let slot = layout.slotByName[inverse.name],
      case .object(let holderID) = target.storedValue(at: slot)
    else { return false }
    let holder = context.object(with: holderID)
    guard let other = record(of: holder), other != id else { return false }
    let write: PropertyWrite?
    if let item = plan.items[other] {
      guard let claim = item.after.registers[relationship.name], let aim = claim.value.reference,
        try plan.resolve(aim) == record(of: target)
      else { return false }
      write = claim.write
    } else {
      write = try ledger.record(other)?.write(of: relationship.name)
    }
    return write.map { $0.stamp > register.write.stamp } ?? false
  }

  /// Brings the members of one owner to what its links say.
  private func setLinks(_ keys: [LinkKey]) throws {
    guard let first = keys.first, let relation = access.schema.links[first.relationship],
      try plan.resolve(first.owner) == first.owner,
      let owner = try target(.reference(first.owner))
    else { return }
    var added: [ManagedObject] = []
    var removed: [ManagedObject] = []
    for key in keys.sorted() {
      guard let link = plan.links[key], try plan.resolve(key.member) == key.member,
        let member = try target(.reference(key.member))
      else { continue }
      if link.state.isMember { added.append(member) } else { removed.append(member) }
    }
    ObjectCreation.change(
      relation.relationship, of: owner, adding: added, removing: removed)
  }
}
