import CairnModel
import CairnStore

/// Gives new objects the IDs they keep.
struct PermanentIDs {
  let context: ManagedObjectContext

  /// - Throws: 134030 when no writable store takes an object.
  func obtain(for objects: [ManagedObject]) throws {
    let isAnyKnown = try takeIDsOfParent(for: objects)
    let groups = try groups(of: objects)
    if groups.isEmpty, !isAnyKnown { return }
    for group in groups { try give(to: group) }
    replaceReferences()
  }

  /// Gives new objects the IDs that rows of theirs had before.
  func give(_ ids: [(ManagedObject, ManagedObjectID)]) {
    if ids.isEmpty { return }
    context.registry.replaceTemporaryIDs(of: ids.map(\.0), by: ids.map(\.1))
    replaceReferences()
  }

  // MARK: In a child

  /// Objects that a parent has, too, take the IDs that they have or will be saved with there.
  ///
  /// - Returns: Whether there are such objects.
  private func takeIDsOfParent(for objects: [ManagedObject]) throws -> Bool {
    guard let parent = context.parent else { return false }
    let waiting = objects.filter {
      $0.objectID.isTemporaryID && $0.registry === context.registry
    }
    if waiting.isEmpty { return false }
    let ids = waiting.map(\.objectID)
    let known = try parent.serve {
      try PermanentIDs(context: parent).obtain(forIDs: ids)
    }
    var isAnyKnown = false
    for case (let object, let id?) in zip(waiting, known) {
      context.registry.replaceTemporaryID(of: object, by: id)
      isAnyKnown = true
    }
    return isAnyKnown
  }

  /// The permanent IDs of the objects with temporary IDs that a child knows; nil for objects that
  /// are new in the child, and for unknown ones.
  ///
  /// Runs on the context's queue.
  private func obtain(forIDs ids: [ManagedObjectID]) throws -> [ManagedObjectID?] {
    let new = ids.compactMap { context.registry.object(for: $0) }.filter(\.isInserted)
    try obtain(for: new)
    var known = ids.map { id in
      let now = context.currentID(id)
      return now.isTemporaryID ? nil : now
    }
    let unknown = known.indices.filter { known[$0] == nil }
    guard !unknown.isEmpty, let parent = context.parent else { return known }
    let further = try parent.serve {
      try PermanentIDs(context: parent).obtain(forIDs: unknown.map { ids[$0] })
    }
    for (place, id) in zip(unknown, further) { known[place] = id }
    return known
  }

  // MARK: By store

  private func give(to group: Group) throws {
    if let numbering = group.store.capabilities.rowKeys,
      let keys = try numbering.reserveRowKeys(for: group.runs)
    {
      context.registry.giveRowKeys(
        keys, in: group.runs, of: group.store.identity, to: group.objects)
      return
    }
    let ids =
      try (group.store as? any ObjectSpeaking)?.permanentIDs(for: group.objects)
      ?? group.store.obtainPermanentIDs(for: group.objects.map(\.entity))
    context.registry.replaceTemporaryIDs(of: group.objects, by: ids)
  }

  /// Objects without permanent ID that go to one store.
  private struct Group {
    let store: PersistentStore
    var objects: [ManagedObject] = []
    /// New objects come in runs of one entity.
    var runs: [RowKeyRun] = []

    mutating func add(_ object: ManagedObject, _ entity: EntityDescription) {
      objects.append(object)
      if let last = runs.last, last.entity === entity {
        runs[runs.count - 1].count += 1
      } else {
        runs.append(RowKeyRun(entity: entity, count: 1))
      }
    }
  }

  /// Objects without permanent ID by the store they go to.
  private func groups(of objects: [ManagedObject]) throws -> [Group] {
    let registry = context.registry
    let isWaiting: (ManagedObject) -> Bool = {
      $0.objectID.isTemporaryID && $0.registry === registry
    }
    guard let first = objects.firstIndex(where: isWaiting) else { return [] }
    guard let coordinator = context.persistentStoreCoordinator else {
      throw CoreDataError(
        .persistentStoreSave, "The context has no persistent store coordinator; set one first.")
    }
    if let run = oneRun(objects, isWaiting) {
      let store = try coordinator.storeForInserting(run.entity)
      return [Group(store: store, objects: objects, runs: [run])]
    }
    var groups: [Group] = []
    var defaults: [ObjectIdentifier: PersistentStore] = [:]
    var recent: (entity: EntityDescription, place: Int)?
    for object in objects[first...] where isWaiting(object) {
      let entity = object.objectID.entity
      if let recent, recent.entity === entity, context.nextSave.assignments.isEmpty {
        groups[recent.place].add(object, entity)
        continue
      }
      let store: PersistentStore
      if !context.nextSave.assignments.isEmpty,
        let assigned = context.nextSave.assignments[ObjectRef(object)]
      {
        store = assigned
      } else if let known = defaults[ObjectIdentifier(entity)] {
        store = known
      } else {
        store = try coordinator.storeForInserting(entity)
        defaults[ObjectIdentifier(entity)] = store
      }
      let place = groups.firstIndex { $0.store === store } ?? groups.count
      if place == groups.count { groups.append(Group(store: store)) }
      groups[place].add(object, entity)
      recent = (entity, place)
    }
    return groups
  }

  /// The objects as one run, if they are that and go where objects of their entity go.
  private func oneRun(
    _ objects: [ManagedObject], _ isWaiting: (ManagedObject) -> Bool
  ) -> RowKeyRun? {
    guard let entity = objects.first?.objectID.entity, context.nextSave.assignments.isEmpty,
      objects.allSatisfy({ isWaiting($0) && $0.objectID.entity === entity })
    else { return nil }
    return RowKeyRun(entity: entity, count: objects.count)
  }

  /// Changed objects refer to the new IDs.
  ///
  /// Unchanged ones cannot refer to a temporary ID.
  func replaceReferences() {
    guard context.pending.traits.contains(.toOnes) else { return }
    for object in context.pending.objects where object.flags.contains(.ownsSlots) {
      guard let slots = object.slots else { continue }
      let toOneSlots = object.unretainedLayout.with { $0.toOneSlots }
      for slot in toOneSlots {
        if case .object(let id) = slots[slot], id.isTemporaryID {
          slots[slot] = .object(context.registry.current(id))
        }
      }
    }
  }
}

extension ManagedObjectContext {
  /// Gives new objects the IDs that rows of theirs had before, which no row has now; on the context's queue.
  package func giveKnownIDs(_ ids: [(ManagedObject, ManagedObjectID)]) {
    PermanentIDs(context: self).give(ids)
  }
}
