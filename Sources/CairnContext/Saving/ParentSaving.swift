import CairnModel
import CairnStore

/// Saves a child context: its changes become unsaved changes of the parent's objects.
///
/// Nothing reaches a store.
struct ParentSaving {
  let context: ManagedObjectContext
  let parent: ManagedObjectContext

  func save() throws {
    try resolveConflicts()
    var changes = ObjectChangeSets()
    let objects = Array(context.pending.objects)
    parent.serve { push(objects) }
    var deleted: [ManagedObject] = []
    for object in objects {
      if object.isInserted {
        changes.inserted.append(object)
      } else if object.flags.contains(.deleted) {
        changes.deleted.append(object)
        deleted.append(object)
      } else {
        changes.updated.append(object)
      }
      context.pending.remove(object)
      clean(object)
    }
    for object in deleted { ObjectDetaching(context: context).detach(object) }
    for object in objects { object.didSave() }
    ContextNotifications(context: context).postDidSave(changes, token: nil)
    context.processPendingChanges()
    ObjectDetaching(context: context).release(deleted)
  }

  private func clean(_ object: ManagedObject) {
    object.forgetChangedSlots()
    for value in object.toManyValues { value?.commit { $0.isDeleted } }
    // Slots that are still shared are those of the committed values already.
    guard object.flags.contains(.ownsSlots) else { return }
    object.snapshot = object.row(under: object.objectID)
  }

  // MARK: Conflicts

  /// An object conflicts when the parent's values are not those the child's changes are based on.
  private func resolveConflicts() throws {
    var conflicts: [MergeConflict] = []
    let changed = context.pending.objects.filter { !$0.isInserted && $0.snapshot != nil }
    let rows = try context.reading.source?.rows(for: changed.map(\.objectID), maximumAge: nil) ?? []
    for (object, row) in zip(changed, rows) {
      guard let base = object.snapshot else { continue }
      if let row {
        if !isSame(row, base, object.layout) {
          conflicts.append(
            MergeConflict(
              source: object, oldVersion: base.version, cached: row, stored: nil, row: row))
        }
      } else if !object.flags.contains(.deleted) {
        conflicts.append(
          MergeConflict(
            source: object, oldVersion: base.version, cached: nil, stored: nil, row: nil))
      }
    }
    if conflicts.isEmpty { return }
    try context.resolvingConflicts {
      try context.policy.resolve(mergeConflicts: conflicts)
      context.processPendingChanges()
    }
    try ObjectValidation.validate(context.pending.objects(.deleted))
  }

  /// References may be spelled with a temporary ID on one side and the permanent one on the other.
  private func isSame(_ a: RowSnapshot, _ b: RowSnapshot, _ layout: EntityLayout) -> Bool {
    layout.persistentSlots.allSatisfy { slot in
      a[slot].isSameStoredValue(as: b[slot])
        || context.currentValue(a[slot]).isSameStoredValue(as: context.currentValue(b[slot]))
    }
  }

  // MARK: On the parent's queue

  private func push(_ objects: [ManagedObject]) {
    // What happened in the parent before is an event of its own.
    parent.processPendingChanges()
    // First every new object, so that references find their destinations.
    for object in objects where object.isInserted { bringIn(object) }
    // Deleted ones too: what was theirs before the deletion must not go with them. Whom they belong
    // to is said by to-one relationships, so those come before links and orders.
    for object in objects { updateValues(of: object) }
    for object in objects { updateMembers(of: object) }
    for object in objects where object.flags.contains(.deleted) {
      parent.delete(counterpart(of: object))
    }
    parent.processPendingChanges()
  }

  private func counterpart(of object: ManagedObject) -> ManagedObject {
    parent.object(with: object.objectID)
  }

  /// An object that undo has brought back here may be waiting there to be deleted.
  private func bringIn(_ object: ManagedObject) {
    let id = parent.currentID(object.objectID)
    if let known = ObjectLookup(context: parent).registered(id) {
      if !known.isDeleted, !(known.isFault && !id.isTemporaryID && !isStored(known)) { return }
      if !known.flags.isDisjoint(with: [.deleted, .discarded]),
        !known.flags.contains(.inaccessible)
      {
        parent.insert(known)
        return
      }
      ObjectDetaching(context: parent).detach(known)
    }
    let new = type(of: object).init(detachedFrom: object.entity)
    new.objectID = id
    ObjectInsertion(context: parent).insert(new)
  }

