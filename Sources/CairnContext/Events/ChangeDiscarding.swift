import CairnModel
import CairnStore

/// Takes unsaved changes back, or forgets everything.
struct ChangeDiscarding {
  let context: ManagedObjectContext

  /// Goes back to the last saved state.
  func rollback() {
    context.confinement.check()
    context.processPendingChanges()
    var changes = ObjectChangeSets()
    let objects = Array(context.pending.objects)
    context.pending.removeAllKeepingFlags()
    for object in objects {
      let wasInserted = object.isInserted
      let wasDeleted = object.flags.contains(.deleted)
      object.pendingIndex = -1
      object.flags.subtract([.inserted, .updated, .deleted, .deletedUnread])
      if wasInserted {
        changes.deleted.append(object)
        object.flags.insert(.discarded)
      } else {
        restore(object)
        if wasDeleted { changes.inserted.append(object) } else { changes.refreshed.append(object) }
      }
    }
    clearIntentions()
    for object in objects where !object.flags.contains(.discarded) {
      object.awake(fromSnapshotEvents: .rollback)
    }
    ContextNotifications(context: context).postDidChange(changes)
    let detaching = ObjectDetaching(context: context)
    detaching.detach(changes.deleted)
    detaching.release(changes.deleted)
  }

  /// Gives an object its committed values back.
  func restore(_ object: ManagedObject) {
    object.forgetChangedSlots()
    for value in object.toManyValues { value?.revert() }
    object.flags.remove(.inaccessible)
    if object.flags.contains(.ownsSlots), let snapshot = object.snapshot {
      object.adopt(snapshot)
    } else if object.snapshot == nil {
      object.freeSlots()
    }
  }

  /// Forgets all objects and changes.
  func reset() {
    context.confinement.check()
    let objects = context.registry.objects
    let ids = objects.map(\.objectID)
    context.pending.removeAll()
    context.event.log.removeAll()
    clearIntentions()
    for object in objects {
      ObjectRefreshing.turnIntoFault(object) { ObjectDetaching(context: context).detach(object) }
    }
    context.registry.retained = []
    context.advanceQueryGeneration()
    context.registry.removeAll()
    context.releaseAbandonedRows(atLeast: 1)
    if !ids.isEmpty { ContextNotifications(context: context).postInvalidatedAll(ids) }
  }

  private func clearIntentions() {
    context.undoManager?.forgetAllActions()
    context.event.log.removeAll()
    // Released outside the change: a program's object may use the context as it goes.
    let forgotten = context.nextSave
    context.nextSave.forgetIntentions()
    withExtendedLifetime(forgotten) {}
    if !context.retainsRegisteredObjects { context.registry.retained = [] }
  }
}
