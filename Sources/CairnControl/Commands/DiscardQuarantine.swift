// io.cairn.Sync.DiscardQuarantine: the store's own values stay.

/// Gives up what waits; the values of the store in which it waits replace it everywhere.
public enum DiscardQuarantine: ControlMethod {
  public static let name = "io.cairn.Sync.DiscardQuarantine"
  public static let role = ControlRole.control
  public static let declarations = [
    """
    # Give up what waits, as its discard tells. The revision is that of the entry as it was looked
    # at. What is lost is in the conflict journals, from where it can be restored. Role: control.
    method DiscardQuarantine(id: string, revision: string) -> (lost: int)
    """
  ]

  public struct Parameters: Codable, Sendable, Hashable {
    public var id: String
    /// The consent: it is refused when the entry has changed since.
    public var revision: String

    public init(id: String, revision: String) {
      self.id = id
      self.revision = revision
    }
  }

  public struct Reply: Codable, Sendable, Hashable {
    /// Values that are in the conflict journals now.
    public var lost: Int
    public init(lost: Int) { self.lost = lost }
  }
}
