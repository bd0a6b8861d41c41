// io.cairn.Sync.ListQuarantine: what arrived and is not visible.

/// Lists what waits in the stores of the group: for a person, or for time to pass.
public enum ListQuarantine: ControlMethod {
  public static let name = "io.cairn.Sync.ListQuarantine"
  public static let role = ControlRole.status
  public static let declarations = [
    AwayReplica.declaration, QuarantinedEntry.declaration,
    """
    # What arrived in a store and waits there: validation refuses it, or it was written in the
    # future. next is the after of the next page, null in the last. Role: status.
    method ListQuarantine(
      name: ?string,
      reason: ?(validation, clockSkew),
      after: ?string,
      limit: ?int
    ) -> (entries: []Quarantined, next: ?string, damaged: int, away: []Away)
    """,
  ]

  public struct Parameters: Codable, Sendable, Hashable {
    /// The store in which it waits; all that are open when nil.
    public var name: String?
    /// Why it waits; all when nil.
    public var reason: QuarantinedEntry.Reason?
    /// `next` of the page before.
    public var after: String?
    /// 100 when nil; at most 1000.
    public var limit: Int?

    public init(
      name: String? = nil, reason: QuarantinedEntry.Reason? = nil, after: String? = nil,
      limit: Int? = nil
    ) {
      self.name = name
      self.reason = reason
      self.after = after
      self.limit = limit
    }
  }

  public struct Reply: Codable, Sendable, Hashable {
    public var entries: [QuarantinedEntry]
    public var next: String?
    /// Entries that cannot be read because a file is damaged.
    public var damaged: Int
    /// The replicas that were not read.
    public var away: [AwayReplica]

    public init(
      entries: [QuarantinedEntry], next: String? = nil, damaged: Int = 0, away: [AwayReplica] = []
    ) {
      self.entries = entries
      self.next = next
      self.damaged = damaged
      self.away = away
    }
  }
}

/// Something that waits in a store.
public struct QuarantinedEntry: Codable, Sendable, Hashable {
  /// The type in Varlink's language.
  static let declaration = """
    # Something that waits in store and came from source. ahead is how many seconds in the future
    # it was written, by the clocks of writers. discard tells what discarding it would do; the
    # revision changes when that does.
    type Quarantined (
      id: string,
      store: string,
      source: string,
      since: string,
      reason: (validation, clockSkew),
      message: string,
      entity: string,
      record: ?string,
      properties: []string,
      isDelete: bool,
      ahead: ?float,
      writers: []string,
      discard: string,
      canDiscard: bool,
      revision: string
    )
    """

  /// Why it waits.
  public enum Reason: String, Codable, Sendable, CaseIterable {
    case validation, clockSkew
  }

  public var id: String
  /// Where it waits.
  public var store: String
  /// Where it came from.
  public var source: String
  public var since: WireDate
  public var reason: Reason
  public var message: String
  public var entity: String
  /// Nil for a link.
  public var record: String?
  /// What of the record is not visible, or the relationship of a link.
  public var properties: [String]
  public var isDelete: Bool
  /// How many seconds in the future it was written, if it waits for that.
  public var ahead: Double?
  /// The stores whose clocks were that far ahead.
  public var writers: [String]
  /// What discarding it would do, for people.
  public var discard: String
  public var canDiscard: Bool
  /// Changes when what waits changes, and when the store's own values do.
  public var revision: String

  public init(
    id: String, store: String, source: String, since: WireDate, reason: Reason, message: String,
    entity: String, record: String? = nil, properties: [String] = [], isDelete: Bool = false,
    ahead: Double? = nil, writers: [String] = [], discard: String, canDiscard: Bool,
    revision: String
  ) {
    self.id = id
    self.store = store
    self.source = source
    self.since = since
    self.reason = reason
    self.message = message
    self.entity = entity
    self.record = record
    self.properties = properties
    self.isDelete = isDelete
    self.ahead = ahead
    self.writers = writers
    self.discard = discard
    self.canDiscard = canDiscard
    self.revision = revision
  }
}
