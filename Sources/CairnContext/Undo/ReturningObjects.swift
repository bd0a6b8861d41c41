import CairnModel
import CairnStore

/// Objects that undo or redo brings back into a context.
///
/// One whose deletion has not been saved is just not deleted any more. One whose row has gone, or
/// that never had one, is inserted again, under the ID and with the values it had.
struct ReturningObjects {
  let context: ManagedObjectContext
  let objects: [ManagedObject]

  func bringBack() {
    var inserted: [ManagedObject] = []
    for object in objects where bringBack(object) { inserted.append(object) }
    // Only now all of them are there to be referred to.
    for object in inserted { dropDeadReferences(of: object) }
  }

  /// - Returns: Whether the object counts as new.
  private func bringBack(_ object: ManagedObject) -> Bool {
    var isNew = false
    if object.registry === context.registry, object.flags.contains(.deleted) {
      guard !object.flags.contains(.inaccessible) else { return false }
      context.pending.mark(object, as: .updated)
    } else if object.registry === context.registry, object.flags.contains(.discarded) {
      object.flags.remove(.discarded)
      context.pending.mark(object, as: .inserted)
    } else if object.registry == nil || object.flags.contains(.deletedElsewhere) {
      let row = takePlace(of: object)
      insertAgain(object, over: row)
      isNew = row == nil
    } else {
      return false
    }
    context.pending.note(object, .eventInserted)
    context.event.log.append(object, .insertion)
    context.scheduleProcessing()
    return isNew
  }

  /// Makes room in the registry.
  ///
  /// - Returns: The row, when another writer has brought it back meanwhile.
  private func takePlace(of object: ManagedObject) -> RowSnapshot? {
    let id = context.currentID(object.objectID)
    if object.registry != nil { return nil }
    guard let other = ObjectLookup(context: context).registered(id) else { return nil }
    if other.isFault { try? FaultFiring.fill([other], maximumAge: context.maximumRowAge) }
    let row = other.isDeleted || other.isFault ? nil : other.snapshot
    ObjectRefreshing(context: context).turnIntoFault(other)
    ObjectDetaching(context: context).detach(other)
    return row
  }

  private func insertAgain(_ object: ManagedObject, over row: RowSnapshot?) {
    if object.registry == nil {
      Drafts.remove(object)
      object.objectID = context.currentID(object.objectID)
      object.registry = context.registry
      context.registry.add(object)
    }
    object.flags.subtract([.deletedElsewhere, .inaccessible, .discarded])
    object.becomeNew()
    if let row {
      // The row is there, so its members need not come from here.
      object.snapshot = row
      for value in object.toManyValues { value?.unload(keepingChanges: false) }
    }
    context.pending.mark(object, as: row == nil ? .inserted : .updated)
  }

  // MARK: References

  /// The value with IDs as they are now; nil for a reference to an object that is not there.
  static func usable(_ value: AttributeValue, in context: ManagedObjectContext) -> AttributeValue {
    guard case .object(let old) = value else { return value }
    let id = context.currentID(old)
    if let target = ObjectLookup(context: context).registered(id) {
      return target.isDeleted ? .null : .object(target.objectID)
    }
    return id.isTemporaryID && context.parent == nil ? .null : .object(id)
  }

  private func dropDeadReferences(of object: ManagedObject) {
    guard let slots = object.slots else { return }
    for slot in object.layout.toOneSlots { slots[slot] = Self.usable(slots[slot], in: context) }
    for value in object.toManyValues {
      value?.drop { $0.registry !== context.registry || $0.isDeleted }
    }
  }

  /// The other side of each relationship of the objects agrees, even if it was changed in a way
  /// that was not recorded.
  func mendRelationships() {
    for object in objects where object.registry === context.registry {
      for slot in object.layout.toOneSlots { mendToOne(of: object, at: slot) }
      for (index, value) in object.toManyValues.enumerated() where value?.isLoaded == true {
        mendToMany(of: object, at: index)
      }
    }
  }

  private func mendToOne(of object: ManagedObject, at slot: Int) {
    guard case .toOne(let relationship) = object.layout.slots[slot].content,
      let inverse = relationship.inverseRelationship,
      let target = InverseMaintenance.target(of: object, at: slot)
    else { return }
    if inverse.isToMany {
      if object.isInserted, let index = InverseMaintenance.index(of: inverse, in: target) {
        admit(object, to: target, at: index)
      }
      return
    }
    guard let other = InverseMaintenance.slot(of: inverse, in: target) else { return }
    if InverseMaintenance.target(of: target, at: other) === object { return }
    if target.firedSlots[other].isNull {
      target.write(.object(object.objectID), at: other)
    } else {
      object.write(.null, at: slot)
    }
  }

  private func mendToMany(of object: ManagedObject, at index: Int) {
    guard let inverse = object.layout.toManys[index].inverseRelationship else { return }
    for member in object.loadedToMany(index).current {
      if inverse.isToMany {
        if object.isInserted, let other = InverseMaintenance.index(of: inverse, in: member) {
          admit(object, to: member, at: other)
        }
        continue
      }
      guard let slot = InverseMaintenance.slot(of: inverse, in: member) else { continue }
      if InverseMaintenance.target(of: member, at: slot) === object { continue }
      if member.firedSlots[slot].isNull {
        member.write(.object(object.objectID), at: slot)
      } else {
        InverseMaintenance.remove(member, from: object, at: index)
      }
    }
  }

  /// A new object is a member only where the context has made it one.
  private func admit(_ object: ManagedObject, to owner: ManagedObject, at index: Int) {
    let value = owner.toMany(index)
    if value.isLoaded ? value.members.contains(object) : value.added.contains(ObjectRef(object)) {
      return
    }
    InverseMaintenance.insert(object, into: owner, at: index, position: nil)
  }
}
