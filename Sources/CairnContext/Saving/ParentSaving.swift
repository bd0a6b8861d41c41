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
    let objects = context.pending.objects
    parent.performAndWait { push(objects) }
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
    for object in deleted { ChangeDiscarding(context: context).detach(object) }
    for object in objects { object.didSave() }
    ContextNotifications(context: context).postDidSave(changes, token: nil)
    context.processPendingChanges()
  }

  private func clean(_ object: ManagedObject) {
    object.changedSlots.removeAll()
    for value in object.toManyValues { value?.commit { $0.isDeleted } }
    if !object.isFault { object.snapshot = ParentRows.row(of: object, under: object.objectID) }
  }

  // MARK: Conflicts

  /// An object conflicts when the parent's values are not those the child's changes are based on.
  private func resolveConflicts() throws {
    var conflicts: [MergeConflict] = []
    for object in context.pending.objects where !object.isInserted {
      guard let base = object.snapshot else { continue }
      let row = try context.rowSource?.rows(for: [object.objectID], maximumAge: nil)[0]
      if let row {
        let isSame = object.layout.persistentSlots.allSatisfy {
          row[$0].isSameStoredValue(as: base[$0])
        }
        if !isSame {
          conflicts.append(
            MergeConflict(source: object, stored: row, oldVersion: base.version))
        }
      } else if !object.flags.contains(.deleted) {
        conflicts.append(MergeConflict(source: object, stored: nil, oldVersion: base.version))
      }
    }
    if !conflicts.isEmpty { try context.mergePolicy.resolve(mergeConflicts: conflicts) }
    context.processPendingChanges()
  }

  // MARK: On the parent's queue

  private func push(_ objects: [ManagedObject]) {
    // First every new object, so that references find their destinations.
    for object in objects where object.isInserted { bringIn(object) }
    for object in objects where !object.flags.contains(.deleted) { update(object) }
    for object in objects where object.flags.contains(.deleted) {
      parent.delete(counterpart(of: object))
    }
    parent.processPendingChanges()
  }

  private func counterpart(of object: ManagedObject) -> ManagedObject {
    parent.object(with: parent.registry.current(object.objectID))
  }

  private func bringIn(_ object: ManagedObject) {
    guard parent.registry.object(for: object.objectID) == nil else { return }
    let new = type(of: object).init(entity: object.entity, insertInto: nil)
    new.objectID = object.objectID
    ObjectInsertion(context: parent).insert(new)
  }

  private func update(_ object: ManagedObject) {
    guard let slots = object.slots else { return updateMembers(of: object) }
    let target = counterpart(of: object)
    if target.isDeleted { return }
    let changed = object.isInserted ? Array(0..<object.slotCount) : object.changedSlots.members
    for slot in changed {
      if !target.firedSlots[slot].isSameStoredValue(as: slots[slot]) {
        target.write(slots[slot], at: slot)
      }
    }
    updateMembers(of: object)
  }

  /// Both sides of a relationship changed in the child, so each is copied by itself.
  private func updateMembers(of object: ManagedObject) {
    let target = counterpart(of: object)
    for (index, value) in object.toManyValues.enumerated() {
      guard let value, value.hasChanges else { continue }
      let holder = target.toMany(index)
      target.noteChange()
      for reference in value.removed { _ = holder.remove(counterpart(of: reference.object)) }
      for reference in value.added { _ = holder.add(counterpart(of: reference.object)) }
      if value.isOrdered, value.isLoaded {
        target.loadedToMany(index).reorder(value.order.map(counterpart))
      }
    }
  }
}
