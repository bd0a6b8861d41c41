// io.cairn.Sync.RevertAuthor: take back what one author or store wrote.

/// Takes back what an author or a store wrote in a time, as a new change; with `dryRun` only tells what
/// that would do.
public enum RevertAuthor: ControlMethod {
  public static let name = "io.cairn.Sync.RevertAuthor"
  public static let role = ControlRole.control
  public static let declarations = [
    AwayReplica.declaration,
    """
    # One thing that taking writes back does: a property gets its former value (set), a member is
    # added or removed (link), an inserted record is deleted, a deleted one comes back (missing are
    # the properties of which no value is known).
    type RevertStep (
      entity: string,
      record: string,
      kind: (set, link, delete, bringBack),
      property: ?string,
      member: ?string,
      isMember: ?bool,
      old: ?object,
      new: ?object,
      missing: ?[]string
    )
    """,
    """
    # A write that stays, and why.
    type KeptWrite (entity: string, record: string, property: ?string, reason: string)
    """,
    """
    # Take back what an author, or a store (a name, or a UUID), wrote from since on and before
    # until, in one transaction. With dryRun nothing is written; plan is the ID of what was looked
    # at, so that it is refused when it would be something else by now. withoutHistory are stores
    # whose history does not reach back. by is the author of the change. Role: control.
    method RevertAuthor(
      author: ?string,
      store: ?string,
      since: string,
      until: ?string,
      plan: ?string,
      dryRun: ?bool,
      by: ?string
    ) -> (
      plan: ?string,
      steps: []RevertStep,
      kept: []KeptWrite,
      withoutHistory: []string,
      away: []Away
    )
    """,
  ]

  public struct Parameters: Codable, Sendable, Hashable {
    /// A name in history; either this or `store`.
    public var author: String?
    /// All that a store wrote.
    public var store: String?
    public var since: WireDate
    public var until: WireDate?
    /// The plan that was looked at; what is to be done now when nil.
    public var plan: String?
    /// False when nil.
    public var dryRun: Bool?
    /// The author in history of the change; `cairn.revert` when nil.
    public var by: String?

    public init(
      author: String? = nil, store: String? = nil, since: WireDate, until: WireDate? = nil,
      plan: String? = nil, dryRun: Bool? = nil, by: String? = nil
    ) {
      self.author = author
      self.store = store
      self.since = since
      self.until = until
      self.plan = plan
      self.dryRun = dryRun
      self.by = by
    }
  }

  public struct Reply: Codable, Sendable, Hashable {
    /// With `dryRun`: what to give as `plan`.
    public var plan: String?
    public var steps: [Step]
    public var kept: [Kept]
    /// Stores whose history does not reach back to `since`.
    public var withoutHistory: [String]
    public var away: [AwayReplica]

    public init(
      plan: String? = nil, steps: [Step], kept: [Kept] = [], withoutHistory: [String] = [],
      away: [AwayReplica] = []
    ) {
      self.plan = plan
      self.steps = steps
      self.kept = kept
      self.withoutHistory = withoutHistory
      self.away = away
    }
  }

  /// One thing that taking writes back does.
  public struct Step: Codable, Sendable, Hashable {
    public enum Kind: String, Codable, Sendable, CaseIterable {
      case set, link, delete, bringBack
    }

    public var entity: String
    public var record: String
    public var kind: Kind
    public var property: String?
    /// Of a link: the other record, and whether it is a member afterwards.
    public var member: String?
    public var isMember: Bool?
    /// Left out for no value and for a long one.
    public var old: JSONValue?
    public var new: JSONValue?
    /// Of a record that comes back: the properties of which no value is known.
    public var missing: [String]?

    public init(
      entity: String, record: String, kind: Kind, property: String? = nil, member: String? = nil,
      isMember: Bool? = nil, old: JSONValue? = nil, new: JSONValue? = nil,
      missing: [String]? = nil
    ) {
      self.entity = entity
      self.record = record
      self.kind = kind
      self.property = property
      self.member = member
      self.isMember = isMember
      self.old = old
      self.new = new
      self.missing = missing
    }
  }

  /// A write that stays.
  public struct Kept: Codable, Sendable, Hashable {
    public var entity: String
    public var record: String
    /// Nil for the record as a whole.
    public var property: String?
    public var reason: String

    public init(entity: String, record: String, property: String? = nil, reason: String) {
      self.entity = entity
      self.record = record
      self.property = property
      self.reason = reason
    }
  }
}
