// io.cairn.Daemon.Drain: finish what is under way before a planned shutdown.

/// Takes no more calls that need the stores, brings what is committed to the replicas that can be
/// reached, closes the stores, and says what could not be brought.
///
/// The process stays, and answers what it is; stopping it afterwards takes no time.
public enum DrainDaemon: ControlMethod {
  public static let name = "io.cairn.Daemon.Drain"
  public static let role = ControlRole.control
  public static let declarations = [
    """
    # A replica at the end; behind are transactions that it lacks, null when that is not known. They are
    # brought after the next start. leftOut says what it does not get, because of the link's direction or of
    # the entities that the replica has.
    type DrainedReplica (name: string, behind: ?int, reason: ?string, leftOut: ?string)
    """,
    """
    # Before a planned shutdown: take no more calls that need the stores, finish passes, close the stores,
    # then answer. timeout is in seconds for the passes, 30 when null; a replica whose next attempt comes
    # later is not waited for. Again, it answers the same. The way back is a restart. Role: control.
    method Drain(timeout: ?float) -> (lastTransaction: ?int, replicas: []DrainedReplica)
    """,
  ]

  public struct Parameters: Codable, Sendable, Hashable {
    /// Seconds.
    public var timeout: Double?
    public init(timeout: Double? = nil) { self.timeout = timeout }
  }

  public struct Reply: Codable, Sendable, Hashable {
    /// The local store's newest transaction; nil when it was not open.
    public var lastTransaction: Int?
    public var replicas: [Replica]

    public init(lastTransaction: Int? = nil, replicas: [Replica] = []) {
      self.lastTransaction = lastTransaction
      self.replicas = replicas
    }
  }

  /// A replica at the end.
  public struct Replica: Codable, Sendable, Hashable {
    public var name: String
    /// Transactions that it lacks; nil when that is not known.
    public var behind: Int?
    /// Why it was not brought into step; nil when it was.
    public var reason: String?
    /// What it does not get, because of the link's direction or of the entities that it has; nil for nothing.
    public var leftOut: String?

    public init(
      name: String, behind: Int? = nil, reason: String? = nil, leftOut: String? = nil
    ) {
      self.leftOut = leftOut
      self.name = name
      self.behind = behind
      self.reason = reason
    }
  }
}
