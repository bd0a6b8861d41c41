import CairnModel

/// Ends an event: follows delete rules, sorts what happened, hands it to undo, tells observers.
struct ChangeProcessing {
  let context: ManagedObjectContext

  /// - Returns: The objects of the event that have something to be saved.
  @discardableResult
  func process() -> [ManagedObject] {
    context.confinement.check()
    context.releaseAbandonedRows()
    if !context.lateFollowing.handedOut.isEmpty { context.lateFollowing.handedOut = [] }
    guard !context.event.isProcessing else { return [] }
    context.event.isProcessing = true
    if context.propagatesDeletesAtEndOfEvent { DeletePropagation(context: context).run() }
    context.event.isProcessing = false
    if !context.event.mergedDeletions.isEmpty, !context.event.isMerging {
      context.event.mergedDeletions = []
    }
    let objects = context.pending.takeEvent()
    if objects.isEmpty { return [] }

    context.recorder?.record(context.event.log.current, of: context)
    let isReplaying = context.recorder?.isReplaying ?? false
    // What observers change belongs to the next event.
    let told = context.event.log.beginTelling()
    var changes = ObjectChangeSets()
    let new = objects.prefix(while: Self.becameInserted)
    // Most large events insert or delete and do nothing else: then both lists are the event's own.
    let isAllNew = new.count == objects.count
    let isAllGone = new.isEmpty && objects.allSatisfy(Self.becameDeleted)
    if isAllGone { changes.deleted = objects }
    changes.inserted = isAllNew ? objects : Array(new)
    var unsaved = isAllGone ? objects : changes.inserted
    for object in isAllGone ? objects[...] : new { object.flags.subtract(.event) }
    for object in isAllGone ? [] : objects[new.endIndex...] {
      // An object that undo has made clean again has changed all the same.
      changes.add(object, evenIfClean: isReplaying)
      object.flags.subtract(.event)
      if object.hasChanges { unsaved.append(object) }
    }
    ContextNotifications(context: context).postDidChange(changes)
    context.event.log.endTelling(told)
    if context.pending.unpropagatedDeletes.isEmpty { detachDiscarded(objects) }
    return unsaved
  }

  /// Whether an object belongs to the inserted ones of its event and to no others.
  private static func becameInserted(_ object: ManagedObject) -> Bool {
    object.flags.isSuperset(of: [.eventInserted, .inserted])
      && object.flags.isDisjoint(with: [.eventDeleted, .discarded])
  }

  /// Whether an object belongs to the deleted ones of its event, and is to be saved.
  private static func becameDeleted(_ object: ManagedObject) -> Bool {
    object.flags.isSuperset(of: [.eventDeleted, .deleted]) && !object.flags.contains(.discarded)
  }

  /// Objects that never had a row and were deleted leave the context.
  private func detachDiscarded(_ objects: [ManagedObject]) {
    let detaching = ObjectDetaching(context: context)
    let discarded = objects.filter { $0.flags.contains(.discarded) }
    if discarded.isEmpty { return }
    detaching.detach(discarded)
    detaching.release(discarded)
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
    // Also one that was inserted in the same event: no notification reports its insertion.
    if !flags.isDisjoint(with: [.discarded, .eventDeleted]) {
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
