import CairnModel

/// Ends an event: follows delete rules, sorts what happened, hands it to undo, tells observers.
struct ChangeProcessing {
  let context: ManagedObjectContext

  /// - Returns: The objects of the event that have something to be saved.
  @discardableResult
  func process() -> [ManagedObject] {
    context.confinement.check()
    context.releaseAbandonedRows()
    if !context.eventOrderedSets.isEmpty { context.eventOrderedSets = [] }
    guard !context.isProcessing else { return [] }
    context.isProcessing = true
    if context.propagatesDeletesAtEndOfEvent { DeletePropagation(context: context).run() }
    context.isProcessing = false
    let objects = context.pending.takeEvent()
    if objects.isEmpty { return [] }

    context.recordUndo(context.events.current)
    // What observers change belongs to the next event.
    let told = context.events.beginTelling()
    var changes = ObjectChangeSets()
    var unsaved: [ManagedObject] = []
    for object in objects {
      // An object that undo has made clean again has changed all the same.
      changes.add(object, evenIfClean: context.isReplaying)
      object.flags.subtract(.event)
      if object.hasChanges { unsaved.append(object) }
    }
    ContextNotifications(context: context).postDidChange(changes)
    context.events.endTelling(told)
    if context.pending.unpropagatedDeletes.isEmpty { detachDiscarded(objects) }
    return unsaved
  }

  /// Objects that never had a row and were deleted leave the context.
  private func detachDiscarded(_ objects: [ManagedObject]) {
    let discarding = ChangeDiscarding(context: context)
    let discarded = objects.filter { $0.flags.contains(.discarded) }
    for object in discarded { discarding.detach(object) }
    discarding.release(discarded)
  }
}

/// The objects of one event, each in the list that says most about it; none twice in a list.
///
/// Lists, because they become sets only once, when a notification is posted.
struct ObjectChangeSets {
  var inserted: [ManagedObject] = []
  var updated: [ManagedObject] = []
  var deleted: [ManagedObject] = []
  var refreshed: [ManagedObject] = []
  var invalidated: [ManagedObject] = []

  var isEmpty: Bool {
    inserted.isEmpty && updated.isEmpty && deleted.isEmpty && refreshed.isEmpty
      && invalidated.isEmpty
  }

  mutating func add(_ object: ManagedObject, evenIfClean: Bool) {
    let flags = object.flags
    if flags.contains(.discarded) {
      // Inserted and deleted within one event: nobody needs to know.
      if !flags.contains(.eventInserted) { deleted.append(object) }
    } else if flags.contains(.eventDeleted) {
      deleted.append(object)
    } else if flags.contains(.eventInserted) {
      inserted.append(object)
    } else {
      if flags.contains(.eventRefreshed) { refreshed.append(object) }
      if flags.contains(.eventUpdated), object.hasChanges || evenIfClean {
        updated.append(object)
      }
    }
  }
}
