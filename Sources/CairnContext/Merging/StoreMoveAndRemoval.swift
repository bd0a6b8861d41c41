import CairnModel
import CairnStore

/// A store was copied to another place: a context's objects go on under the IDs of the copy.
struct StoreMove: Sendable {
  let old: StoreIdentity
  let ids: [ManagedObjectID: ManagedObjectID]

  /// Objects without changes become faults of the new store; changed ones keep their changes.
  func apply(to context: ManagedObjectContext) {
    let objects = context.registry.objects
    var refreshed: [ManagedObject] = []
    for object in objects where object.objectID.storeIdentity === old {
      guard let id = ids[object.objectID] else {
        // Not in the copy: it was deleted, or never saved under its permanent ID.
        if object.isInserted { continue }
        ObjectDetaching(context: context).detach(object)
        continue
      }
      context.registry.remove(object, id: object.objectID)
      object.flags.remove(.retainsRow)
      object.objectID = id
      context.registry.add(object)
      if object.hasChanges {
        context.pending.setVersion(1, of: object)
        guard let snapshot = object.snapshot.map(moved) else { continue }
        // Slots that are not the object's own are those of its snapshot.
        if object.isFault || object.flags.contains(.ownsSlots) {
          object.snapshot = snapshot
        } else {
          object.adopt(snapshot)
        }
      } else {
        object.freeSlots()
        object.snapshot = nil
        object.forgetToManyValues()
        refreshed.append(object)
      }
    }
    // New objects and changed ones may lead to objects that moved.
    for object in objects where object.flags.contains(.ownsSlots) {
      guard let slots = object.slots else { continue }
      for slot in object.layout.toOneSlots {
        if case .object(let id) = slots[slot], let new = ids[id] { slots[slot] = .object(new) }
      }
    }
    for object in refreshed { context.pending.note(object, .eventRefreshed) }
    context.processPendingChanges()
  }

  private func moved(_ row: RowSnapshot) -> RowSnapshot {
    let values = row.values.map { value -> AttributeValue in
      if case .object(let id) = value, let new = ids[id] { return .object(new) }
      return value
    }
    return .make(objectID: ids[row.objectID] ?? row.objectID, version: 1, values: values)
  }
}

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
