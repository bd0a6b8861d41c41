import CairnModel

/// A store was taken out of the coordinator: its objects leave the context.
struct StoreRemoval {
  let context: ManagedObjectContext

  func forget(_ identity: StoreIdentity) {
    let objects = context.registry.objects.filter { $0.objectID.storeIdentity === identity }
    // What undo would bring back belongs nowhere any more.
    context.undoManager?.removeAllActions(withTarget: context)
    if objects.isEmpty { return }
    for object in objects {
      ObjectDetaching(context: context).detach(object)
      object.freeSlots()
      object.snapshot = nil
      object.forgetToManyValues()
    }
    ContextNotifications(context: context).postInvalidatedAll(objects.map(\.objectID))
  }
}
