/// Whose value a repair takes where two stores have different ones of the same write: at least one of them
/// was changed past history.
public enum RepairPreference: String, Sendable, Hashable, CaseIterable {
  case local
  case replica
}

/// What a repair did, or would do.
public struct RepairReport: Sendable, Hashable {
  /// One thing that it did.
  public struct Action: Sendable, Hashable {
    public enum Kind: String, Sendable, Hashable, CaseIterable {
      /// A row that sync did not know is taken for one that was inserted now.
      case takenUp = "taken-up"
      /// A row that is gone, with no history that tells of it, is made again from the other store.
      case restored
      /// A value that was changed past history is taken for one that was written now.
      case written
      /// The members of a relationship are those of the links, and links that were changed past history
      /// are taken for changed now.
      case members
      /// A row of the local store that is gone, with no history that tells of it, counts as deleted now; or one
      /// that the model deletes along with it goes, too.
      case deleted
      /// Both stores get what the other knows, and the merge rules decide.
      case merged
    }
    public let kind: Kind
    /// The store whose content is taken; nil where the rules decide.
    public let preferred: RepairPreference?
    public let difference: StoreDifference
  }

  /// `local` for a repair of the local store alone.
  public let replica: String
  /// Whether nothing was changed.
  public let isPlan: Bool
  public let actions: [Action]
  /// What differs all the same, by a comparison afterwards; of a plan, nothing.
  public internal(set) var remaining: [StoreDifference] = []
  /// How many records stay where they are because the link goes in one direction only; no repair brings
  /// them over.
  public internal(set) var leftOut = 0
}

/// Decides what a repair does about a difference.
enum RepairRule {
  static func action(
    for difference: StoreDifference, preferring preference: RepairPreference,
    isVanished: (StoreDifference) throws -> Bool
  ) rethrows -> RepairReport.Action {
    typealias Action = RepairReport.Action
    switch difference.kind {
    case .unknownLocal:
      return Action(kind: .takenUp, preferred: .local, difference: difference)
    case .unknownReplica:
      return Action(kind: .takenUp, preferred: .replica, difference: difference)
    case .onlyLocal, .onlyReplica:
      guard try isVanished(difference) else {
        return Action(kind: .merged, preferred: nil, difference: difference)
      }
      return Action(
        kind: .restored, preferred: difference.kind == .onlyLocal ? .local : .replica,
        difference: difference)
    case .value:
      return difference.isOfOneWrite
        ? Action(kind: .written, preferred: preference, difference: difference)
        : Action(kind: .merged, preferred: nil, difference: difference)
    case .entity: return Action(kind: .written, preferred: preference, difference: difference)
    case .damagedLocal: return Action(kind: .written, preferred: .replica, difference: difference)
    case .damagedReplica: return Action(kind: .written, preferred: .local, difference: difference)
    case .stamp: return Action(kind: .merged, preferred: nil, difference: difference)
    case .vanished, .orphaned:
      return Action(kind: .deleted, preferred: .local, difference: difference)
    case .unsaved: return Action(kind: .takenUp, preferred: .local, difference: difference)
    case .changed: return Action(kind: .written, preferred: .local, difference: difference)
    case .members: return Action(kind: .members, preferred: nil, difference: difference)
    }
  }
}
