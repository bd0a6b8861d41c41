// io.cairn.Sync.GetQuarantined: one thing that waits.

/// Gives one entry of a quarantine.
public enum GetQuarantined: ControlMethod {
  public static let name = "io.cairn.Sync.GetQuarantined"
  public static let role = ControlRole.status
  public static let declarations = [
    QuarantinedEntry.declaration,
    """
    # One thing that waits, by the ID that the list gives. Role: status.
    method GetQuarantined(id: string) -> (entry: Quarantined)
    """,
  ]

  public struct Parameters: Codable, Sendable, Hashable {
    public var id: String
    public init(id: String) { self.id = id }
  }

  public struct Reply: Codable, Sendable, Hashable {
    public var entry: QuarantinedEntry
    public init(entry: QuarantinedEntry) { self.entry = entry }
  }
}
