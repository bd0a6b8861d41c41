import CairnModel
import CairnStore

/// Gives new objects the IDs they keep.
struct PermanentIDs {
  let context: ManagedObjectContext

  /// - Throws: 134030 when no writable store takes an object.
  func obtain(for objects: [ManagedObject]) throws {
    let waiting = objects.filter { $0.objectID.isTemporaryID && $0.registry != nil }
    if waiting.isEmpty { return }
    for (store, group) in try groups(of: waiting) {
      let ids =
        try (store as? ObjectStore)?.permanentIDs(for: group)
        ?? store.obtainPermanentIDs(for: group.map(\.entity))
      for (object, id) in zip(group, ids) {
        context.registry.replaceTemporaryID(of: object, by: id)
      }
    }
    replaceReferences()
  }

  /// Objects by the store they go to.
  private func groups(
    of objects: [ManagedObject]
  ) throws -> [(store: PersistentStore, objects: [ManagedObject])] {
    guard let coordinator = context.persistentStoreCoordinator else {
      throw CoreDataError(
        .persistentStoreSave, "The context has no persistent store coordinator; set one first.")
    }
    var groups: [(store: PersistentStore, objects: [ManagedObject])] = []
    var places: [ObjectIdentifier: Int] = [:]
    var defaults: [ObjectIdentifier: PersistentStore] = [:]
    for object in objects {
      let store: PersistentStore
      if !context.assignments.isEmpty, let assigned = context.assignments[ObjectRef(object)] {
        store = assigned
      } else if let known = defaults[ObjectIdentifier(object.entity)] {
        store = known
      } else {
        store = try coordinator.storeForInserting(object.entity)
        defaults[ObjectIdentifier(object.entity)] = store
      }
      if let place = places[ObjectIdentifier(store)] {
        groups[place].objects.append(object)
      } else {
        places[ObjectIdentifier(store)] = groups.count
        groups.append((store, [object]))
      }
    }
    return groups
  }

  /// Changed objects refer to the new IDs.
  ///
  /// Unchanged ones cannot refer to a temporary ID.
  private func replaceReferences() {
    for object in context.pending.objects where object.flags.contains(.ownsSlots) {
      guard let slots = object.slots else { continue }
      for slot in object.layout.toOneSlots {
        if case .object(let id) = slots[slot], id.isTemporaryID {
          slots[slot] = .object(context.registry.current(id))
        }
      }
    }
  }
}
