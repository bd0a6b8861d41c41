// io.cairn.Store.Remove: the end of a link.

/// Ends the link to a replica and forgets its settings.
///
/// The replica's file stays as it is.
public enum RemoveStore: ControlMethod {
  public static let name = "io.cairn.Store.Remove"
  public static let role = ControlRole.control
  public static let declarations = [
    """
    # End the link to a replica. Its file stays. Role: control.
    method Remove(name: string) -> ()
    """
  ]

  public struct Parameters: Codable, Sendable, Hashable {
    public var name: String
    public init(name: String) { self.name = name }
  }

  public typealias Reply = NoValues
}
