// io.cairn.Sync.ListParked: references to records that have not arrived.

/// Lists the references that wait in the stores of the group for records that have not arrived there.
public enum ListParked: ControlMethod {
  public static let name = "io.cairn.Sync.ListParked"
  public static let role = ControlRole.status
  public static let declarations = [
    AwayReplica.declaration, ParkedEntry.declaration,
    """
    # References whose record has not arrived in the store. next is the after of the next page, null
    # in the last. Role: status.
    method ListParked(name: ?string, after: ?string, limit: ?int) -> (
      entries: []Parked,
      next: ?string,
      away: []Away
    )
    """,
  ]

  public struct Parameters: Codable, Sendable, Hashable {
    /// The store in which they wait; all that are open when nil.
    public var name: String?
    /// `next` of the page before.
    public var after: String?
    /// 100 when nil; at most 1000.
    public var limit: Int?

    public init(name: String? = nil, after: String? = nil, limit: Int? = nil) {
      self.name = name
      self.after = after
      self.limit = limit
    }
  }

  public struct Reply: Codable, Sendable, Hashable {
    public var entries: [ParkedEntry]
    public var next: String?
    /// The replicas that were not read.
    public var away: [AwayReplica]

    public init(entries: [ParkedEntry], next: String? = nil, away: [AwayReplica] = []) {
      self.entries = entries
      self.next = next
      self.away = away
    }
  }
}

/// A reference that waits in a store.
public struct ParkedEntry: Codable, Sendable, Hashable {
  /// The type in Varlink's language.
  static let declaration = """
    # The property of a record of entity that refers to the record awaited, which has not arrived in
    # store; null where the record was united with the one that it waits for. stores have that
    # record; isQuarantined says that it has arrived and waits in quarantine.
    type Parked (
      store: string,
      entity: string,
      record: string,
      property: ?string,
      awaited: string,
      isQuarantined: bool,
      stores: []string
    )
    """

  /// Where it waits.
  public var store: String
  public var entity: String
  public var record: String
  /// Nil for a record that was united with the one that it waits for.
  public var property: String?
  /// The record that has not arrived.
  public var awaited: String
  /// Whether that has arrived and waits in quarantine.
  public var isQuarantined: Bool
  /// The other stores that have it.
  public var stores: [String]

  public init(
    store: String, entity: String, record: String, property: String? = nil, awaited: String,
    isQuarantined: Bool = false, stores: [String] = []
  ) {
    self.store = store
    self.entity = entity
    self.record = record
    self.property = property
    self.awaited = awaited
    self.isQuarantined = isQuarantined
    self.stores = stores
  }
}
