/// What a destination does with one incoming record state: pure, decided from the two states.
public struct RecordDecision: Hashable, Sendable {
  /// What happens to the destination's object.
  public enum Action: Hashable, Sendable {
    /// There is no object and there will be none, or the object stays as it is.
    case keep
    case insert
    /// The properties that take the incoming value.
    case update(Set<String>)
    case delete
  }

  public let merged: RecordState
  public let action: Action
  /// Concurrent values that lost, for the journal.
  public let conflicts: [Conflict]
  /// Whether the destination knows more than before.
  public var isNews: Bool
  /// Whether the destination knew nothing that the source does not.
  public var equalsIncoming: Bool

  /// Merges an incoming state into what the destination has.
  ///
  /// - Parameter mine: Nil when the destination has never heard of the record.
  public static func decide(
    mine: RecordState?, theirs: RecordState, policy: DeleteConflictPolicy
  ) -> RecordDecision {
    guard let mine else {
      return RecordDecision(
        merged: theirs, action: theirs.isAlive(under: policy) ? .insert : .keep, conflicts: [],
        isNews: true, equalsIncoming: true)
    }
    let merged = mine.joined(with: theirs)
    let action: Action
    switch (mine.isAlive(under: policy), merged.isAlive(under: policy)) {
    case (false, true): action = .insert
    case (true, false): action = .delete
    case (false, false): action = .keep
    case (true, true):
      let names = merged.registers.filter { name, register in
        guard let old = mine.registers[name] else { return true }
        return old != register && !old.value.isSame(as: register.value)
      }
      action = names.isEmpty ? .keep : .update(Set(names.map(\.key)))
    }
    return RecordDecision(
      merged: merged, action: action,
      conflicts: Conflict.find(mine: mine, theirs: theirs, merged: merged, policy: policy),
      isNews: merged != mine, equalsIncoming: merged == theirs)
  }

  /// Unites two live records that share the values of a uniqueness constraint.
  ///
  /// - Returns: The survivor (the smaller ID) with the greater stamp of each property, the
  ///   tombstone that names it, and what was lost.
  public static func unite(
    _ a: RecordState, _ b: RecordState, policy: DeleteConflictPolicy
  ) -> (survivor: RecordState, tombstone: RecordState, conflicts: [Conflict]) {
    let (keeper, other) = a.id < b.id ? (a, b) : (b, a)
    let survivor = keeper.united(with: other.registers, of: other.id, under: policy)
    var tombstone = other
    tombstone.registers = [:]
    tombstone.survivor = keeper.id
    var theirs = RecordState(id: keeper.id, entity: keeper.entity, registers: other.registers)
    theirs.deletion = nil
    let conflicts = Conflict.lostRegisters(
      mine: keeper, theirs: theirs, merged: survivor, rule: .united)
    return (survivor, tombstone, conflicts)
  }
}
