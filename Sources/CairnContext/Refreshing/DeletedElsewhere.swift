import CairnModel
import CairnStore

/// Objects whose rows another context, program or machine has deleted.
struct DeletedElsewhere {
  let context: ManagedObjectContext

  /// The row of the object with an ID is gone.
  func note(_ id: ManagedObjectID) {
    guard let object = ObjectLookup(context: context).registered(id),
      !object.flags.contains(.deletedElsewhere)
    else { return }
    forgetReferences(to: object)
    // Unsaved changes of an object that is gone cannot be saved; under the error policy the save
    // has to say so.
    if object.isUpdated, object.hasPersistentChangedValues,
      context.reportsConflicts
    {
      return
    }
    if object.isUpdated { release(object) }
    context.pending.remove(object)
    // There is nothing left to be read.
    if object.isFault { FaultFiring.becomeEmpty(object) }
    object.flags.insert(.deletedElsewhere)
    context.pending.note(object, .eventDeleted)
    if context.event.isMerging { context.event.mergedDeletions.append(object) }
  }

  /// What was related here to an object that is gone is not saved with a key to it; that is nothing
  /// that undo takes back.
  private func release(_ object: ManagedObject) {
    context.resolvingConflicts {
      RelationshipRestoring(object).beReleased()
      context.processPendingChanges()
    }
  }

  /// Loaded sets do not list an object that is gone.
  private func forgetReferences(to object: ManagedObject) {
    guard let slots = object.slots ?? object.snapshot?.slots else { return }
    for slot in 0..<object.slotCount where object.layout.isToOneSlot[slot] {
      InverseMaintenance.reconcile(object, slot: slot, from: slots[slot], to: .null)
    }
    for (index, relationship) in object.layout.toManys.enumerated() {
      guard let value = object.touchedToMany(index), value.isLoaded,
        let inverse = relationship.inverseRelationship, inverse.isToMany
      else { continue }
      for member in value.current {
        if let other = InverseMaintenance.index(of: inverse, in: member) {
          member.touchedToMany(other)?.forget(object)
        }
      }
    }
  }
}
