// io.cairn.Store.PurgeHistory: what no replica needs any more goes.

/// Removes history, deleted records and the conflict journal as far as the retention and every live
/// replica allow.
public enum PurgeHistory: ControlMethod {
  public static let name = "io.cairn.Store.PurgeHistory"
  public static let role = ControlRole.control
  public static let declarations = [
    StatusProblem.declaration,
    """
    # A store that is served from another: when it was there last (null when nobody knows), how
    # many changes it has not acknowledged, whether it is expired, and whether something is kept
    # for it that would go otherwise.
    type Reader (
      name: string,
      lastSeen: ?string,
      behind: int,
      isExpired: bool,
      holdsBack: bool
    )
    """,
    """
    # What went, or would go. A problem ended the purge before it was complete; what was removed by
    # then stays removed. With waitsForReaders, the file is cut by freedBytes only once those have
    # ended who read in it; the next purge does that.
    type PurgeReport (
      store: string,
      transactions: int,
      records: int,
      links: int,
      marks: int,
      conflicts: int,
      leftovers: int,
      postponed: int,
      freedBytes: int,
      waitsForReaders: ?bool,
      readers: []Reader,
      problem: ?Problem
    )
    """,
    """
    # Remove what is older than the retention and every live replica has acknowledged: history,
    # deleted records, the conflict journal. olderThan is in seconds and replaces the retention;
    # with dryRun nothing is removed, only counted. Role: control.
    method PurgeHistory(name: ?string, olderThan: ?float, dryRun: ?bool) -> (
      stores: []PurgeReport
    )
    """,
  ]

  public struct Parameters: Codable, Sendable, Hashable {
    /// `local` or a replica; all that are open when nil.
    public var name: String?
    /// Seconds.
    public var olderThan: Double?
    /// False when nil.
    public var dryRun: Bool?

    public init(name: String? = nil, olderThan: Double? = nil, dryRun: Bool? = nil) {
      self.name = name
      self.olderThan = olderThan
      self.dryRun = dryRun
    }
  }

  public struct Reply: Codable, Sendable, Hashable {
    public var stores: [StoreReport]
    public init(stores: [StoreReport]) { self.stores = stores }
  }

  /// A store that is served from the one that is purged.
  public struct Reader: Codable, Sendable, Hashable {
    public var name: String
    public var lastSeen: WireDate?
    /// Changes that it has not acknowledged.
    public var behind: Int
    /// Silent for longer than the retention: nothing is kept for it.
    public var isExpired: Bool
    /// Something is kept for it that would go otherwise.
    public var holdsBack: Bool

    public init(
      name: String, lastSeen: WireDate? = nil, behind: Int, isExpired: Bool, holdsBack: Bool
    ) {
      self.name = name
      self.lastSeen = lastSeen
      self.behind = behind
      self.isExpired = isExpired
      self.holdsBack = holdsBack
    }
  }

  /// What went, or would go, from one store.
  public struct StoreReport: Codable, Sendable, Hashable {
    public var store: String
    public var transactions: Int
    /// Deleted records.
    public var records: Int
    public var links: Int
    public var marks: Int
    public var conflicts: Int
    public var leftovers: Int
    /// Deleted records that stay because something refers to them.
    public var postponed: Int
    public var freedBytes: Int
    /// Readers kept the file from being cut to its size; nil when none did.
    public var waitsForReaders: Bool?
    public var readers: [Reader]
    /// What ended the purge before it was complete.
    public var problem: StatusProblem?

    public init(
      store: String, transactions: Int = 0, records: Int = 0, links: Int = 0, marks: Int = 0,
      conflicts: Int = 0, leftovers: Int = 0, postponed: Int = 0, freedBytes: Int = 0,
      waitsForReaders: Bool? = nil, readers: [Reader] = [], problem: StatusProblem? = nil
    ) {
      self.store = store
      self.transactions = transactions
      self.records = records
      self.links = links
      self.marks = marks
      self.conflicts = conflicts
      self.leftovers = leftovers
      self.postponed = postponed
      self.freedBytes = freedBytes
      self.waitsForReaders = waitsForReaders
      self.readers = readers
      self.problem = problem
    }

    /// All that goes.
    public var count: Int { transactions + records + links + marks + conflicts + leftovers }
  }
}
