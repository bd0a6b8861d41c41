// io.cairn.Sync.AbandonParked: wait no longer for records that are not going to come.

/// Has references wait no longer for records that are not going to come.
///
/// Nothing is written to a record; one that comes after all is referred to at once.
public enum AbandonParked: ControlMethod {
  public static let name = "io.cairn.Sync.AbandonParked"
  public static let role = ControlRole.control
  public static let declarations = [
    """
    # Wait no longer for these records, or for all that references wait for: the store that had them
    # is lost. A record that comes after all is referred to as it was written. Answers how many
    # references waited. Role: control.
    method AbandonParked(records: ?[]string) -> (abandoned: int)
    """
  ]

  public struct Parameters: Codable, Sendable, Hashable {
    /// The records that are waited for; all when nil.
    public var records: [String]?

    public init(records: [String]? = nil) { self.records = records }
  }

  public struct Reply: Codable, Sendable, Hashable {
    /// How many references waited, each counted in every store in which it did.
    public var abandoned: Int

    public init(abandoned: Int) { self.abandoned = abandoned }
  }
}