  private func isStored(_ object: ManagedObject) -> Bool {
    try? FaultFiring.fill([object], maximumAge: parent.maximumRowAge)
    return !object.isFault
  }

  private func updateValues(of object: ManagedObject) {
    guard let slots = object.slots else { return }
    let target = counterpart(of: object)
    if target.isFault { _ = target.firedSlots }
    if target.isDeleted { return }
    let changed = object.isInserted ? Array(0..<object.slotCount) : object.changedSlots.members
    for slot in changed {
      let value = pushed(slots[slot], of: object)
      if object.layout.isToOneSlot[slot] {
        updateDestination(of: target, at: slot, to: value)
      } else if !target.firedSlots[slot].isSameStoredValue(as: value) {
        target.write(value, at: slot)
      }
    }
    copyLooseValues(from: object, to: target)
  }

  /// The parent may have related others meanwhile, so its own inverses follow.
  private func updateDestination(
    of target: ManagedObject, at slot: Int, to value: AttributeValue
  ) {
    var destination: ManagedObject?
    if case .object(let id) = value { destination = parent.object(with: id) }
    if InverseMaintenance.target(of: target, at: slot) === destination,
      destination != nil || target.firedSlots[slot].isNull
    {
      return
    }
    InverseMaintenance.setToOne(of: target, at: slot, to: destination)
  }

  private func updateMembers(of object: ManagedObject) {
    if object.toManyValues.isEmpty { return }
    let target = counterpart(of: object)
    if target.isDeleted { return }
    for (index, value) in object.toManyValues.enumerated() {
      guard let value, value.hasChanges else { continue }
      updateMembers(of: target, at: index, from: object)
    }
  }

  /// A deleted object may still refer to a new one that the parent will never know.
  private func pushed(_ value: AttributeValue, of object: ManagedObject) -> AttributeValue {
    let value = parent.currentValue(value)
    guard object.flags.contains(.deleted), case .object(let id) = value, id.isTemporaryID,
      ObjectLookup(context: parent).registered(id) == nil
    else { return value }
    return .null
  }

  private func copyLooseValues(from object: ManagedObject, to target: ManagedObject) {
    for slot in object.changedSlots.members
    where object.layout.slots[slot].attribute?.attributeType == .undefined {
      target.writeLoose(object.looseValue(object.layout.slots[slot].name), at: slot)
    }
  }

  private func updateMembers(of target: ManagedObject, at index: Int, from object: ManagedObject) {
    let value = object.toMany(index)
    let relationship = object.layout.toManys[index]
    target.noteChange()
    // Members that were new and are gone have never been there.
    if relationship.inverseRelationship?.isToMany ?? true {
      if object.isInserted {
        // The parent may know the object from before it was deleted.
        let members = object.loadedToMany(index).current.filter { $0.registry != nil }
        let wanted = Set(members.map { ObjectRef(counterpart(of: $0)) })
        for member in target.loadedToMany(index).current
        where !wanted.contains(ObjectRef(member)) {
          InverseMaintenance.removeMember(member, of: target, at: index)
        }
      }
      for reference in value.removed where reference.object.registry != nil {
        InverseMaintenance.removeMember(counterpart(of: reference.object), of: target, at: index)
      }
      for reference in value.added where reference.object.registry != nil {
        let member = counterpart(of: reference.object)
        if !member.isDeleted { InverseMaintenance.add(member, to: target, at: index) }
      }
    }
    if value.isOrdered { updateOrder(of: target, at: index, from: object) }
  }

  /// The child's order; what only the parent has comes after it.
  private func updateOrder(of target: ManagedObject, at index: Int, from object: ManagedObject) {
    let holder = target.loadedToMany(index)
    let listed = object.loadedToMany(index).order.filter { $0.registry != nil }.map(counterpart)
      .filter { holder.members.contains($0) }
    let known = Set(listed)
    InverseMaintenance.reorder(
      target, at: index, to: listed + holder.order.filter { !known.contains($0) })
  }
}
