import CairnModel

/// Puts new objects into a context.
struct ObjectInsertion {
  let context: ManagedObjectContext

  func insert(_ object: ManagedObject) {
    context.confinement.check()
    if object.entity.isAbstract {
      // Who takes entity names from outside asks isAbstract first, as RecordWriting does.
      fatalError(
        "Cannot create an object of abstract entity \(object.entity.name ?? "?"); use one of its "
          + "subentities.")
    }
    if let registry = object.registry {
      guard registry === context.registry else {
        // An object in two contexts is a mistake in the program; data cannot cause it.
        fatalError("The object \(object.objectID) is in another context already.")
      }
      if object.isDeleted { resurrect(object) }
      return
    }
    let wasDraft = Drafts.remove(object)
    if object.slots == nil || object.snapshot != nil || !object.toManyValues.isEmpty {
      object.becomeNew()
    }
    object.registry = context.registry
    context.registry.add(object)
    // Other drafts may lead to this one.
    if wasDraft, Drafts.areAny { context.registry.expectDrafts() }
    if context.retainsRegisteredObjects { context.registry.retained.insert(ObjectRef(object)) }
    context.pending.mark(object, as: .inserted)
    note(object)
    if object.leads(where: { _ in true }) { joinReferences(of: object) }
    context.scheduleProcessing()
    object.awakeFromInsert()
  }

  /// What an object refers to from outside of the context may have been saved since, under another ID, or
  /// have let go of the object when it was deleted.
  private func joinReferences(of object: ManagedObject) {
    // Values that a row shares were saved, and lead to permanent IDs.
    if object.flags.contains(.ownsSlots), let slots = object.slots {
      for slot in object.layout.toOneSlots { slots[slot] = context.currentValue(slots[slot]) }
    }
    RelationshipRestoring(object).rejoinOwners()
  }

  private func note(_ object: ManagedObject) {
    context.pending.note(object, .eventInserted)
    if context.recordsUndo { context.event.log.append(object, .insertion) }
  }

  /// `insert(_:)` of an object that was deleted and not yet saved takes the deletion back.
  private func resurrect(_ object: ManagedObject) {
    if object.flags.contains(.discarded) {
      object.flags.remove(.discarded)
      context.pending.mark(object, as: .inserted)
      note(object)
    } else if object.flags.contains(.deleted) {
      context.pending.mark(object, as: .updated)
      note(object)
    } else {
      return
    }
    RelationshipRestoring(object).rejoin()
  }
}
