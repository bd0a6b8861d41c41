// A call as it travels from client to daemon.

/// One Varlink call.
public struct ControlCall: Sendable, Hashable {
  /// The full name, `io.cairn.Daemon.GetStatus`.
  public var method: String
  /// The named parameters, an object.
  public var parameters: [String: JSONValue]
  /// The client accepts several replies.
  public var more: Bool
  /// The client wants no reply.
  public var oneway: Bool

  /// Makes a call.
  public init(
    method: String, parameters: [String: JSONValue] = [:], more: Bool = false, oneway: Bool = false
  ) {
    self.method = method
    self.parameters = parameters
    self.more = more
    self.oneway = oneway
  }

  /// Reads a call from a parsed message.
  ///
  /// - Throws: ``ControlError/invalidParameter(_:)`` with the member that is wrong.
  public init(message: JSONValue) throws(ControlError) {
    guard case .object(let members) = message else { throw .invalidParameter("message") }
    guard let method = members["method"]?.stringValue else { throw .invalidParameter("method") }
    self.method = method
    switch members["parameters"] {
    case .none, .some(.null): parameters = [:]
    case .some(.object(let given)): parameters = given
    case .some: throw .invalidParameter("parameters")
    }
    more = try Self.flag("more", members)
    oneway = try Self.flag("oneway", members)
    if try Self.flag("upgrade", members) { throw .invalidParameter("upgrade") }
  }

  /// The message to send.
  public var message: JSONValue {
    var members: [String: JSONValue] = ["method": .string(method)]
    members["parameters"] = .object(parameters)
    if more { members["more"] = true }
    if oneway { members["oneway"] = true }
    return .object(members)
  }

  private static func flag(_ name: String, _ members: [String: JSONValue]) throws(ControlError)
    -> Bool
  {
    switch members[name] {
    case .none, .some(.null): return false
    case .some(.bool(let value)): return value
    case .some: throw .invalidParameter(name)
    }
  }
}
