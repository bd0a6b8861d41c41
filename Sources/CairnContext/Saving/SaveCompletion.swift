import CairnCoordinator
import CairnModel
import CairnStore

/// What follows a commit: objects take their stored values and become clean, and the context tells them and
/// its observers.
struct SaveCompletion {
  let context: ManagedObjectContext
  private var changes = ObjectChangeSets()
  private var unchanged: [ManagedObject] = []
  private var numbers: [String: Int64] = [:]
  /// Rows that the row cache is to keep from now on.
  private var held: [ManagedObjectID] = []
  /// Rows of which the context is counted twice as a holder.
  private var surplus: [ManagedObjectID] = []

  /// Whether what is being taken is all that the context had to save.
  private var isEverything = false
  /// Whether some object has a class that may override what is called at a save.
  private var isAnybodyListening = false

  init(context: ManagedObjectContext) { self.context = context }

  /// Takes what one store has committed.
  ///
  /// - Parameter areInsertionsHeld: Whether the context is a holder of the new rows already.
  mutating func add(
    _ unit: borrowing SaveUnit, receipt: SaveReceipt?, areInsertionsHeld: Bool = false
  ) {
    if let number = receipt?.transactionNumber {
      numbers[unit.store.identity.identifier] = number
    }
    if context.pending.traits.contains(.listeners) { isAnybodyListening = true }
    let rows = receipt?.snapshots ?? []
    var next = 0
    let count =
      unit.inserted.count + unit.updated.count + unit.unchanged.count + unit.deleted.count
    // Most often that is everything: then the list is given up as a whole. A store of the program's
    // own may have changed what there is to save.
    isEverything = areInsertionsHeld && count == context.pending.count
    defer { if isEverything { context.pending.removeCleared() } }
    for object in unit.inserted {
      clean(object, row: next < rows.count ? rows[next] : nil, isHeld: areInsertionsHeld)
      next += 1
    }
    // Each gives up the row before.
    MemoryAhead.each(
      of: unit.updated,
      {
        $0.fetchRowAhead()
        $0.fetchDraftAhead()
      }
    ) { object in
      clean(object, row: next < rows.count ? rows[next] : nil)
      next += 1
    }
    for object in unit.unchanged { clean(object, row: nil) }
    for object in unit.locked { unlock(object) }
    for object in unit.deleted { removePending(object) }
    Self.add(unit.inserted, to: &changes.inserted)
    Self.add(unit.updated, to: &changes.updated)
    Self.add(unit.deleted, to: &changes.deleted)
    unchanged += unit.unchanged
    context.nextSave.sidecar.remove(unit.store)
  }

  /// The lists of the first store, most often the only one, are shared and not copied.
  private static func add(_ objects: [ManagedObject], to list: inout [ManagedObject]) {
    if list.isEmpty { list = objects } else { list += objects }
  }

  private mutating func clean(_ object: ManagedObject, row: RowSnapshot?, isHeld: Bool = false) {
    removePending(object)
    object.forgetChangedSlots()
    if !object.toManyValues.isEmpty {
      let base = object.snapshot?.version
      for value in object.toManyValues {
        guard let value else { continue }
        value.commit { $0.flags.contains(.deleted) }
        // What was not older than the row before is not older than the one that was written.
        if let row, value.version == base { value.version = row.version }
      }
    }
    if !context.nextSave.assignments.isEmpty {
      context.nextSave.assignments[ObjectRef(object)] = nil
    }
    unlock(object)
    guard let row else { return }
    if object.keepsTransientValues, let slots = object.slots {
      for slot in object.layout.persistentSlots { slots[slot] = row[slot] }
      object.snapshot = row
    } else {
      object.adopt(row)
    }
    if object.flags.contains(.retainsRow) {
      if isHeld { surplus.append(object.objectID) }
    } else {
      object.flags.insert(.retainsRow)
      if !isHeld { held.append(object.objectID) }
    }
  }

  private func removePending(_ object: ManagedObject) {
    if isEverything {
      object.flags.subtract(.pending)
      object.pendingIndex = -1
    } else {
      context.pending.remove(object)
    }
  }

  private func unlock(_ object: ManagedObject) {
    guard object.flags.contains(.locked) else { return }
    object.flags.remove(.locked)
    if !context.retainsRegisteredObjects { context.registry.retained.remove(ObjectRef(object)) }
  }

  /// Tells objects and observers.
  ///
  /// Deleted objects leave the context.
  func finish() {
    if !held.isEmpty { context.reading.source?.retainRows(held) }
    if !surplus.isEmpty { context.reading.source?.releaseRows(surplus) }
    ObjectDetaching(context: context).detach(changes.deleted)
    if isAnybodyListening {
      for objects in [changes.inserted, changes.updated, unchanged, changes.deleted] {
        for object in objects { object.didSave() }
      }
    }
    let token = numbers.isEmpty ? nil : PersistentHistoryToken(numbers: numbers)
    ContextNotifications(context: context).postDidSave(
      changes, token: token, generation: context.pinAfterSave())
    // While the lists still hold the objects: a set lets them go in the order of their hashes.
    context.event.announcedSets = nil
    context.processPendingChanges()
    ObjectDetaching(context: context).release(changes.deleted)
  }
}

extension ManagedObject {
  /// Whether there are transient values that a shared snapshot would lose.
  final var keepsTransientValues: Bool {
    guard flags.contains(.ownsSlots), let slots, layout.persistentSlots.count != slotCount else {
      return false
    }
    return (0..<slotCount).contains { layout.slots[$0].isTransient && !slots[$0].isNull }
  }
}
