// io.cairn.Sync.RestoreConflict: the value that lost is written again.

/// Writes the losing value of a conflict back, as a new change of the local store.
///
/// Doing it twice changes nothing more.
public enum RestoreConflict: ControlMethod {
  public static let name = "io.cairn.Sync.RestoreConflict"
  public static let role = ControlRole.control
  public static let declarations = [
    WrittenValue.declaration, JournaledConflictEntry.declaration,
    """
    # Write the losing value of a conflict back, as a new change that travels to all replicas.
    # record has the value now; changed is false when it had it already; revived is true when the
    # record had been deleted and is back. Role: control.
    method RestoreConflict(id: string, author: ?string) -> (
      conflict: Conflict,
      record: string,
      changed: bool,
      revived: bool
    )
    """,
  ]

  public struct Parameters: Codable, Sendable, Hashable {
    public var id: String
    /// The author in the history; `cairn.restore` when nil.
    public var author: String?

    public init(id: String, author: String? = nil) {
      self.id = id
      self.author = author
    }
  }

  public struct Reply: Codable, Sendable, Hashable {
    public var conflict: JournaledConflictEntry
    /// The record that has the value now: that of the conflict, or the one that it was united with.
    public var record: String
    /// False when the record had the value already.
    public var changed: Bool
    /// Whether the record had been deleted and is back.
    public var revived: Bool

    public init(conflict: JournaledConflictEntry, record: String, changed: Bool, revived: Bool) {
      self.conflict = conflict
      self.record = record
      self.changed = changed
      self.revived = revived
    }
  }
}
