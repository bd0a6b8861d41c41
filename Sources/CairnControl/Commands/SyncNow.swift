// io.cairn.Sync.SyncNow: do not wait for the next trigger.

/// Starts a pass on one link or on all, at once, backoff or not.
///
/// Does not wait for it.
public enum SyncNow: ControlMethod {
  public static let name = "io.cairn.Sync.SyncNow"
  public static let role = ControlRole.control
  public static let declarations = [
    """
    # Start a pass now, without waiting for it. Role: control.
    method SyncNow(name: ?string) -> (started: []string)
    """
  ]

  public struct Parameters: Codable, Sendable, Hashable {
    /// One replica; all of them when nil.
    public var name: String?
    public init(name: String? = nil) { self.name = name }
  }

  public struct Reply: Codable, Sendable, Hashable {
    /// The replicas whose links were started; paused ones are not.
    public var started: [String]
    public init(started: [String]) { self.started = started }
  }
}
