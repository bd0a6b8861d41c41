/// What a replica is doing.
public enum ReplicaPhase: Sendable, Hashable {
  case opening
  /// The store is being brought to the model; 0…1.
  case migrating(progress: Double)
  /// Waiting for the next change; in step unless ``LinkStatus/held`` has something.
  case ready
  case syncing
  /// In trouble that mends itself; tried again at the given time (milliseconds since 1970).
  case waiting(until: UInt64, reason: SyncError)
  case paused
  /// A pass would delete more than is configured; nothing is tried until that is approved, or is not so
  /// any more.
  case awaitingApproval(DeletionPlan)
  /// A person has to do something; nothing is tried until told to.
  case failed(SyncError)
  case removed

  /// One word for status and logs.
  public var word: String {
    switch self {
    case .opening: return "opening"
    case .migrating: return "migrating"
    case .ready: return "ready"
    case .syncing: return "syncing"
    case .waiting: return "waiting"
    case .paused: return "paused"
    case .awaitingApproval: return "awaiting-approval"
    case .failed: return "failed"
    case .removed: return "removed"
    }
  }
}

/// What a link has done since it was made.
public struct SyncCounters: Sendable, Hashable {
  public var passes = 0
  public var failedPasses = 0
  public var recordsPulled = 0
  public var recordsPushed = 0
  public var linksPulled = 0
  public var linksPushed = 0
  public var conflicts = 0
  public var quarantined = 0
  /// How often a commit was planned again because of other writers.
  public var replans = 0
  public init() {}
}

/// A replica at one moment.
public struct LinkStatus: Sendable, Hashable {
  public let configuration: ReplicaConfiguration
  public let phase: ReplicaPhase
  /// When it entered the phase, in milliseconds since 1970.
  public let phaseSince: UInt64
  /// Changes of the local store that the replica does not have, in transactions; nil until the
  /// first pass, and for a replica that is only read.
  public let lagTransactions: Int?
  /// How long the oldest of them may have been waiting, in seconds; 0 when there is none, nil where nothing tells, as for
  /// a replica that is only read.
  public let lagSeconds: Double?
  /// The first copy to the replica, while it runs: 0…1.
  public let firstSyncProgress: Double?
  /// When the last complete pass ended, in milliseconds since 1970.
  public let lastPass: UInt64?
  /// What went wrong last; nil once a pass was completed.
  public let lastError: SyncError?
  public let counters: SyncCounters
  /// What arrived in either store and is not visible there, as of the last complete pass.
  public let held: HeldRecords
  /// What the last comparison found, until one finds nothing: rows that programs wrote past history, for
  /// instance, of which no pass knows.
  public let differences: KnownDifferences?
  /// The store's UUID, once it is open.
  public let storeID: String?
  /// When the replica was there last, in milliseconds since 1970, if it has been silent for longer than
  /// the retention: nothing is kept for it, and it comes back by comparison.
  public let expiredSince: UInt64?
  public var name: String { configuration.name }
}

/// All of a group at one moment.
public struct SyncStatus: Sendable, Hashable {
  public let localStoreID: String
  /// The newest transaction of the local store.
  public let localTransaction: Int64
  /// By name.
  public let replicas: [LinkStatus]
}

/// Something worth a line in a log.
public enum SyncEvent: Sendable, Hashable {
  case phaseChanged(replica: String, ReplicaPhase)
  case passCompleted(
    replica: String, pulled: Int, pushed: Int, conflicts: Int, milliseconds: UInt64)
  case passFailed(replica: String, SyncError)
  case firstSync(replica: String, progress: Double)
  /// What waits in quarantine from now on, for people.
  case quarantined(replica: String, String)
  /// The stamps of one of the two stores, at the path, were that far in the future: the machine's clock
  /// had been wrong, or is now.
  case clockFellBack(replica: String, path: String, milliseconds: UInt64)
  /// The file of a replica that was there before was missing when the engine began, and was made anew.
  case madeAnew(replica: String, path: String)
  /// One of the two stores, at the path, had gone back in time: everything is compared once more.
  case restored(replica: String, path: String)
  /// One of the two stores, at the path, had lost history before it was read: both were compared.
  case historyLost(replica: String, path: String)
  /// A store that is served from one of the two stores, at the path, has been silent for longer than the
  /// retention: nothing is kept for it any more. Its name, or its UUID.
  case expired(replica: String, path: String, reader: String)
  /// One of the two stores, at the path, had been away for longer than the retention: both were compared,
  /// and so much was deleted in it that had been deleted meanwhile.
  case returned(replica: String, path: String, deleted: Int)
}
