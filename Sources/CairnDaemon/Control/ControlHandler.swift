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

  private static func members(of reply: some Encodable) throws -> [String: JSONValue] {
    try JSONValueEncoder.encode(reply).objectValue ?? [:]
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
