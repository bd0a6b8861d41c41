import CairnModel

/// Unsaved changes on top of what a store found: deleted objects go, changed ones are tested
/// again, inserted ones that match come in.
struct PendingChangesOverlay {
  private let plan: FetchPlan
  /// Changed objects of the fetched entity.
  private let changed: [ManagedObject]

  /// Nil when no change concerns the fetch.
  init?(context: ManagedObjectContext, plan: FetchPlan) {
    self.plan = plan
    if context.pending.isEmpty { return nil }
    changed = context.pending.objects.filter { object in
      plan.includesSubentities
        ? object.entity.isKindOf(entity: plan.entity) : object.entity === plan.entity
    }
    if changed.isEmpty { return nil }
  }

  private func matches(_ object: ManagedObject) throws -> Bool {
    if object.isDeleted { return false }
    if let stores = plan.stores, let store = object.objectID.persistentStore,
      !stores.contains(where: { $0 === store })
    {
      return false
    }
    return try plan.predicate?.test(object) ?? true
  }

  /// The objects that match now, in order; offset and limit are not applied.
  func apply(to stored: [ManagedObject]) throws -> [ManagedObject] {
    var result: [ManagedObject] = []
    result.reserveCapacity(stored.count)
    var needsSorting = false
    var seen = Set<ObjectRef>()
    for object in stored {
      guard object.hasChanges else {
        result.append(object)
        continue
      }
      seen.insert(ObjectRef(object))
      if try matches(object) {
        result.append(object)
        needsSorting = true
      }
    }
    for object in changed where !seen.contains(ObjectRef(object)) {
      if try matches(object) {
        result.append(object)
        needsSorting = true
      }
    }
    if !plan.sortDescriptors.isEmpty, needsSorting {
      try FaultFiring.fill(result)
      try result.sort { try plan.sortDescriptors.areInIncreasingOrder($0, $1) }
    }
    return result
  }

  /// How many objects match now, given the IDs the store found.
  func count(over ids: [ManagedObjectID]) throws -> Int {
    let byID = Dictionary(
      changed.map { (ObjectIDRef($0.objectID), $0) }, uniquingKeysWith: { first, _ in first })
    var count = 0
    for id in ids where byID[ObjectIDRef(id)] == nil { count += 1 }
    for object in changed where try matches(object) { count += 1 }
    return count
  }
}
