// io.cairn.Sync.Pause: let a link rest.

/// Stops passes on one link or on all after the one that runs.
///
/// Remembered across restarts.
public enum PauseSync: ControlMethod {
  public static let name = "io.cairn.Sync.Pause"
  public static let role = ControlRole.control
  public static let declarations = [
    """
    # Let links rest after the pass that runs; remembered across restarts. Role: control.
    method Pause(name: ?string) -> (paused: []string)
    """
  ]

  public struct Parameters: Codable, Sendable, Hashable {
    /// One replica; all of them when nil.
    public var name: String?
    public init(name: String? = nil) { self.name = name }
  }

  public struct Reply: Codable, Sendable, Hashable {
    /// The replicas that are paused now.
    public var paused: [String]
    public init(paused: [String]) { self.paused = paused }
  }
}
