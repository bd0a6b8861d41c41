// io.cairn.Sync.RetryQuarantine: try now what waits.

/// Tries now what waits, instead of with the next pass.
public enum RetryQuarantine: ControlMethod {
  public static let name = "io.cairn.Sync.RetryQuarantine"
  public static let role = ControlRole.control
  public static let declarations = [
    QuarantinedEntry.declaration,
    """
    # Try now what waits: these, or all that waits in one store or in any. Answers how many are
    # visible now, and what waits still, with the reason. Role: control.
    method RetryQuarantine(ids: ?[]string, name: ?string) -> (
      released: int,
      waiting: []Quarantined
    )
    """,
  ]

  public struct Parameters: Codable, Sendable, Hashable {
    /// All when nil.
    public var ids: [String]?
    /// The store in which to try all, instead of `ids`; every open one when nil.
    public var name: String?

    public init(ids: [String]? = nil, name: String? = nil) {
      self.ids = ids
      self.name = name
    }
  }

  public struct Reply: Codable, Sendable, Hashable {
    /// How many are visible now.
    public var released: Int
    public var waiting: [QuarantinedEntry]

    public init(released: Int, waiting: [QuarantinedEntry]) {
      self.released = released
      self.waiting = waiting
    }
  }
}
