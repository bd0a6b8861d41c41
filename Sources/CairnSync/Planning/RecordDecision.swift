/// What a destination does with one incoming record state: pure, decided from the two states.
public struct RecordDecision: Hashable, Sendable {
  public let merged: RecordState
  /// Concurrent values that lost, for the journal.
  public let conflicts: [Conflict]
  /// Whether the destination knew nothing that the source does not.
  public var equalsIncoming: Bool

  /// Merges an incoming state into what the destination has.
  ///
  /// - Parameter mine: Nil when the destination has never heard of the record.
  public static func decide(
    mine: RecordState?, theirs: RecordState, policy: DeleteConflictPolicy
  ) -> RecordDecision {
    guard let mine else {
      return RecordDecision(merged: theirs, conflicts: [], equalsIncoming: true)
    }
    let merged = mine.joined(with: theirs)
    return RecordDecision(
      merged: merged,
      conflicts: Conflict.find(mine: mine, theirs: theirs, merged: merged, policy: policy),
      equalsIncoming: merged == theirs)
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
