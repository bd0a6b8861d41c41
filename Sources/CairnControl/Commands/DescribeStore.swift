// io.cairn.Store.Describe: everything about one store.

/// Tells how one store is set up, how it does, what its file is like, and what its link has done.
public enum DescribeStore: ControlMethod {
  public static let name = "io.cairn.Store.Describe"
  public static let role = ControlRole.status
  public static let declarations = [
    StatusProblem.declaration, StatusProgress.declaration, StoreDescription.declaration,
    StoreStatus.declaration, StatusWait.declaration, ReplicaStatus.declaration,
    """
    # The files of an open store: bytes of the store itself and of its write-ahead log, the newest
    # transaction in its history, and the checksum of the version of the model that it is of.
    type StoreFile (bytes: int, logBytes: int, lastTransaction: ?int, checksum: ?string)
    """,
    """
    # What a link has done since the daemon was started, or since the replica was added.
    type LinkCounters (
      passes: int,
      failedPasses: int,
      recordsPulled: int,
      recordsPushed: int,
      linksPulled: int,
      linksPushed: int,
      conflicts: int,
      quarantined: int,
      replans: int
    )
    """,
    """
    # Everything about one store; local is the local one. local is its state, or replica and counters
    # those of a replica. file is null while the store is not open, or does not answer. Role: status.
    method Describe(name: string) -> (
      store: Store,
      local: ?StoreStatus,
      replica: ?ReplicaStatus,
      file: ?StoreFile,
      counters: ?LinkCounters
    )
    """,
  ]

  public struct Parameters: Codable, Sendable, Hashable {
    /// `local`, or a replica.
    public var name: String
    public init(name: String) { self.name = name }
  }

  public struct Reply: Codable, Sendable, Hashable {
    public var store: StoreDescription
    /// Of the local store.
    public var local: StoreStatus?
    /// Of a replica.
    public var replica: ReplicaStatus?
    /// Nil while the store is not open, or does not answer.
    public var file: File?
    /// Of a replica.
    public var counters: Counters?

    public init(
      store: StoreDescription, local: StoreStatus? = nil, replica: ReplicaStatus? = nil,
      file: File? = nil, counters: Counters? = nil
    ) {
      self.store = store
      self.local = local
      self.replica = replica
      self.file = file
      self.counters = counters
    }
  }

  /// The files of an open store.
  public struct File: Codable, Sendable, Hashable {
    /// Bytes of the store's own file.
    public var bytes: Int
    /// Bytes of its write-ahead log.
    public var logBytes: Int
    /// The newest transaction in its history; nil where it keeps none.
    public var lastTransaction: Int?
    /// Of the version of the model that it is of, as `cairnctl model check` shows it.
    public var checksum: String?

    public init(bytes: Int, logBytes: Int, lastTransaction: Int? = nil, checksum: String? = nil) {
      self.bytes = bytes
      self.logBytes = logBytes
      self.lastTransaction = lastTransaction
      self.checksum = checksum
    }
  }

  /// What a link has done since it was made.
  public struct Counters: Codable, Sendable, Hashable {
    public var passes: Int
    public var failedPasses: Int
    public var recordsPulled: Int
    public var recordsPushed: Int
    /// Members of relationships.
    public var linksPulled: Int
    public var linksPushed: Int
    /// Conflicts that merging decided.
    public var conflicts: Int
    public var quarantined: Int
    /// How often a commit was planned again because of other writers.
    public var replans: Int

    public init(
      passes: Int, failedPasses: Int, recordsPulled: Int, recordsPushed: Int, linksPulled: Int,
      linksPushed: Int, conflicts: Int, quarantined: Int, replans: Int
    ) {
      self.passes = passes
      self.failedPasses = failedPasses
      self.recordsPulled = recordsPulled
      self.recordsPushed = recordsPushed
      self.linksPulled = linksPulled
      self.linksPushed = linksPushed
      self.conflicts = conflicts
      self.quarantined = quarantined
      self.replans = replans
    }
  }
}
