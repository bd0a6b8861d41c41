// io.cairn.Sync.GetConflict: one conflict, with its values in full.

/// Gives one entry of the conflict journals.
public enum GetConflict: ControlMethod {
  public static let name = "io.cairn.Sync.GetConflict"
  public static let role = ControlRole.status
  public static let declarations = [
    WrittenValue.declaration, JournaledConflictEntry.declaration,
    """
    # One conflict, with longer values than in the list. Role: status.
    method GetConflict(id: string) -> (conflict: Conflict)
    """,
  ]

  public struct Parameters: Codable, Sendable, Hashable {
    public var id: String
    public init(id: String) { self.id = id }
  }

  public struct Reply: Codable, Sendable, Hashable {
    public var conflict: JournaledConflictEntry
    public init(conflict: JournaledConflictEntry) { self.conflict = conflict }
  }
}
