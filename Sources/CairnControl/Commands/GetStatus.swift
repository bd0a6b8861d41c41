// io.cairn.Daemon.GetStatus: everything a person wants to see on one screen.

/// Tells how the daemon, the local store and every replica are doing.
public enum GetStatus: ControlMethod {
  public static let name = "io.cairn.Daemon.GetStatus"
  public static let role = ControlRole.status
  public static let declarations = [
    StatusProblem.declaration,
    StatusProgress.declaration,
    StoreStatus.declaration,
    StatusWait.declaration,
    ReplicaStatus.declaration,
    """
    type Status (
      version: string,
      pid: int,
      startedAt: string,
      state: (starting, serving, degraded, draining, stopped),
      problems: []Problem,
      model: ?string,
      local: ?StoreStatus,
      replicas: []ReplicaStatus
    )
    """,
    """
    # Everything on one screen. Role: status.
    method GetStatus() -> (status: Status)
    """,
  ]
  public typealias Parameters = NoValues

  public struct Reply: Codable, Sendable, Hashable {
    public var status: DaemonStatus
    public init(status: DaemonStatus) { self.status = status }
  }
}

/// The daemon as a whole.
public struct DaemonStatus: Codable, Sendable, Hashable {
  /// How far the process is.
  public enum State: String, Codable, Sendable, CaseIterable {
    case starting, serving, degraded, draining, stopped
  }

  /// The version of the program.
  public var version: String
  public var pid: Int
  public var startedAt: WireDate
  public var state: State
  /// Why it is degraded, or what else a person should know.
  public var problems: [StatusProblem]
  /// The path or name of the model; nil until it is read.
  public var model: String?
  /// The local store; nil until the configuration was read.
  public var local: StoreStatus?
  public var replicas: [ReplicaStatus]

  public init(
    version: String, pid: Int, startedAt: WireDate, state: State, problems: [StatusProblem] = [],
    model: String? = nil, local: StoreStatus? = nil, replicas: [ReplicaStatus] = []
  ) {
    self.version = version
    self.pid = pid
    self.startedAt = startedAt
    self.state = state
    self.problems = problems
    self.model = model
    self.local = local
    self.replicas = replicas
  }
}

/// Something that is wrong, with a code that stays the same across versions.
public struct StatusProblem: Codable, Sendable, Hashable {
  /// The type in Varlink's language.
  static let declaration = """
    # Something that is wrong. The code stays the same across versions.
    type Problem (code: string, message: string)
    """

  public var code: String
  public var message: String

  /// The code for a replica that is required and not open.
  public static let requiredReplicaMissing = "required-replica-missing"
  /// The code for a store that is closed for a moment, or not opened so far.
  public static let storeClosed = "store-closed"

  public init(code: String, message: String) {
    self.code = code
    self.message = message
  }
}

/// The local store.
public struct StoreStatus: Codable, Sendable, Hashable {
  /// The type in Varlink's language.
  static let declaration = """
    type StoreStatus (
      name: string,
      type: string,
      location: string,
      state: (opening, migrating, open, failing, unavailable),
      lastTransaction: ?int,
      records: ?int,
      bytes: ?int,
      problem: ?Problem,
      progress: ?Progress
    )
    """

  public enum State: String, Codable, Sendable, CaseIterable {
    case opening, migrating, open
    /// Open, and reading or writing has failed; the problem says what.
    case failing
    case unavailable
  }

  public var name: String
  public var type: String
  public var location: String
  public var state: State
  /// Transactions in its history, by their highest number.
  public var lastTransaction: Int?
  /// Records in all entities.
  public var records: Int?
  /// Bytes on disk, journals included.
  public var bytes: Int?
  public var problem: StatusProblem?
  /// Done and to do, while migrating.
  public var progress: StatusProgress?

  public init(
    name: String, type: String, location: String, state: State, lastTransaction: Int? = nil,
    records: Int? = nil, bytes: Int? = nil, problem: StatusProblem? = nil,
    progress: StatusProgress? = nil
  ) {
    self.progress = progress
    self.name = name
    self.type = type
    self.location = location
    self.state = state
    self.lastTransaction = lastTransaction
    self.records = records
    self.bytes = bytes
    self.problem = problem
  }
}

