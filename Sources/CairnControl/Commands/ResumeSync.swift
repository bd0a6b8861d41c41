// io.cairn.Sync.Resume: a paused link goes on.

/// Lets paused links run again and starts a pass at once.
public enum ResumeSync: ControlMethod {
  public static let name = "io.cairn.Sync.Resume"
  public static let role = ControlRole.control
  public static let declarations = [
    """
    # Let paused links run again and start a pass. Role: control.
    method Resume(name: ?string) -> (resumed: []string)
    """
  ]

  public struct Parameters: Codable, Sendable, Hashable {
    /// One replica; all of them when nil.
    public var name: String?
    public init(name: String? = nil) { self.name = name }
  }

  public struct Reply: Codable, Sendable, Hashable {
    /// The replicas that were paused before.
    public var resumed: [String]
    public init(resumed: [String]) { self.resumed = resumed }
  }
}
