// What serves one method.
import CairnControl
import Synchronization

/// Who calls, by the kernel's word at the time of connecting.
struct ControlCaller: Sendable, Hashable {
  let user: UInt32
  let process: Int32
  let role: ControlRole
  /// Numbers connections since the start, for the log.
  let connection: Int
}

/// Serves one method of the protocol: the method, and what it does as a function from JSON to JSON.
struct ControlHandler: Sendable {
  let method: any ControlMethod.Type
  let answer:
    @Sendable (
      _ parameters: [String: JSONValue],
      _ send: @escaping @Sendable ([String: JSONValue]) async throws -> Void
    ) async throws -> [String: JSONValue]

  /// - Parameter answer: Carries out the call. Interim answers of a streaming method go to its second
  ///   argument; the last one is returned.
  init<Method: ControlMethod>(
    _ method: Method.Type,
    _ answer:
      @escaping @Sendable (
        _ parameters: Method.Parameters,
        _ send: @escaping @Sendable (Method.Reply) async throws -> Void
      ) async throws -> Method.Reply
  ) {
    self.method = method
    self.answer = { parameters, send in
      let typed: Method.Parameters
      do {
        typed = try JSONValueDecoder.decode(Method.Parameters.self, from: .object(parameters))
      } catch let error as DecodingError {
        throw ControlError.invalidParameter(JSONValueDecoder.memberName(of: error))
      }
      let reply = try await answer(typed) { interim in try await send(Self.members(of: interim)) }
      return try Self.members(of: reply)
    }
  }

  /// A handler for a method without parameters whose answer is often the one before: that is not encoded
  /// again.
  static func remembering<Method: ControlMethod>(
    _ method: Method.Type, _ answer: @escaping @Sendable () async throws -> Method.Reply
  ) -> ControlHandler where Method.Parameters == NoValues, Method.Reply: Hashable {
    let memory = ReplyMemory<Method.Reply>()
    return ControlHandler(method: method) { _, _ in
      try memory.members(of: try await answer(), encode: members)
    }
  }

  private init(
    method: any ControlMethod.Type,
    answer:
      @escaping @Sendable (
        _ parameters: [String: JSONValue],
        _ send: @escaping @Sendable ([String: JSONValue]) async throws -> Void
      ) async throws -> [String: JSONValue]
  ) {
    self.method = method
    self.answer = answer
  }

  private static func members(of reply: some Encodable) throws -> [String: JSONValue] {
    try JSONValueEncoder.encode(reply).objectValue ?? [:]
  }
}

/// The last reply with what it is on the wire.
///
/// Mutable state: both, inside the mutex.
private final class ReplyMemory<Reply: Hashable & Sendable>: Sendable {
  private let last = Mutex<(reply: Reply, members: [String: JSONValue])?>(nil)

  func members(
    of reply: Reply, encode: (Reply) throws -> [String: JSONValue]
  ) throws -> [String: JSONValue] {
    if let same = last.withLock({ $0?.reply == reply ? $0?.members : nil }) { return same }
    let members = try encode(reply)
    last.withLock { $0 = (reply, members) }
    return members
  }
}

/// Lets one call at a time do work that is too costly for two.
///
/// Mutable state: whether one runs, inside the mutex.
final class ExclusiveWork: Sendable {
  private let isRunning = Mutex(false)
  private let name: String

  /// - Parameter name: What runs, for who is turned away: "another verification".
  init(_ name: String) { self.name = name }

  /// - Throws: ``CairnControl/ControlError/busy(reason:)`` while another call works, or what `work`
  ///   throws.
  func run<Result>(_ work: () async throws -> Result) async throws -> Result {
    let isFirst = isRunning.withLock { isRunning in
      defer { isRunning = true }
      return !isRunning
    }
    guard isFirst else { throw ControlError.busy(reason: "\(name) is running") }
    defer { isRunning.withLock { $0 = false } }
    return try await work()
  }
}
