// io.cairn.Sync.AcceptHeld: believe what was written in the future.

/// Believes what waits because it was written in the future by this machine's clock.
///
/// Later writes of the same stores wait again if they are as far ahead, unless they replace what was accepted.
public enum AcceptHeld: ControlMethod {
  public static let name = "io.cairn.Sync.AcceptHeld"
  public static let role = ControlRole.control
  public static let declarations = [
    """
    # Believe what waits because it was written in the future: all of it, what one store wrote
    # (writer, a name or UUID as the list gives it), or one record. name is the store in which it
    # waits, all of them when left out. Role: control.
    method AcceptHeld(name: ?string, writer: ?string, record: ?string) -> (accepted: int)
    """
  ]

  public struct Parameters: Codable, Sendable, Hashable {
    /// The store in which it waits; all of them when nil.
    public var name: String?
    /// Only what this store wrote.
    public var writer: String?
    /// Only this record; goes without `writer`.
    public var record: String?

    public init(name: String? = nil, writer: String? = nil, record: String? = nil) {
      self.name = name
      self.writer = writer
      self.record = record
    }
  }

  public struct Reply: Codable, Sendable, Hashable {
    /// How many records and links waited.
    public var accepted: Int
    public init(accepted: Int) { self.accepted = accepted }
  }
}
