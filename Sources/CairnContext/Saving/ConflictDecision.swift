import CairnModel
import CairnStore

/// What becomes of one object in an optimistic-locking conflict, property by property: decided from
/// the rows and the policy alone, applied by ``ConflictMerging``.
struct ConflictDecision: Equatable {
  /// Who is there after the conflict, the object, the row, or both.
  enum Outcome: Equatable {
    /// Both sides changed the object: it stays, on top of the newer row.
    case stays
    /// The row is gone and the object goes with it.
    case goes
    /// The row is gone and is written anew.
    case comesBack
    /// The object was deleted here and stays so, though its row has changed.
    case staysDeleted
    /// The deletion here is given up.
    case isNotDeleted
    /// Deleted on both sides: there is nothing left to do.
    case isGone
  }

  let outcome: Outcome
  /// The slots that keep this side's value and are written.
  private(set) var mine = SlotSet()
  /// The slots that this side has set and that take the newer row's value all the same.
  ///
  /// Slots that are in neither were not changed here: they have the newer row's value anyway.
  private(set) var theirs = SlotSet()
  /// Whether members that this side has added and removed are taken back too.
  let dropsMembers: Bool
  /// Whether a value counts as this side's although it is the one that the changes are based on.
  let keepsEqualValues: Bool

  /// - Parameters:
  ///   - isDeleted: Whether this side deletes the object.
  ///   - changed: The slots that this side has set.
  ///   - base: The row that this side's changes are based on; nil when it is not known.
  ///   - stored: The newer row; nil when it was deleted.
  init(
    _ policy: MergePolicyType, isDeleted: Bool, changed: SlotSet, base: RowSnapshot?,
    stored: RowSnapshot?, layout: EntityLayout
  ) {
    let storeWins = Self.storeWins(policy)
    switch (isDeleted, stored) {
    case (false, _?): outcome = .stays
    case (false, nil): outcome = storeWins ? .goes : .comesBack
    case (true, _?): outcome = storeWins ? .isNotDeleted : .staysDeleted
    case (true, nil): outcome = .isGone
    }
    let isOverwriting = policy == .overwriteMergePolicyType
    dropsMembers = outcome == .stays && policy == .rollbackMergePolicyType
    keepsEqualValues = outcome == .stays && isOverwriting
    switch outcome {
    case .stays:
      for slot in changed.members {
        let isMine = Self.isMine(
          policy, isTransient: layout.slots[slot].isTransient, base?[slot], stored?[slot])
        if isMine { mine.insert(slot) } else { theirs.insert(slot) }
      }
      if isOverwriting { for slot in layout.persistentSlots { mine.insert(slot) } }
    case .comesBack:
      mine = changed
      for slot in layout.persistentSlots { mine.insert(slot) }
    case .isNotDeleted: theirs = changed
    case .goes, .staysDeleted, .isGone: break
    }
  }

  static func storeWins(_ policy: MergePolicyType) -> Bool {
    policy == .mergeByPropertyStoreTrumpMergePolicyType || policy == .rollbackMergePolicyType
  }

  /// Whether a slot that this side has set keeps this side's value.
  private static func isMine(
    _ policy: MergePolicyType, isTransient: Bool, _ base: AttributeValue?, _ stored: AttributeValue?
  ) -> Bool {
    switch policy {
    case .rollbackMergePolicyType: return false
    case .mergeByPropertyStoreTrumpMergePolicyType:
      // Only this side has a transient value; without the base it is not known who changed what.
      guard !isTransient, let base, let stored else { return true }
      return stored.isSameStoredValue(as: base)
    case .mergeByPropertyObjectTrumpMergePolicyType, .overwriteMergePolicyType,
      .errorMergePolicyType:
      return true
    }
  }
}
