// What serves one method.
import CairnControl

/// Who calls, by the kernel's word at the time of connecting.
struct ControlCaller: Sendable, Hashable {
  let user: UInt32
  let process: Int32
  let role: ControlRole
  /// Numbers connections since the start, for the log.
  let connection: Int
}

/// Serves one method of the protocol.
///
/// One type a method, in a file of its own.
protocol ControlHandler: Sendable {
  associatedtype Method: ControlMethod

  /// Carries out the call. Interim answers of a streaming method go to `send`; the last one is
  /// returned.
  func handle(
    _ parameters: Method.Parameters, caller: ControlCaller,
    send: @escaping @Sendable (Method.Reply) async throws -> Void
  ) async throws -> Method.Reply
}

/// A handler without its type, as the dispatcher holds it.
struct AnyControlHandler: Sendable {
  let name: String
  let role: ControlRole
  let isStreaming: Bool
  let handle:
    @Sendable (
      _ parameters: [String: JSONValue], _ caller: ControlCaller,
      _ send: @escaping @Sendable ([String: JSONValue]) async throws -> Void
    ) async throws -> [String: JSONValue]

  init<Handler: ControlHandler>(_ handler: Handler) {
    typealias Method = Handler.Method
    name = Method.name
    role = Method.role
    isStreaming = Method.isStreaming
    handle = { parameters, caller, send in
      let typed: Method.Parameters
      do {
        typed = try JSONValueDecoder.decode(Method.Parameters.self, from: .object(parameters))
      } catch let error as DecodingError {
        throw ControlError.invalidParameter(JSONValueDecoder.memberName(of: error))
      }
      let reply = try await handler.handle(typed, caller: caller) { interim in
        try await send(Self.members(of: interim))
      }
      return try Self.members(of: reply)
    }
  }

  private static func members(of reply: some Encodable) throws -> [String: JSONValue] {
    try JSONValueEncoder.encode(reply).objectValue ?? [:]
  }
}
