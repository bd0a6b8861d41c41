// io.cairn.Sync.Explain: why a property has its value.

/// Tells which store, author, transaction and rule gave a value, what it superseded, and how the stores
/// have it now.
public enum ExplainValue: ControlMethod {
  public static let name = "io.cairn.Sync.Explain"
  public static let role = ControlRole.status
  public static let declarations = [
    WrittenValue.declaration, AwayReplica.declaration, JournaledConflictEntry.declaration,
    """
    # Who made a write: the transaction, as far as the history of the store that wrote is kept and
    # that store is open in this group; nobody for what was there before sync. dated is what the
    # transaction says of its time where that is not at: the clock was wrong then.
    type WriteExplanation (
      at: ?string,
      store: string,
      known: (transaction, elsewhere, gone, nobody),
      transaction: ?int,
      author: ?string,
      context: ?string,
      process: ?string,
      dated: ?string,
      isByDeleteRule: bool
    )
    """,
    """
    # How a store has a value or a record, compared with the explained one.
    type Standing (
      store: string,
      standing: (inStep, waiting, newer, quarantined, held, parked, deleted, unknown, keptBeside),
      value: ?object,
      reason: ?string
    )
    """,
    """
    # Why one value, link or place is what it is. superseded is what the journals know to have
    # lost.
    type ValueExplanation (
      record: string,
      property: string,
      member: ?string,
      isPlace: bool,
      value: ?object,
      omitted: ?int,
      write: WriteExplanation,
      rule: (unopposed, lastWriter, deleteWon, writeWon, united, contradiction, discarded, reverted),
      superseded: []Conflict,
      standings: []Standing
    )
    """,
    """
    # Why a record is as it is: one property, or all that it has. survivor is the record that
    # stands for it after uniqueness collisions. hasMore when a relationship has more members than
    # are explained. Role: status.
    method Explain(entity: string, id: string, property: ?string) -> (
      record: string,
      survivor: string,
      entity: string,
      isDeleted: bool,
      deletion: ?WriteExplanation,
      standings: []Standing,
      values: []ValueExplanation,
      hasMore: bool,
      away: []Away
    )
    """,
  ]

  public struct Parameters: Codable, Sendable, Hashable {
    public var entity: String
    public var id: String
    /// All that the record itself has when nil.
    public var property: String?

    public init(entity: String, id: String, property: String? = nil) {
      self.entity = entity
      self.id = id
      self.property = property
    }
  }

  public struct Reply: Codable, Sendable, Hashable {
    public var record: String
    /// The record that stands for it after uniqueness collisions.
    public var survivor: String
    public var entity: String
    public var isDeleted: Bool
    /// The last delete; the record may have come back since.
    public var deletion: WriteExplained?
    /// How the stores have the record as a whole.
    public var standings: [StoreStands]
    public var values: [ValueExplained]
    public var hasMore: Bool
    public var away: [AwayReplica]

    public init(
      record: String, survivor: String, entity: String, isDeleted: Bool,
      deletion: WriteExplained? = nil, standings: [StoreStands], values: [ValueExplained],
      hasMore: Bool = false, away: [AwayReplica] = []
    ) {
      self.record = record
      self.survivor = survivor
      self.entity = entity
      self.isDeleted = isDeleted
      self.deletion = deletion
      self.standings = standings
      self.values = values
      self.hasMore = hasMore
      self.away = away
    }
  }

  /// One write: when, where, and by whom.
  public struct WriteExplained: Codable, Sendable, Hashable {
    /// How much is known of the writer.
    public enum Known: String, Codable, Sendable, CaseIterable {
      case transaction
      /// The store that made it is not open in this group.
      case elsewhere
      /// History does not tell any more: that of the time is purged, or the row is deleted.
      case gone
      /// It was there before sync, or a migration or a repair made it.
      case nobody
    }

    /// By the clock of the store that wrote; nil for what was there before sync.
    public var at: WireDate?
    public var store: String
    public var known: Known
    public var transaction: Int?
    public var author: String?
    public var context: String?
    public var process: String?
    /// What the transaction says of its time where that is not ``at``: the clock was wrong then.
    public var dated: WireDate?
    /// A delete rule made it, because what the reference led to was deleted.
    public var isByDeleteRule: Bool

    public init(
      at: WireDate?, store: String, known: Known, transaction: Int? = nil, author: String? = nil,
      context: String? = nil, process: String? = nil, dated: WireDate? = nil,
      isByDeleteRule: Bool = false
    ) {
      self.dated = dated
      self.at = at
      self.store = store
      self.known = known
      self.transaction = transaction
      self.author = author
      self.context = context
      self.process = process
      self.isByDeleteRule = isByDeleteRule
    }
  }

  /// How a store has a value or a record.
  public struct StoreStands: Codable, Sendable, Hashable {
    public enum Standing: String, Codable, Sendable, CaseIterable {
      case inStep
      /// It has an older write, or none; the next pass brings this one.
      case waiting
      /// It has a newer write, which the next pass brings.
      case newer
      case quarantined, held, parked, deleted
      /// The record has not arrived there.
      case unknown
      /// The store's model does not have the property; the value is kept beside the row.
      case keptBeside
    }

    public var store: String
    public var standing: Standing
    /// What it has instead, where it has another value.
    public var value: JSONValue?
    /// Why it waits there.
    public var reason: String?

    public init(
      store: String, standing: Standing, value: JSONValue? = nil, reason: String? = nil
    ) {
      self.store = store
      self.standing = standing
      self.value = value
      self.reason = reason
    }
  }

  /// Why one value, link or place is what it is.
  public struct ValueExplained: Codable, Sendable, Hashable {
    /// How the write came to be the one in force.
    public enum Rule: String, Codable, Sendable, CaseIterable {
      /// Its writer had seen everything that it replaced.
      case unopposed
      case lastWriter, deleteWon, writeWon, united, contradiction, discarded, reverted
    }

    /// The record that has it: the one that was asked for, or a member whose reference makes it so.
    public var record: String
    public var property: String
    /// The other record of a link.
    public var member: String?
    public var isPlace: Bool
    public var value: JSONValue?
    /// The bytes of a value that is left out because it is long.
    public var omitted: Int?
    public var write: WriteExplained
    public var rule: Rule
    public var superseded: [JournaledConflictEntry]
    public var standings: [StoreStands]

    public init(
      record: String, property: String, member: String? = nil, isPlace: Bool = false,
      value: JSONValue?, omitted: Int? = nil, write: WriteExplained, rule: Rule,
      superseded: [JournaledConflictEntry] = [], standings: [StoreStands]
    ) {
      self.record = record
      self.property = property
      self.member = member
      self.isPlace = isPlace
      self.value = value
      self.omitted = omitted
      self.write = write
      self.rule = rule
      self.superseded = superseded
      self.standings = standings
    }
  }
}
