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
    let context = object.requiredContext
    let restoring = RelationshipRestoring(object)
    // A new object under an ID that somebody else has brought back meanwhile.
    if object.isInserted { context.pending.mark(object, as: .updated) }
    switch policy {
    case .rollbackMergePolicyType: dropChanges(of: object, onto: row, restoring)
    case .mergeByPropertyStoreTrumpMergePolicyType:
      dropChangesTheStoreHasToo(object, row, restoring)
    case .overwriteMergePolicyType:
      for slot in object.layout.persistentSlots { object.countAsChanged(slot) }
      _ = object.ownSlots()
    case .mergeByPropertyObjectTrumpMergePolicyType, .errorMergePolicyType: break
    }
    ObjectRefreshing(context: context).rebase(
      object, onto: row, keepingEqualValues: policy == .overwriteMergePolicyType)
    restoring.reloadMembers()
    guard policy == .rollbackMergePolicyType else { return }
    // Members that come or go by changes of their own are still to be saved.
    if !object.toManyValues.contains(where: { $0?.hasChanges == true }) {
      context.pending.remove(object)
    }
  }

  /// Everything that was changed here goes.
  private func dropChanges(
    of object: ManagedObject, onto row: RowSnapshot, _ restoring: RelationshipRestoring
  ) {
    for slot in object.layout.toOneSlots where object.changedSlots.contains(slot) {
      restoring.restoreToOne(at: slot, to: row[slot])
    }
    restoring.restoreLinks()
    object.forgetChangedSlots()
  }

  /// Where both sides changed a property, this side's change is forgotten.
  private func dropChangesTheStoreHasToo(
    _ object: ManagedObject, _ row: RowSnapshot, _ restoring: RelationshipRestoring
  ) {
    guard let base = object.snapshot else { return }
    for slot in object.changedSlots.members
    where !object.layout.slots[slot].isTransient
      && !row[slot].isSameStoredValue(as: base[slot])
    {
      if object.layout.isToOneSlot[slot] { restoring.restoreToOne(at: slot, to: row[slot]) }
      object.countAsUnchanged(slot)
    }
  }

  /// The row is gone: the store's side makes the object go too, this side brings the row back.
  private func updateOfDeleted(_ object: ManagedObject, in context: ManagedObjectContext) {
    if storeWins {
      RelationshipRestoring(object).letGo()
      context.pending.note(object, .eventDeleted)
      context.pending.remove(object)
      object.flags.insert(.discarded)
    } else {
      // The row cache has no row for it either way; the object is a new one with an old ID.
      _ = object.ownSlots()
      for slot in object.layout.persistentSlots { object.countAsChanged(slot) }
      context.pending.mark(object, as: .inserted)
    }
  }

  /// Deleted here, changed there.
  private func delete(
    _ object: ManagedObject, of row: RowSnapshot, in context: ManagedObjectContext
  ) {
    object.flags.remove(.deletedUnread)
    if object.isFault { object.adopt(row) }
    if storeWins {
      context.pending.remove(object)
      RelationshipRestoring(object).undoDeletion(onto: row)
      object.forgetChangedSlots()
      object.flags.remove(.inaccessible)
      for value in object.toManyValues { value?.unload(keepingChanges: true) }
      object.adopt(row)
      context.pending.note(object, .eventInserted)
      if object.toManyValues.contains(where: { $0?.hasChanges == true }) {
        context.pending.mark(object, as: .updated)
      }
    } else {
      object.adopt(row)
      RelationshipRestoring(object).deleteAgain()
    }
  }
}

extension ConflictMerging {
  /// Objects that stay or come back refer to what there is, once all of those are known.
  static func finish(_ conflicts: [MergeConflict]) {
    for conflict in conflicts {
      let object = conflict.sourceObject
      guard let context = object.managedObjectContext else { continue }
      if conflict.row == nil, object.isInserted {
        RelationshipRestoring(object).comeBack()
      } else if !object.isDeleted {
        RelationshipRestoring(object).releaseDeleted()
        if let row = conflict.row { insist(object, over: row) }
      }
      DeletePropagation(context: context).run()
    }
  }

  /// Where a to-one relationship keeps the value it has here, its partners follow.
  private static func insist(_ object: ManagedObject, over row: RowSnapshot) {
    if object.isFault { return }
    for slot in object.layout.toOneSlots
    where object.changedSlots.contains(slot)
      && !object.firedSlots[slot].isSameStoredValue(as: row[slot])
    {
      RelationshipRestoring(object).insist(at: slot, over: row[slot])
    }
  }
}
