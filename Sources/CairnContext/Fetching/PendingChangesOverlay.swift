import CairnModel
import CairnPredicates
import CairnStore

/// Unsaved changes on top of what a store found: deleted objects go, changed ones are tested
/// again, inserted ones that match come in.
struct PendingChangesOverlay {
  private let context: ManagedObjectContext
  private let plan: FetchPlan
  /// Changed objects of the fetched entity.
  private let changed: [ManagedObject]

  /// Nil when no change concerns the fetch.
  init?(context: ManagedObjectContext, plan: FetchPlan) {
    self.context = context
    self.plan = plan
    if context.pending.isEmpty { return nil }
    changed = context.pending.objects.filter { object in
      plan.includesSubentities
        ? object.entity.isKindOf(entity: plan.entity) : object.entity === plan.entity
    }
    if changed.isEmpty { return nil }
  }

  /// How many unsaved objects are tested.
  var count: Int { changed.count }

  private func matches(_ object: ManagedObject) throws -> Bool {
    if object.isDeleted { return false }
    if let stores = plan.stores, let store = store(of: object),
      !stores.contains(where: { $0 === store })
    {
      return false
    }
    return try plan.predicate?.test(object) ?? true
  }

  /// Where the object is, or where the next save puts it.
  private func store(of object: ManagedObject) -> PersistentStore? {
    object.objectID.persistentStore ?? context.nextSave.assignments[ObjectRef(object)]
      ?? (try? context.persistentStoreCoordinator?.storeForInserting(object.entity))
  }

  /// The objects that match now, in order; offset and limit are not applied.
  func apply(to stored: [ManagedObject]) throws -> [ManagedObject] {
    if plan.sortDescriptors.isEmpty { return try inPlace(stored) }
    let matching = try changed.filter { try matches($0) }
    let unchanged = stored.filter { !$0.hasChanges }
    if matching.isEmpty { return unchanged }
    // An unchanged object may have got another place by a change of a related one.
    if plan.sortDescriptors.contains(where: leadsToOtherObjects) {
      var all = unchanged + matching
      try FaultFiring.fill(all)
      try all.sort(by: comesBefore)
      return all
    }
    return try merge(try matching.sorted(by: comesBefore), into: unchanged)
  }

  /// Without an order, results stay where the store put them and new ones come last.
  private func inPlace(_ stored: [ManagedObject]) throws -> [ManagedObject] {
    var result: [ManagedObject] = []
    result.reserveCapacity(stored.count)
    var seen = Set<ObjectRef>()
    for object in stored {
      if object.hasChanges {
        seen.insert(ObjectRef(object))
        if try !matches(object) { continue }
      }
      result.append(object)
    }
    for object in changed where !seen.contains(ObjectRef(object)) {
      if try matches(object) { result.append(object) }
    }
    return result
  }

  // MARK: Order

  private func comesBefore(_ a: ManagedObject, _ b: ManagedObject) throws -> Bool {
    try plan.sortDescriptors.areInIncreasingOrder(a, b)
  }

  private func leadsToOtherObjects(_ descriptor: ObjectSortDescriptor) -> Bool {
    guard let key = descriptor.key, key.contains(".") else { return false }
    return plan.entity.layout.slotByName[key] == nil
  }

  /// Puts sorted changed objects among the others, which the store has sorted.
  ///
  /// Places are found by halving, so that few of the others need their values.
  private func merge(
    _ sorted: [ManagedObject], into others: [ManagedObject]
  ) throws -> [ManagedObject] {
    var result: [ManagedObject] = []
    result.reserveCapacity(sorted.count + others.count)
    var start = 0
    for object in sorted {
      var (low, high) = (start, others.count)
      while low < high {
        let middle = (low + high) / 2
        if try comesBefore(object, others[middle]) { high = middle } else { low = middle + 1 }
      }
      result += others[start..<low]
      result.append(object)
      start = low
    }
    result += others[start...]
    return result
  }

  /// How many objects match now, given the IDs the store found.
  func count(over ids: [ManagedObjectID]) throws -> Int {
    let known = Set(changed.map { ObjectIDRef($0.objectID) })
    var count = 0
    let lookup = ObjectLookup(context: context)
    for id in ids where !known.contains(ObjectIDRef(id)) {
      // A child may know the object by the ID it had before it was saved.
      if context.parent != nil, lookup.registered(id)?.hasChanges == true { continue }
      count += 1
    }
    for object in changed where try matches(object) { count += 1 }
    return count
  }
}
