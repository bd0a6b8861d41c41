// io.cairn.Sync.Plan: what the next pass would do.

/// Tells what the next pass of a link would do in each of its directions, without doing it.
public enum PlanPass: ControlMethod {
  public static let name = "io.cairn.Sync.Plan"
  public static let role = ControlRole.control
  public static let declarations = [
    """
    # How many records of an entity would change; cascaded are deleted along with others.
    type PlannedCounts (
      entity: string,
      inserted: int,
      updated: int,
      deleted: int,
      cascaded: int
    )
    """,
    """
    # A property that would get another value. A long value is left out, as is none.
    type PlannedValue (name: string, before: ?object, after: ?object)
    """,
    """
    # A record that would change; into is the one that it would be united with.
    type PlannedChange (
      kind: (insert, update, delete, unite, cascade),
      entity: string,
      record: string,
      into: ?string,
      values: []PlannedValue
    )
    """,
    """
    # A concurrent value that would lose; property is null for a whole record.
    type PlannedLoss (entity: string, record: string, property: ?string, lost: ?object, won: ?object)
    """,
    """
    # What would wait in the destination instead of becoming visible, and why.
    type PlannedWait (entity: string, record: string, reason: string)
    """,
    """
    # What one store would get from another. changes, conflicts and waits are the first of as many as
    # the counts say; approval is what would stop the pass until it is approved; rows that sync has
    # not taken up yet would travel, too. Unless isComplete, only the first part was looked at.
    type PlanDirection (
      source: string,
      destination: string,
      entities: []PlannedCounts,
      changes: []PlannedChange,
      links: int,
      conflictCount: int,
      conflicts: []PlannedLoss,
      waitCount: int,
      waits: []PlannedWait,
      approval: ?string,
      rowsNotTakenUp: int,
      isComplete: bool
    )
    """,
    """
    # What the next pass of a link would do in each of its directions if nobody wrote meanwhile;
    # nothing is written. limit is how many changes, conflicts and waits to name, 20 when left out
    # and 1000 at most. Role: control.
    method Plan(name: string, limit: ?int) -> (pull: ?PlanDirection, push: ?PlanDirection)
    """,
  ]

  public struct Parameters: Codable, Sendable, Hashable {
    public var name: String
    /// 20 when nil; at most 1000.
    public var limit: Int?

    public init(name: String, limit: Int? = nil) {
      self.name = name
      self.limit = limit
    }
  }

  public struct Reply: Codable, Sendable, Hashable {
    /// What the local store would get; nil for a link that only pushes.
    public var pull: Direction?
    /// What the replica would get; nil for a link that only pulls.
    public var push: Direction?

    public init(pull: Direction? = nil, push: Direction? = nil) {
      self.pull = pull
      self.push = push
    }
  }

  /// What one store would get from another.
  public struct Direction: Codable, Sendable, Hashable {
    public var source: String
    public var destination: String
    public var entities: [Counts]
    public var changes: [Change]
    /// Members of relationships that would be added or removed.
    public var links: Int
    public var conflictCount: Int
    public var conflicts: [Loss]
    public var waitCount: Int
    public var waits: [Wait]
    /// What would stop the pass until it is approved.
    public var approval: String?
    /// Rows of the source that sync has not taken up yet.
    public var rowsNotTakenUp: Int
    public var isComplete: Bool

    public init(
      source: String, destination: String, entities: [Counts] = [], changes: [Change] = [],
      links: Int = 0, conflictCount: Int = 0, conflicts: [Loss] = [], waitCount: Int = 0,
      waits: [Wait] = [], approval: String? = nil, rowsNotTakenUp: Int = 0, isComplete: Bool = true
    ) {
      self.source = source
      self.destination = destination
      self.entities = entities
      self.changes = changes
      self.links = links
      self.conflictCount = conflictCount
      self.conflicts = conflicts
      self.waitCount = waitCount
      self.waits = waits
      self.approval = approval
      self.rowsNotTakenUp = rowsNotTakenUp
      self.isComplete = isComplete
    }
  }

  /// How many records of an entity would change.
  public struct Counts: Codable, Sendable, Hashable {
    public var entity: String
    public var inserted: Int
    public var updated: Int
    public var deleted: Int
    /// Along with others, by the destination's delete rules.
    public var cascaded: Int

    public init(entity: String, inserted: Int, updated: Int, deleted: Int, cascaded: Int) {
      self.entity = entity
      self.inserted = inserted
      self.updated = updated
      self.deleted = deleted
      self.cascaded = cascaded
    }
  }

  /// A record that would change.
  public struct Change: Codable, Sendable, Hashable {
    public enum Kind: String, Codable, Sendable, CaseIterable {
      case insert, update, delete, unite, cascade
    }

    public var kind: Kind
    public var entity: String
    public var record: String
    /// The record that it would be united with.
    public var into: String?
    public var values: [Value]

    public init(
      kind: Kind, entity: String, record: String, into: String? = nil, values: [Value] = []
    ) {
      self.kind = kind
      self.entity = entity
      self.record = record
      self.into = into
      self.values = values
    }
  }

  /// A property that would get another value.
  public struct Value: Codable, Sendable, Hashable {
    public var name: String
    public var before: JSONValue?
    public var after: JSONValue?

    public init(name: String, before: JSONValue? = nil, after: JSONValue? = nil) {
      self.name = name
      self.before = before
      self.after = after
    }
  }

  /// A concurrent value that would lose.
  public struct Loss: Codable, Sendable, Hashable {
    public var entity: String
    public var record: String
    /// Nil for a record as a whole.
    public var property: String?
    public var lost: JSONValue?
    public var won: JSONValue?

    public init(
      entity: String, record: String, property: String? = nil, lost: JSONValue? = nil,
      won: JSONValue? = nil
    ) {
      self.entity = entity
      self.record = record
      self.property = property
      self.lost = lost
      self.won = won
    }
  }

  /// What would wait instead of becoming visible.
  public struct Wait: Codable, Sendable, Hashable {
    public var entity: String
    /// The record, or the relationship and the two records of a link.
    public var record: String
    public var reason: String

    public init(entity: String, record: String, reason: String) {
      self.entity = entity
      self.record = record
      self.reason = reason
    }
  }
}
