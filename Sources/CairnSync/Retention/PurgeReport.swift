/// What a purge of one store removed, or would remove, and what it kept for others.
public struct PurgeReport: Sendable, Hashable {
  /// A store that is served from the one that is purged.
  public struct Reader: Sendable, Hashable {
    /// Its UUID, or that of its present incarnation.
    public let id: StoreID
    /// Its name, for people; empty when it has none.
    public let name: String
    /// When it was there last, in milliseconds since 1970; 0 when it is not known.
    public let heard: UInt64
    /// How many numbers of the change order it has not acknowledged.
    public let behind: UInt64
    /// Whether it has been silent for longer than the retention: nothing is kept for it, and it comes
    /// back by comparison.
    public let isExpired: Bool
    /// Whether something is kept for it that would go otherwise.
    public let holdsBack: Bool
  }

  /// `local`, or the replica's name.
  public let store: String
  /// Whether nothing was removed, only counted.
  public let isPlan: Bool
  /// History transactions.
  public internal(set) var transactions = 0
  /// Deleted records with the values that were kept of them.
  public internal(set) var records = 0
  /// Removed members of relationships, and members of deleted records.
  public internal(set) var links = 0
  /// Markers of where changes moved on to, and marks of commits.
  public internal(set) var marks = 0
  /// Entries of the conflict journal.
  public internal(set) var conflicts = 0
  /// Notes that a reference waits, which it does not, and notes that have served.
  public internal(set) var leftovers = 0
  /// Deleted records that stay because something refers to them or waits with them.
  public internal(set) var postponed = 0
  /// The bytes that the file gave back, or will once its readers have ended.
  public internal(set) var freedBytes: Int64 = 0
  /// Whether readers kept the file from being cut to its size; the next purge tries again.
  public internal(set) var waitsForReaders = false
  /// What ended the purge before it was complete; what was removed by then stays removed.
  public internal(set) var problem: SyncError?
  /// By UUID.
  public internal(set) var readers: [Reader] = []
  /// The readers that expired since the last purge.
  public internal(set) var newlyExpired: [Reader] = []

  init(store: String, isPlan: Bool) {
    self.store = store
    self.isPlan = isPlan
  }

  /// All that goes.
  public var count: Int { transactions + records + links + marks + conflicts + leftovers }
}
