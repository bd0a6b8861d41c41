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

/// Makes one object what a standard policy decides.
struct ConflictMerging {
  let policy: MergePolicyType

  func merge(_ conflict: MergeConflict) {
    let object = conflict.sourceObject
    guard let context = object.registry?.context else { return }
    let decision = ConflictDecision(
      policy, isDeleted: object.flags.contains(.deleted), changed: object.changedSlots,
      base: object.snapshot, stored: conflict.row, layout: object.layout)
    switch (decision.outcome, conflict.row) {
    case (.stays, let row?): update(object, onto: row, decision, in: context)
    case (.goes, _): letGo(object, in: context)
    case (.comesBack, _): bringBack(object, decision, in: context)
    case (.isNotDeleted, let row?): undelete(object, onto: row, in: context)
    case (.staysDeleted, let row?): delete(object, of: row)
    // Without a row there is nothing to merge with.
    case (.isGone, _), (.stays, nil), (.isNotDeleted, nil), (.staysDeleted, nil):
      object.flags.insert(.inaccessible)
    }
    object.awake(fromSnapshotEvents: .mergePolicy)
  }

  private func update(
    _ object: ManagedObject, onto row: RowSnapshot, _ decision: ConflictDecision,
    in context: ManagedObjectContext
  ) {
    let restoring = RelationshipRestoring(object)
    // A new object under an ID that another context has brought back meanwhile.
    if object.isInserted { context.pending.mark(object, as: .updated) }
    if decision.dropsMembers {
      dropChanges(of: object, onto: row, decision, restoring)
    } else {
      for slot in decision.theirs.members {
        if object.layout.isToOneSlot[slot] { restoring.restoreToOne(at: slot, to: row[slot]) }
        object.countAsUnchanged(slot)
      }
    }
    if decision.keepsEqualValues {
      for slot in decision.mine.members { object.countAsChanged(slot) }
      _ = object.ownSlots()
    }
    ObjectRefreshing(context: context).rebase(
      object, onto: row, keepingEqualValues: decision.keepsEqualValues)
    restoring.reloadMembers()
    guard decision.dropsMembers else { return }
    // Members that come or go by changes of their own are still to be saved.
    if !object.toManyValues.contains(where: { $0?.hasChanges == true }) {
      context.pending.remove(object)
    }
  }

  /// Everything that was changed here goes.
  private func dropChanges(
    of object: ManagedObject, onto row: RowSnapshot, _ decision: ConflictDecision,
    _ restoring: RelationshipRestoring
  ) {
    for slot in object.layout.toOneSlots where decision.theirs.contains(slot) {
      restoring.restoreToOne(at: slot, to: row[slot])
    }
    restoring.restoreLinks()
    object.forgetChangedSlots()
  }

  private func letGo(_ object: ManagedObject, in context: ManagedObjectContext) {
    RelationshipRestoring(object).letGo()
    context.pending.note(object, .eventDeleted)
    context.pending.remove(object)
    object.flags.insert(.discarded)
  }

  private func bringBack(
    _ object: ManagedObject, _ decision: ConflictDecision, in context: ManagedObjectContext
  ) {
    // The row cache has no row for it either way; the object is a new one with an old ID.
    _ = object.ownSlots()
    for slot in decision.mine.members { object.countAsChanged(slot) }
    context.pending.mark(object, as: .inserted)
  }

  private func undelete(
    _ object: ManagedObject, onto row: RowSnapshot, in context: ManagedObjectContext
  ) {
    read(object, row)
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
  }

  private func delete(_ object: ManagedObject, of row: RowSnapshot) {
    read(object, row)
    object.adopt(row)
    RelationshipRestoring(object).deleteAgain()
  }

  /// A deletion of an object whose values were not read knows them now.
  private func read(_ object: ManagedObject, _ row: RowSnapshot) {
    object.flags.remove(.deletedUnread)
    if object.isFault { object.adopt(row) }
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
