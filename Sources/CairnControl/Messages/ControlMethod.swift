// What client and daemon agree on for each method.

/// A method of the control protocol: its name, role and the types that travel.
public protocol ControlMethod: Sendable {
  /// What the caller sends, an object on the wire.
  associatedtype Parameters: Codable & Sendable
  /// What each reply holds, an object on the wire.
  associatedtype Reply: Codable & Sendable

  /// The full name, `io.cairn.Daemon.GetStatus`.
  static var name: String { get }
  /// The least role that may call it.
  static var role: ControlRole { get }
  /// Whether it answers with a stream; then it must be called with `more`.
  static var isStreaming: Bool { get }
  /// The method in Varlink's language, after the types that it uses, each with its comment.
  ///
  /// The description of the interface is put together from these. Types that several methods use
  /// stand in each of their lists, in the same words.
  static var declarations: [String] { get }
}

extension ControlMethod {
  public static var isStreaming: Bool { false }

  /// The name of the interface, `io.cairn.Daemon`.
  public static var interface: String {
    String(name[..<(name.lastIndex(of: ".") ?? name.startIndex)])
  }
}

/// Parameters or replies without content.
public struct NoValues: Codable, Sendable, Hashable {
  public init() {}
}
