// io.cairn.Store.GetHistory: what was changed, when and by which program.

/// Streams the transactions of a store, the oldest first, and on request those that are still to come.
///
/// Each answer carries a token: a later call that names it goes on behind what was read by then.
public enum GetHistory: ControlMethod {
  public static let name = "io.cairn.Store.GetHistory"
  public static let role = ControlRole.status
  public static let isStreaming = true
  public static let declarations = [
    """
    # A changed record. The id is that of the record, and the URI of its row once it is deleted.
    # properties are those that an update changed, null where the writer did not say.
    type HistoryChange (
      kind: (inserted, updated, deleted),
      entity: string,
      id: string,
      properties: ?[]string
    )
    """,
    """
    # A transaction, or a part of a large one: with continues, more of its changes follow in the next
    # entry. The token of a part stands before the transaction.
    type HistoryTransaction (
      number: int,
      token: string,
      date: string,
      author: ?string,
      context: ?string,
      program: ?string,
      process: ?string,
      changes: []HistoryChange,
      continues: bool
    )
    """,
    """
    # Read the transactions of a store, the oldest first. Needs more: they come in portions, and with
    # follow the stream goes on with each commit until the caller ends it. after is a token; since is
    # a time; with neither, the newest are read, 20 or as limit says. keptSince says that what was
    # asked for before that time has been purged. Role: status.
    method GetHistory(
      name: ?string,
      after: ?string,
      since: ?string,
      entity: ?string,
      author: ?string,
      limit: ?int,
      follow: ?bool
    ) -> (transactions: []HistoryTransaction, token: string, keptSince: ?string)
    """,
  ]

  public struct Parameters: Codable, Sendable, Hashable {
    /// The local store when nil.
    public var name: String?
    /// A token: what came later is wanted.
    public var after: String?
    /// What came later than this is wanted.
    public var since: WireDate?
    /// Only changes of this entity and its subentities, and transactions that hold some.
    public var entity: String?
    /// Only transactions of this author; empty for those without one.
    public var author: String?
    /// At most so many transactions: the first behind a token or time, else the newest.
    public var limit: Int?
    /// False when nil.
    public var follow: Bool?

    public init(
      name: String? = nil, after: String? = nil, since: WireDate? = nil, entity: String? = nil,
      author: String? = nil, limit: Int? = nil, follow: Bool? = nil
    ) {
      self.name = name
      self.after = after
      self.since = since
      self.entity = entity
      self.author = author
      self.limit = limit
      self.follow = follow
    }
  }

  public struct Reply: Codable, Sendable, Hashable {
    public var transactions: [Transaction]
    /// Where a later call goes on; it moves also over transactions that were not wanted.
    public var token: String
    /// Since when there is history, when more was asked for; in the first answer only.
    public var keptSince: WireDate?

    public init(transactions: [Transaction] = [], token: String, keptSince: WireDate? = nil) {
      self.transactions = transactions
      self.token = token
      self.keptSince = keptSince
    }
  }

  /// One commit, or a part of one.
  public struct Transaction: Codable, Sendable, Hashable {
    public var number: Int
    public var token: String
    public var date: WireDate
    public var author: String?
    /// The name of the context that saved.
    public var context: String?
    /// The bundle identifier, or what stands for it.
    public var program: String?
    public var process: String?
    public var changes: [Change]
    /// More of its changes follow in the next entry.
    public var continues: Bool

    public init(
      number: Int, token: String, date: WireDate, author: String? = nil, context: String? = nil,
      program: String? = nil, process: String? = nil, changes: [Change] = [],
      continues: Bool = false
    ) {
      self.number = number
      self.token = token
      self.date = date
      self.author = author
      self.context = context
      self.program = program
      self.process = process
      self.changes = changes
      self.continues = continues
    }
  }

  /// One changed record.
  public struct Change: Codable, Sendable, Hashable {
    public enum Kind: String, Codable, Sendable, Hashable, CaseIterable {
      case inserted, updated, deleted
    }
    public var kind: Kind
    public var entity: String
    public var id: String
    /// Of an update; nil where the writer did not say.
    public var properties: [String]?

    public init(kind: Kind, entity: String, id: String, properties: [String]? = nil) {
      self.kind = kind
      self.entity = entity
      self.id = id
      self.properties = properties
    }
  }
}
