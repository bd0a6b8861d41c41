import CairnModel

/// Marks objects for deletion.
struct ObjectDeletion {
  let context: ManagedObjectContext

  func delete(_ object: ManagedObject) {
    context.confinement.check()
    guard object.registry === context.registry else {
      if object.registry == nil { return }
      // Two contexts of one program mixed up; data has no part in it.
      fatalError(
        "An NSManagedObjectContext cannot delete objects in other contexts: \(object.objectID)")
    }
    // A class of the program's own may want to see the graph as it was.
    if type(of: object) != ManagedObject.self {
      context.bringOrderedSetsUpToDate()
      object.prepareForDeletion()
    }
    guard !object.isDeleted else { return }
    // Deleting needs the committed values, for the version and for what history keeps of them.
    _ = object.firedSlots
    guard !object.isDeleted else { return }
    if context.recordsUndo { context.event.log.append(object, .deletion) }
    if object.isInserted {
      context.pending.note(object, .eventDeleted)
      context.pending.remove(object)
      object.flags.insert(.discarded)
    } else {
      context.pending.mark(object, as: .deleted)
      context.pending.note(object, .eventDeleted)
    }
    context.pending.unpropagatedDeletes.append(object)
    context.scheduleProcessing()
  }
}
