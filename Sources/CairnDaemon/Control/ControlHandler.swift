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

  /// Whose call is being answered.
  @TaskLocal static var current: ControlCaller?
}

/// Serves one method of the protocol: the method, and what it does as a function from parameters to replies.
struct ControlHandler: Sendable {
  let method: any ControlMethod.Type
  /// The answer to a call without parameters where that waits for no store now, so that the thread that read the call
  /// gives it, too; nil where it has to wait.
  let atHand: @Sendable () throws -> ReplyFrame?
  let answer: Answer

  typealias Answer =
    @Sendable (
      _ parameters: [String: JSONValue],
      _ send: @escaping @Sendable (ReplyFrame) async throws -> Void
    ) async throws -> ReplyFrame

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
    atHand = { nil }
    self.answer = { parameters, send in
      let typed: Method.Parameters
      do {
        typed = try JSONValueDecoder.decode(Method.Parameters.self, from: .object(parameters))
      } catch let error as DecodingError {
        throw ControlError.invalidParameter(JSONValueDecoder.memberName(of: error))
      }
      return try ReplyFrame(
        of: try await answer(typed) { interim in
          try await send(ReplyFrame(of: interim, continues: true))
        })
    }
  }

  /// A handler for a method that has no parameters, and often gives the answer that it gave before: that is not
  /// encoded again.
  ///
  /// - Parameter atHand: Gives the answer where it has to wait for no store now; when nil, `answer` never waits.
  static func remembering<Method: ControlMethod>(
    _ method: Method.Type, atHand: (@Sendable () throws -> Method.Reply?)? = nil,
    _ answer: @escaping @Sendable () throws -> Method.Reply
  ) -> ControlHandler where Method.Parameters == NoValues, Method.Reply: Hashable {
    let memory = ReplyMemory<Method.Reply>()
    let atHand = atHand ?? answer
    return ControlHandler(method, atHand: { try atHand().map(memory.frame) }) { _, _ in
      try memory.frame(of: try answer())
    }
  }

  private init(
    _ method: any ControlMethod.Type, atHand: @escaping @Sendable () throws -> ReplyFrame?,
    answer: @escaping Answer
  ) {
    self.method = method
    self.atHand = atHand
    self.answer = answer
  }
}

/// The last reply with what it is on the wire.
///
/// Mutable state: both, inside the mutex.
private final class ReplyMemory<Reply: Encodable & Hashable & Sendable>: Sendable {
  private let last = Mutex<(reply: Reply, frame: ReplyFrame)?>(nil)

  func frame(of reply: Reply) throws -> ReplyFrame {
    if let same = last.withLock({ $0?.reply == reply ? $0?.frame : nil }) { return same }
    let frame = try ReplyFrame(of: reply)
    last.withLock { $0 = (reply, frame) }
    return frame
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
