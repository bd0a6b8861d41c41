// io.cairn.Store.Verify: do the stores agree?

/// Checks stores and compares each replica with the local store, record by record where needed.
///
/// Streams progress, differences and each store when it is done; the last reply, and only it, holds a
/// summary.
public enum VerifyStores: ControlMethod {
  public static let name = "io.cairn.Store.Verify"
  public static let role = ControlRole.control
  public static let isStreaming = true
  public static let declarations = [
    StatusProblem.declaration,
    """
    type VerifyProgress (store: string, entity: string, done: int, total: ?int)
    """,
    Difference.declaration,
    """
    type StoreSummary (
      store: string,
      records: int,
      digest: ?string,
      differences: int,
      leftOut: ?int,
      held: ?int,
      level: ?(quick, full),
      problem: ?Problem
    )
    """,
    """
    type VerifySummary (stores: []StoreSummary, isEqual: bool)
    """,
    """
    # Check stores and compare replicas with the local store: every value of every row and every page
    # of the local file, or, quick, the digests of what was written and which rows there are. With the name
    # local, the local file alone. Needs more: progress and
    # differences come as they are found, each store when it is done, and a summary last. The level
    # of a store is what was read, full when left out. leftOut are records that stay in one of the two
    # stores because the link goes in one direction only: no difference, but with any the stores are not
    # equal. held are records that were written in the future by this machine's clock and wait: io.cairn.Sync
    # lists and accepts them. Role: control.
    method Verify(name: ?string, level: ?(quick, full)) -> (
      progress: ?VerifyProgress,
      difference: ?Difference,
      store: ?StoreSummary,
      summary: ?VerifySummary
    )
    """,
  ]

  public struct Parameters: Codable, Sendable, Hashable {
    /// One replica, or `local` for the local file alone; all of them when nil.
    public var name: String?
    /// `full` when nil.
    public var level: Level?

    public init(name: String? = nil, level: Level? = nil) {
      self.name = name
      self.level = level
    }
  }

  /// How much is read.
  public enum Level: String, Codable, Sendable, CaseIterable {
    /// The digests of what was written, and which rows there are; not the values in the rows.
    case quick
    case full
  }

  public struct Reply: Codable, Sendable, Hashable {
    public var progress: Progress?
    public var difference: Difference?
    /// A store that is done, after its differences.
    public var store: StoreSummary?
    public var summary: Summary?

    public init(
      progress: Progress? = nil, difference: Difference? = nil, store: StoreSummary? = nil,
      summary: Summary? = nil
    ) {
      self.progress = progress
      self.difference = difference
      self.store = store
      self.summary = summary
    }
  }

  public struct Progress: Codable, Sendable, Hashable {
    public var store: String
    public var entity: String
    public var done: Int
    public var total: Int?

    public init(store: String, entity: String, done: Int, total: Int? = nil) {
      self.store = store
      self.entity = entity
      self.done = done
      self.total = total
    }
  }

  /// Something that is not as in the local store, or not as it must be.
  public struct Difference: Codable, Sendable, Hashable {
    /// The type in Varlink's language.
    static let declaration = """
      # What is not as in the local store, or not as it must be. Never holds values of rows.
      type Difference (
        store: string,
        kind: (missing, extra, value, entity, damage),
        entity: ?string,
        record: ?string,
        property: ?string,
        detail: string
      )
      """

    public enum Kind: String, Codable, Sendable, CaseIterable {
      /// The replica lacks the record.
      case missing
      /// Only the replica has the record.
      case extra
      /// A property differs.
      case value
      /// The record is of another entity.
      case entity
      /// The local file itself is damaged, or what is in the tables of a hub is not as it must be.
      case damage
    }

    public var store: String
    public var kind: Kind
    public var entity: String?
    public var record: String?
    public var property: String?
    /// What was found, for people; never values of rows.
    public var detail: String

    public init(
      store: String, kind: Kind, entity: String? = nil, record: String? = nil,
      property: String? = nil, detail: String
    ) {
      self.store = store
      self.kind = kind
      self.entity = entity
      self.record = record
      self.property = property
      self.detail = detail
    }
  }

  public struct Summary: Codable, Sendable, Hashable {
    public var stores: [StoreSummary]
    public var isEqual: Bool

    public init(stores: [StoreSummary], isEqual: Bool) {
      self.stores = stores
      self.isEqual = isEqual
    }
  }

  public struct StoreSummary: Codable, Sendable, Hashable {
    public var store: String
    public var records: Int
    /// A digest over all records, equal in equal stores.
    public var digest: String?
    public var differences: Int
    /// How many records stay in one of the two stores because the link goes in one direction only; nil for
    /// none.
    public var leftOut: Int?
    /// How many records wait because they were written in the future; nil for none.
    public var held: Int?
    /// What was read; nil for the local store.
    public var level: Level?
    /// Why the store could not be checked.
    public var problem: StatusProblem?

    public init(
      store: String, records: Int, digest: String? = nil, differences: Int, leftOut: Int? = nil,
      held: Int? = nil, level: Level? = nil, problem: StatusProblem? = nil
    ) {
      self.leftOut = leftOut
      self.held = held
      self.store = store
      self.records = records
      self.digest = digest
      self.differences = differences
      self.level = level
      self.problem = problem
    }
  }
}
