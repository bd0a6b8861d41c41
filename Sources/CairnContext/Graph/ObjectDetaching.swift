import CairnModel

/// Takes objects out of a context.
struct ObjectDetaching {
  let context: ManagedObjectContext

  /// The object leaves the context.
  ///
  /// Its values stay readable as far as they were read.
  func detach(_ object: ManagedObject) {
    context.pending.remove(object)
    context.registry.retained.remove(ObjectRef(object))
    context.registry.remove(
      object, id: object.objectID, givesUpRow: object.flags.contains(.retainsRow))
    object.flags.remove([.retainsRow, .discarded, .deletedElsewhere, .locked])
    object.registry = nil
  }

  /// The same for many objects.
  func detach(_ objects: [ManagedObject]) {
    let (hasPending, hasRetained) = (!context.pending.isEmpty, !context.registry.retained.isEmpty)
    if hasPending || hasRetained {
      for object in objects {
        if hasPending { context.pending.remove(object) }
        if hasRetained { context.registry.retained.remove(ObjectRef(object)) }
      }
    }
    context.registry.letGo(of: objects)
  }

  /// Objects that have left for good let go of the members of their relationships: two that refer
  /// to each other would never be freed.
  ///
  /// What undo may bring back keeps them. An object that leads to a new one is a draft from now on: the
  /// program may insert it again.
  func release(_ objects: [ManagedObject]) {
    for object in objects {
      if object.leads(where: \.isTemporaryID) {
        Drafts.add(object)
        context.registry.expectDrafts()
      }
      if !object.toManyValues.isEmpty, context.recorder?.holds(object) != true {
        object.forgetToManyValues()
      }
    }
  }
}
