// A reply as it travels from daemon to client.

/// One Varlink reply: parameters, or an error with its fields.
public struct ControlReply: Sendable, Hashable {
  /// The named results, or the fields of the error.
  public var parameters: [String: JSONValue]
  /// More replies to the same call follow.
  public var continues: Bool
  /// The full name of the error, if the call failed.
  public var error: String?

  /// Makes a reply.
  public init(parameters: [String: JSONValue], continues: Bool = false, error: String? = nil) {
    self.parameters = parameters
    self.continues = continues
    self.error = error
  }

  /// Makes the reply that reports `failure`.
  public init(failure: ControlError) {
    self.init(parameters: failure.fields, error: failure.name)
  }

  /// Reads a reply; nil when the message is none.
  public init?(message: JSONValue) {
    guard case .object(let members) = message else { return nil }
    switch members["parameters"] {
    case .none, .some(.null): parameters = [:]
    case .some(.object(let given)): parameters = given
    case .some: return nil
    }
    continues = members["continues"]?.boolValue ?? false
    error = members["error"]?.stringValue
  }

  /// The message to send.
  public var message: JSONValue {
    var members: [String: JSONValue] = ["parameters": .object(parameters)]
    if continues { members["continues"] = true }
    if let error { members["error"] = .string(error) }
    return .object(members)
  }
}
