import CairnModel
import CairnStore

/// Gives new objects the IDs they keep.
struct PermanentIDs {
  let context: ManagedObjectContext

  /// - Throws: 134030 when no writable store takes an object.
  func obtain(for objects: [ManagedObject]) throws {
    let groups = try groups(of: objects)
    if groups.isEmpty { return }
    for (store, group, entities) in groups {
      let ids =
        try (store as? ObjectStore)?.permanentIDs(for: group)
        ?? store.obtainPermanentIDs(for: entities)
      context.registry.replaceTemporaryIDs(of: group, by: ids)
    }
    replaceReferences()
  }

  private typealias Group = (
    store: PersistentStore, objects: [ManagedObject], entities: [EntityDescription]
  )

  /// Objects without permanent ID by the store they go to, and the entity of each.
  private func groups(of objects: [ManagedObject]) throws -> [Group] {
    let isWaiting: (ManagedObject) -> Bool = { $0.objectID.isTemporaryID && $0.registry != nil }
    guard let first = objects.firstIndex(where: isWaiting) else { return [] }
    guard let coordinator = context.persistentStoreCoordinator else {
      throw CoreDataError(
        .persistentStoreSave, "The context has no persistent store coordinator; set one first.")
    }
    var groups: [Group] = []
    var places: [ObjectIdentifier: Int] = [:]
    var defaults: [ObjectIdentifier: PersistentStore] = [:]
    // New objects come in runs of one entity.
    var run: (entity: EntityDescription, place: Int)?
    for object in objects[first...] where isWaiting(object) {
      if let run, run.entity === object.objectID.entity, context.assignments.isEmpty {
        groups[run.place].objects.append(object)
        groups[run.place].entities.append(run.entity)
        continue
      }
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
        groups[place].entities.append(object.entity)
        run = (object.entity, place)
      } else {
        places[ObjectIdentifier(store)] = groups.count
        run = (object.entity, groups.count)
        groups.append((store, [object], [object.entity]))
      }
    }
    return groups
  }

  /// Changed objects refer to the new IDs.
  ///
  /// Unchanged ones cannot refer to a temporary ID.
  private func replaceReferences() {
    guard context.pending.traits.contains(.toOnes) else { return }
    for object in context.pending.objects where object.flags.contains(.ownsSlots) {
      guard let slots = object.slots else { continue }
      let toOneSlots = object.unretainedLayout._withUnsafeGuaranteedRef { $0.toOneSlots }
      for slot in toOneSlots {
        if case .object(let id) = slots[slot], id.isTemporaryID {
          slots[slot] = .object(context.registry.current(id))
        }
      }
    }
  }
}
