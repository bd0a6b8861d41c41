@_spi(Generated) import CairnContext
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
  /// The lists whose members came, went or moved.
  private var lists: [ListKey: (owner: ManagedObject, side: SyncSchema.OrderedSide)] = [:]

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
        let object = context.object(with: objectID)
        try checkEntity(of: object, is: item.after.entity, id)
        remember(id, object)
      } else if let entity = access.schema.entities[item.after.entity] {
        let object = entity.entity.insertObject(into: context)
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
    try setOrders()
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

  /// The columns of a record are those of its entity; damaged bookkeeping may say another.
  func checkEntity(of object: ManagedObject, is name: String, _ id: RecordID) throws {
    if object.entity.name == name { return }
    throw SyncError(
      .damagedBookkeeping,
      "The record \(id) is of \(name), but its object is of "
        + "\(object.entity.name ?? "?"). Verify the stores; a replica can be removed and added anew.",
      recovery: .person)
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
      guard let register = item.after.registers[column.name] else {
        if item.object == nil { leaveEmpty(column.slot, of: object) }
        continue
      }
      guard let value = RowReading.attributeValue(register.value) else { continue }
      // What the row shows is not what was kept beside it.
      if item.object != nil, item.entry?.overlay[column.name] == nil,
        item.before?.registers[column.name]?.value.isSame(as: register.value) == true
      {
        continue
      }
      if !object.storedValue(at: column.slot).isSameStoredValue(as: value) {
        object.setStoredValue(value, at: column.slot)
      }
    }
  }

  /// A new object has defaults that the record's writer, who does not know the attribute, did not
  /// write: as after a migration, only what is mandatory keeps them.
  private func leaveEmpty(_ slot: Int, of object: ManagedObject) {
    guard let attribute = object.entity.layout.slots[slot].attribute, attribute.isOptional,
      !(attribute is DerivedAttributeDescription), !object.storedValue(at: slot).isNull
    else { return }
    object.setStoredValue(.null, at: slot)
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
      let isChanged = object.storedValue(at: column.slot) != value
      if isChanged { object.setStoredValue(value, at: column.slot) }
      if let inverse = column.orderedInverse, let owner = wanted {
        let name = column.positionName
        if isChanged || item.before?.registers[name] != item.after.registers[name] {
          noteList(of: owner, inverse)
        }
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
    guard let other = record(of: holder), other != id, try plan.isPresent(other) else {
      return false
    }
    let write: PropertyWrite?
    if let item = plan.items[other] {
      guard let claim = item.after.registers[relationship.name], let aim = claim.value.reference,
        try plan.resolve(aim) == record(of: target)
      else { return false }
      write = claim.write
    } else {
      write = try ledger.record(other)?.write(of: relationship.name)
    }
    return write.map { ($0.stamp, other) > (register.write.stamp, id) } ?? false
  }

  /// Brings the members of one owner to what its links say.
  private func setLinks(_ keys: [LinkKey]) throws {
    guard let first = keys.first, let relation = access.schema.links[first.relationship],
      try plan.resolve(first.owner) == first.owner,
      let owner = try target(.reference(first.owner)),
      owner.entity.isKindOf(entity: relation.relationship.entity)
    else { return }
    var added: [ManagedObject] = []
    var removed: [ManagedObject] = []
    for key in keys.sorted() {
      guard let link = plan.links[key], try plan.resolve(key.member) == key.member,
        let member = try target(.reference(key.member))
      else { continue }
      // A link of damaged bookkeeping may name a record of any entity.
      if let destination = relation.relationship.destinationEntity,
        !member.entity.isKindOf(entity: destination)
      {
        continue
      }
      if link.state.isMember { added.append(member) } else { removed.append(member) }
      if let inverse = relation.inverse { noteList(of: member, inverse) }
    }
    noteList(of: owner, relation.relationship)
    MemberChange.apply(
      to: relation.relationship, of: owner, adding: added, removing: removed)
  }

  // MARK: Order

  private struct ListKey: Hashable {
    let owner: ObjectIdentifier
    let relationship: ObjectIdentifier
  }

  private func noteList(of owner: ManagedObject, _ relationship: RelationshipDescription) {
    guard relationship.isOrdered,
      let side = access.schema.orderedSide(relationship, of: owner.entity)
    else { return }
    let key = ListKey(
      owner: ObjectIdentifier(owner), relationship: ObjectIdentifier(relationship))
    lists[key] = (owner, side)
  }

  /// Brings the members of the lists that changed into the order of their places; those without
  /// one come last.
  private func setOrders() throws {
    for (owner, side) in lists.values {
      guard let id = record(of: owner) else { continue }
      let places = MemberPlaces(side: side, owner: id)
      let name = side.relationship.name
      let members =
        (owner.value(forKey: name) as? NSOrderedSet)?
        .compactMap { $0 as? ManagedObject } ?? []
      try ledger.prefetch(members.compactMap { SyncKey.object($0.objectID) })
      let ids = members.map { record(of: $0) }
      try ledger.prefetch(ids.compactMap { $0 }.map(places.key))
      let placed = try zip(members, ids).map { object, id in
        (object: object, id: id, key: try id.flatMap { try plan.position(of: $0, places) })
      }
      let sorted = placed.enumerated().sorted { a, b in
        switch (a.element.key, b.element.key) {
        case (let x?, let y?) where x != y: return x < y
        case (_?, nil): return true
        case (nil, _?): return false
        case (_, _): break
        }
        switch (a.element.id, b.element.id) {
        case (let x?, let y?): return x < y
        case (_?, nil): return true
        case (nil, _?): return false
        case (nil, nil): return a.offset < b.offset
        }
      }
      if sorted.map(\.offset) != Array(members.indices) {
        owner.setValue(NSOrderedSet(array: sorted.map(\.element.object)), forKey: name)
      }
    }
  }
}