/// One replica and the link to it.
public struct ReplicaStatus: Codable, Sendable, Hashable {
  /// The type in Varlink's language.
  static let declaration = """
    # Dates are ISO 8601 in UTC with a fraction and a Z; lagSeconds is the age of the oldest
    # transaction that one side lacks; since is when the replica began to do what it does.
    type ReplicaStatus (
      name: string,
      type: string,
      location: string,
      direction: (both, push, pull),
      required: bool,
      state: (opening, migrating, unavailable, firstSync, behind, inSync, paused, stopped),
      lagTransactions: ?int,
      lagSeconds: ?float,
      lastPass: ?string,
      passes: int,
      progress: ?Progress,
      quarantined: int,
      nextAttempt: ?string,
      problem: ?Problem,
      since: ?string,
      waits: []Wait
    )
    """

  public enum State: String, Codable, Sendable, CaseIterable {
    /// Being opened for the first time since the start.
    case opening
    case migrating
    /// Cannot be reached or used; tried again at `nextAttempt`.
    case unavailable
    /// Getting its first full copy.
    case firstSync
    case behind
    case inSync
    case paused
    /// Needs a person: an incompatible model, damage.
    case stopped
  }

  /// Which way changes go.
  public enum Direction: String, Codable, Sendable, CaseIterable {
    case both, push, pull
  }

  public var name: String
  public var type: String
  public var location: String
  public var direction: Direction
  /// The daemon is not READY without it.
  public var required: Bool
  public var state: State
  /// Transactions of either side that the other has not got.
  public var lagTransactions: Int?
  /// Age of the oldest of them.
  public var lagSeconds: Double?
  public var lastPass: WireDate?
  /// Passes that completed since the start.
  public var passes: Int
  /// Done and to do, while migrating or in the first sync.
  public var progress: StatusProgress?
  /// Records that wait for a person or for a change.
  public var quarantined: Int
  public var nextAttempt: WireDate?
  public var problem: StatusProblem?
  /// When it began to do what it does.
  public var since: WireDate?
  /// What it, or some of its records, waits for.
  public var waits: [StatusWait]

  public init(
    name: String, type: String, location: String, direction: Direction, required: Bool = false,
    state: State, lagTransactions: Int? = nil, lagSeconds: Double? = nil, lastPass: WireDate? = nil,
    passes: Int = 0, progress: StatusProgress? = nil, quarantined: Int = 0,
    nextAttempt: WireDate? = nil, problem: StatusProblem? = nil, since: WireDate? = nil,
    waits: [StatusWait] = []
  ) {
    self.since = since
    self.waits = waits
    self.name = name
    self.type = type
    self.location = location
    self.direction = direction
    self.required = required
    self.state = state
    self.lagTransactions = lagTransactions
    self.lagSeconds = lagSeconds
    self.lastPass = lastPass
    self.passes = passes
    self.progress = progress
    self.quarantined = quarantined
    self.nextAttempt = nextAttempt
    self.problem = problem
  }
}

/// What a replica, or some of its records, waits for.
public struct StatusWait: Codable, Sendable, Hashable {
  /// The type in Varlink's language.
  static let declaration = """
    # What a replica or its records wait for, in words, with the command that helps.
    type Wait (
      kind: (opening, pass, quarantine, held, parked, approval, expired, differences, leftOut),
      count: ?int,
      reason: string,
      command: ?string
    )
    """

  public enum Kind: String, Codable, Sendable, CaseIterable {
    /// For its file to answer.
    case opening
    /// For a pass that takes long.
    case pass
    /// Records that validation refuses wait for a person.
    case quarantine
    /// Records that were written in the future wait for time.
    case held
    /// References wait for records that have not arrived.
    case parked
    /// A pass would delete more than is configured.
    case approval
    /// It was silent for longer than the retention, and comes back by comparison.
    case expired
    /// The last comparison found what no pass brings together.
    case differences
    /// Records stay where they are, because the link goes in one direction only; nothing waits for them.
    case leftOut
  }

  public var kind: Kind
  /// How many records or references.
  public var count: Int?
  /// For people.
  public var reason: String
  /// The command that shows more or helps.
  public var command: String?

  public init(kind: Kind, count: Int? = nil, reason: String, command: String? = nil) {
    self.kind = kind
    self.count = count
    self.reason = reason
    self.command = command
  }
}

/// How far a long piece of work is.
public struct StatusProgress: Codable, Sendable, Hashable {
  /// The type in Varlink's language.
  static let declaration = "type Progress (done: int, total: ?int)"

  public var done: Int
  /// Nil while the daemon does not know it yet.
  public var total: Int?

  public init(done: Int, total: Int? = nil) {
    self.done = done
    self.total = total
  }
}
