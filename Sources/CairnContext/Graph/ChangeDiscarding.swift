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
    detach(changes.deleted)
    release(changes.deleted)
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
    context.events.removeAll()
    clearIntentions()
    for object in objects {
      let hadValues = !object.isFault
      if hadValues { object.willTurnIntoFault() }
      object.freeSlots()
      object.snapshot = nil
      object.forgetChangedSlots()
      object.forgetExtras()
      detach(object)
      if hadValues { object.didTurnIntoFault() }
    }
    context.retained = []
    context.advanceQueryGeneration()
    context.registry.removeAll()
    context.releaseAbandonedRows(atLeast: 1)
    if !ids.isEmpty { ContextNotifications(context: context).postInvalidatedAll(ids) }
  }

  /// The object leaves the context.
  ///
  /// Its values stay readable as far as they were read.
  func detach(_ object: ManagedObject) {
    context.pending.remove(object)
    context.retained.remove(ObjectRef(object))
    context.registry.remove(
      object, id: object.objectID, givesUpRow: object.flags.contains(.retainsRow))
    object.flags.remove([.retainsRow, .discarded, .deletedElsewhere, .locked])
    object.registry = nil
  }

  /// The same for many objects.
  func detach(_ objects: [ManagedObject]) {
    let (hasPending, hasRetained) = (!context.pending.isEmpty, !context.retained.isEmpty)
    if hasPending || hasRetained {
      for object in objects {
        if hasPending { context.pending.remove(object) }
        if hasRetained { context.retained.remove(ObjectRef(object)) }
      }
    }
    context.registry.letGo(of: objects)
  }

  /// Objects that have left for good let go of the members of their relationships: two that refer
  /// to each other would never be freed.
  ///
  /// What undo may bring back keeps them.
  func release(_ objects: [ManagedObject]) {
    for object in objects
    where !object.toManyValues.isEmpty && !context.undoHolds.contains(object) {
      object.forgetToManyValues()
    }
  }

  private func clearIntentions() {
    context.undoManager?.forgetAllActions()
    context.events.removeAll()
    context.sidecar.removeAll()
    context.faultError = nil
    context.assignments = [:]
    if !context.retainsRegisteredObjects { context.retained = [] }
  }
}

extension ManagedObjectContext {
  /// Lets the row cache drop rows whose objects were freed, once there are some.
  final func releaseAbandonedRows(atLeast count: Int = 512) {
    let rows = registry.takeAbandonedRows(atLeast: count)
    if !rows.isEmpty { rowSource?.releaseRows(rows) }
  }
}
