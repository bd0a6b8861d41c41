// io.cairn.Sync.Wait: everything committed before now has arrived.

/// Answers when the named replicas have all that was committed locally before the call, or what a token stands for.
///
/// Fails with `WaitTimedOut`, which names the replicas that are behind, and with `HistoryNotThere` for a token that no
/// store of the daemon has come to.
public enum WaitForSync: ControlMethod {
  public static let name = "io.cairn.Sync.Wait"
  public static let role = ControlRole.status
  public static let declarations = [
    """
    # Answer when the replicas have everything that was committed locally before the call.
    # Of one by its name, of several by their names, of all when both are left out. With a token, which Save and
    # GetHistory answer, they have what its store held by then; with that of a replica the local store has it
    # first. The timeout is in seconds, 60 when left out, at most a day. Role: status.
    method Wait(name: ?string, names: ?[]string, timeout: ?float, token: ?string) -> (
      reached: []string,
      waited: float
    )
    """
  ]

  public struct Parameters: Codable, Sendable, Hashable {
    /// One replica; all of them when nil.
    public var name: String?
    /// Several instead of ``name``; one that is named twice counts once.
    public var names: [String]?
    /// Seconds, at most a day; 60 when nil.
    public var timeout: Double?
    /// A place in the history of the local store or of a replica, as ``SaveRecords`` and ``GetHistory`` answer it.
    public var token: String?

    public init(
      name: String? = nil, names: [String]? = nil, timeout: Double? = nil, token: String? = nil
    ) {
      self.name = name
      self.names = names
      self.timeout = timeout
      self.token = token
    }
  }

  public struct Reply: Codable, Sendable, Hashable {
    /// The replicas that are in step.
    public var reached: [String]
    /// Seconds it took.
    public var waited: Double

    public init(reached: [String], waited: Double) {
      self.reached = reached
      self.waited = waited
    }
  }
}
