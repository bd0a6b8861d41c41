import CairnCoordinator
import CairnModel
import CairnStore

/// What follows a commit: objects take their stored values, become clean, and everybody is told.
struct SaveCompletion {
  let context: ManagedObjectContext
  private var changes = ObjectChangeSets()
  private var objects: [ManagedObject] = []
  private var deleted: [ManagedObject] = []
  private var numbers: [String: Int64] = [:]
  /// Rows that the row cache is to keep from now on.
  private var held: [ManagedObjectID] = []

  init(context: ManagedObjectContext) { self.context = context }

  /// Takes what one store has committed.
  mutating func add(_ unit: SaveUnit, receipt: SaveReceipt?) {
    if let number = receipt?.transactionNumber {
      numbers[unit.store.identity.identifier] = number
    }
    let rows = receipt?.snapshots ?? []
    for (index, object) in (unit.inserted + unit.updated).enumerated() {
      clean(object, row: index < rows.count ? rows[index] : nil)
    }
    for object in unit.unchanged { clean(object, row: nil) }
    for object in unit.locked { unlock(object) }
    changes.inserted += unit.inserted
    changes.updated += unit.updated
    changes.deleted += unit.deleted
    for object in unit.deleted {
      context.pending.remove(object)
      deleted.append(object)
    }
    objects += unit.inserted + unit.updated + unit.unchanged
    context.sidecar.remove(unit.store)
  }

  private mutating func clean(_ object: ManagedObject, row: RowSnapshot?) {
    context.pending.remove(object)
    object.changedSlots.removeAll()
    for value in object.toManyValues {
      value?.commit { $0.flags.contains(.deleted) }
    }
    if !context.assignments.isEmpty { context.assignments[ObjectRef(object)] = nil }
    unlock(object)
    guard let row else { return }
    if object.keepsTransientValues, let slots = object.slots {
      for slot in object.layout.persistentSlots { slots[slot] = row[slot] }
      object.snapshot = row
    } else {
      object.adopt(row)
    }
    if !object.flags.contains(.retainsRow) {
      object.flags.insert(.retainsRow)
      held.append(object.objectID)
    }
  }

  private func unlock(_ object: ManagedObject) {
    guard object.flags.contains(.locked) else { return }
    object.flags.remove(.locked)
    if !context.retainsRegisteredObjects { context.retained.remove(ObjectRef(object)) }
  }

  /// Tells objects and observers.
  ///
  /// Deleted objects leave the context.
  func finish() {
    if !held.isEmpty { context.rowSource?.retainRows(held) }
    for object in deleted { ChangeDiscarding(context: context).detach(object) }
    for object in objects { object.didSave() }
    for object in deleted { object.didSave() }
    let token = numbers.isEmpty ? nil : PersistentHistoryToken(numbers: numbers)
    ContextNotifications(context: context).postDidSave(
      changes, token: token, generation: context.pinAfterSave())
    context.processPendingChanges()
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
