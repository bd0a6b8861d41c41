import CairnModel
import CairnStore

/// Turns a store's conflicts into the policy's words, and makes objects what the policy decides.
struct ConflictResolution {
  let context: ManagedObjectContext

  /// - Parameter cached: What the row cache had for each of them before it learned of the newer
  ///   rows.
  func resolve(_ conflicts: [RowConflict], cached: [RowSnapshot?]) throws {
    let list = zip(conflicts, cached).map { conflict, cached in
      let object = context.object(with: conflict.objectID)
      // Saved through the same coordinator, so the cache has it already.
      let isKnown = cached?.version == conflict.persisted?.version
      return MergeConflict(
        source: object, oldVersion: conflict.expectedVersion, cached: cached,
        stored: isKnown ? nil : conflict.persisted, row: conflict.persisted)
    }
    try context.policy.resolve(mergeConflicts: list)
  }
}

/// One conflict under one of the standard policies.
struct ConflictMerging {
  let policy: MergePolicyType

  private var storeWins: Bool {
    policy == .mergeByPropertyStoreTrumpMergePolicyType || policy == .rollbackMergePolicyType
  }

  func merge(_ conflict: MergeConflict) {
    let object = conflict.sourceObject
    guard let context = object.registry?.context else { return }
    switch (object.flags.contains(.deleted), conflict.row) {
    case (false, let row?): update(object, onto: row)
    case (false, nil): updateOfDeleted(object, in: context)
    case (true, let row?): delete(object, of: row, in: context)
    case (true, nil): object.flags.insert(.inaccessible)
    }
    object.awake(fromSnapshotEvents: .mergePolicy)
  }

  private func update(_ object: ManagedObject, onto row: RowSnapshot) {
    if policy == .rollbackMergePolicyType {
      ChangeDiscarding(context: object.requiredContext).restore(object)
      object.registry?.context?.pending.remove(object)
    } else if policy == .mergeByPropertyStoreTrumpMergePolicyType {
      dropChangesTheStoreHasToo(object, row)
    } else if policy == .overwriteMergePolicyType {
      for slot in object.layout.persistentSlots { object.changedSlots.insert(slot) }
      _ = object.ownSlots()
    }
    for value in object.toManyValues { value?.unload(keepingChanges: true) }
    ObjectRefreshing(context: object.requiredContext).rebase(
      object, onto: row, keepingEqualValues: policy == .overwriteMergePolicyType)
  }

  /// Where both sides changed a property, this side's change is forgotten.
  private func dropChangesTheStoreHasToo(_ object: ManagedObject, _ row: RowSnapshot) {
    guard let base = object.snapshot else { return }
    for slot in object.changedSlots.members
    where !object.layout.slots[slot].isTransient
      && !row[slot].isSameStoredValue(as: base[slot])
    {
      object.changedSlots.remove(slot)
    }
  }

  /// The row is gone: the store's side makes the object go too, this side brings the row back.
  private func updateOfDeleted(_ object: ManagedObject, in context: ManagedObjectContext) {
    if storeWins {
      context.pending.note(object, .eventDeleted)
      context.pending.remove(object)
      object.flags.insert(.discarded)
    } else {
      // The row cache has no row for it either way; the object is a new one with an old ID.
      for slot in object.layout.persistentSlots { object.changedSlots.insert(slot) }
      _ = object.ownSlots()
      context.pending.mark(object, as: .inserted)
    }
  }

  /// Deleted here, changed there.
  private func delete(
    _ object: ManagedObject, of row: RowSnapshot, in context: ManagedObjectContext
  ) {
    if storeWins {
      context.pending.remove(object)
      ChangeDiscarding(context: context).restore(object)
      for value in object.toManyValues { value?.unload(keepingChanges: false) }
      object.adopt(row)
      context.pending.note(object, .eventInserted)
    } else {
      object.snapshot = row
      if !object.flags.contains(.ownsSlots) { object.slots = row.slotPointer }
    }
  }
}
