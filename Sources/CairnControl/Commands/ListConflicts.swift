// io.cairn.Sync.ListConflicts: what merging decided against.

/// Lists the conflict journals of the group: concurrent values that lost.
public enum ListConflicts: ControlMethod {
  public static let name = "io.cairn.Sync.ListConflicts"
  public static let role = ControlRole.status
  public static let declarations = [
    WrittenValue.declaration, AwayReplica.declaration, JournaledConflictEntry.declaration,
    """
    # Concurrent values that lost, oldest first; each store's journal keeps them as long as the
    # retention. Dates are ISO 8601; name is a store whose journal is read, all of them when left
    # out. next is the after of the next page, null in the last. Role: status.
    method ListConflicts(
      name: ?string,
      since: ?string,
      until: ?string,
      entity: ?string,
      record: ?string,
      property: ?string,
      rules: ?[](lastWriter, deleteWon, writeWon, united, contradiction, discarded, reverted),
      after: ?string,
      limit: ?int
    ) -> (conflicts: []Conflict, next: ?string, damaged: int, away: []Away)
    """,
  ]

  public struct Parameters: Codable, Sendable, Hashable {
    /// A store whose journal is read; all that are open when nil.
    public var name: String?
    /// Noted at this time or later.
    public var since: WireDate?
    /// Noted before this time.
    public var until: WireDate?
    public var entity: String?
    /// About this record, or about one that was united with it.
    public var record: String?
    public var property: String?
    /// All when nil.
    public var rules: [JournaledConflictEntry.Rule]?
    /// `next` of the page before.
    public var after: String?
    /// 100 when nil; at most 1000.
    public var limit: Int?

    public init(
      name: String? = nil, since: WireDate? = nil, until: WireDate? = nil, entity: String? = nil,
      record: String? = nil, property: String? = nil,
      rules: [JournaledConflictEntry.Rule]? = nil, after: String? = nil, limit: Int? = nil
    ) {
      self.name = name
      self.since = since
      self.until = until
      self.entity = entity
      self.record = record
      self.property = property
      self.rules = rules
      self.after = after
      self.limit = limit
    }
  }

  public struct Reply: Codable, Sendable, Hashable {
    public var conflicts: [JournaledConflictEntry]
    public var next: String?
    /// Entries that cannot be read because a file is damaged.
    public var damaged: Int
    /// The replicas whose journals were not read.
    public var away: [AwayReplica]

    public init(
      conflicts: [JournaledConflictEntry], next: String? = nil, damaged: Int = 0,
      away: [AwayReplica] = []
    ) {
      self.conflicts = conflicts
      self.next = next
      self.damaged = damaged
      self.away = away
    }
  }
}

/// An entry of the conflict journal.
public struct JournaledConflictEntry: Codable, Sendable, Hashable {
  /// The type in Varlink's language.
  static let declaration = """
    # A concurrent value that lost. property is null when a whole record was deleted or came back;
    # member is the other record of a link, or of a place in an ordered relationship (isPlace).
    type Conflict (
      id: string,
      at: string,
      entity: string,
      record: string,
      property: ?string,
      member: ?string,
      isPlace: bool,
      rule: (lastWriter, deleteWon, writeWon, united, contradiction, discarded, reverted),
      lost: Write,
      won: Write,
      journals: []string
    )
    """

  /// Why it lost.
  public enum Rule: String, Codable, Sendable, CaseIterable {
    case lastWriter, deleteWon, writeWon, united, contradiction, discarded, reverted
  }

  public var id: String
  /// When it was merged.
  public var at: WireDate
  public var entity: String
  public var record: String
  public var property: String?
  public var member: String?
  /// The values are places in the order of a relationship.
  public var isPlace: Bool
  public var rule: Rule
  public var lost: WrittenValue
  public var won: WrittenValue
  /// The stores whose journals have it.
  public var journals: [String]

  public init(
    id: String, at: WireDate, entity: String, record: String, property: String? = nil,
    member: String? = nil, isPlace: Bool = false, rule: Rule, lost: WrittenValue, won: WrittenValue,
    journals: [String]
  ) {
    self.id = id
    self.at = at
    self.entity = entity
    self.record = record
    self.property = property
    self.member = member
    self.isPlace = isPlace
    self.rule = rule
    self.lost = lost
    self.won = won
    self.journals = journals
  }
}
