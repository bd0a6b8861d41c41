// io.cairn.Store.Repair: stores that differ become equal.

/// Makes the local store and replicas equal where they differ although they are in step.
public enum RepairStores: ControlMethod {
  public static let name = "io.cairn.Store.Repair"
  public static let role = ControlRole.control
  public static let isStreaming = true
  public static let declarations = [
    StatusProblem.declaration, VerifyStores.Difference.declaration,
    """
    # One thing that repair does about a difference: a row that sync did not know is taken up, a
    # row that is gone without a trace is restored, or in a repair of local taken for deleted, a value that was changed past history counts as
    # written now, members follow their links, or the merge rules decide (merged). takenFrom is the
    # store whose content is taken.
    type RepairAction (
      kind: (takenUp, restored, written, members, merged, deleted),
      takenFrom: ?string,
      difference: Difference
    )
    """,
    """
    # What became of one replica: how many actions, what differs all the same, how many records stay in
    # one of the two stores because the link goes in one direction only, and how many wait because they were
    # written in the future.
    type RepairResult (
      store: string,
      actions: int,
      remaining: int,
      leftOut: ?int,
      held: ?int,
      problem: ?Problem
    )
    """,
    """
    # Make replicas equal to the local store where they differ although all is in step. prefer says
    # whose value is taken where both have the same write with other values; when left out, that of the
    # store whose row is as it was saved, where checksums tell, else the local one's. The other goes into
    # the journal. With dryRun nothing is changed. With the name local, rows of the local store that are gone past
    # history count as deleted and rows that were added in the same way as inserted; with prefer local, rows that are
    # not as they were saved count as written, too. Nothing else is done then. Needs more: a result for each replica follows its actions
    # and what remains, and an empty reply is the last. Role: control.
    method Repair(name: ?string, prefer: ?(local, replica), dryRun: ?bool) -> (
      action: ?RepairAction,
      remaining: ?Difference,
      result: ?RepairResult
    )
    """,
  ]

  public struct Parameters: Codable, Sendable, Hashable {
    /// One replica, or `local`; all replicas when nil.
    public var name: String?
    /// When nil, the store whose row is as it was saved, where checksums tell, else `local`.
    public var prefer: Preference?
    /// False when nil.
    public var dryRun: Bool?

    public init(name: String? = nil, prefer: Preference? = nil, dryRun: Bool? = nil) {
      self.name = name
      self.prefer = prefer
      self.dryRun = dryRun
    }
  }

  /// Whose value is taken where both stores have the same write with other values.
  public enum Preference: String, Codable, Sendable, CaseIterable {
    case local, replica
  }

  public struct Reply: Codable, Sendable, Hashable {
    public var action: Action?
    /// What differs all the same.
    public var remaining: VerifyStores.Difference?
    public var result: RepairResult?

    public init(
      action: Action? = nil, remaining: VerifyStores.Difference? = nil,
      result: RepairResult? = nil
    ) {
      self.action = action
      self.remaining = remaining
      self.result = result
    }
  }

  /// One thing that repair does.
  public struct Action: Codable, Sendable, Hashable {
    public enum Kind: String, Codable, Sendable, CaseIterable {
      case takenUp, restored, written, members, merged, deleted
    }

    public var kind: Kind
    /// The store whose content is taken; nil where the rules decide.
    public var takenFrom: String?
    public var difference: VerifyStores.Difference

    public init(kind: Kind, takenFrom: String? = nil, difference: VerifyStores.Difference) {
      self.kind = kind
      self.takenFrom = takenFrom
      self.difference = difference
    }
  }

  /// What became of one replica.
  public struct RepairResult: Codable, Sendable, Hashable {
    public var store: String
    public var actions: Int
    public var remaining: Int
    /// How many records stay in one of the two stores because the link goes in one direction only; nil for
    /// none.
    public var leftOut: Int?
    /// How many records wait because they were written in the future, which a repair leaves; nil for none.
    public var held: Int?
    /// Why it could not be compared or written.
    public var problem: StatusProblem?

    public init(
      store: String, actions: Int, remaining: Int, leftOut: Int? = nil, held: Int? = nil,
      problem: StatusProblem? = nil
    ) {
      self.leftOut = leftOut
      self.held = held
      self.store = store
      self.actions = actions
      self.remaining = remaining
      self.problem = problem
    }
  }
}
