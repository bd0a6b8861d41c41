// A blocking client of the daemon, for programs that have nothing else to do meanwhile.
import CairnPlatform

/// Why a call got no proper answer.
public enum ControlClientError: Error, Sendable, Equatable, CustomStringConvertible {
  /// No daemon answers at the socket.
  case unreachable(PlatformError)
  /// The connection broke; the call may or may not have been carried out.
  case disconnected(String)
  /// The daemon did not answer in time; the call may still be carried out.
  case timedOut
  /// The other side does not speak the protocol.
  case misunderstood(String)

  public var description: String {
    switch self {
    case .unreachable(let error): "the daemon is not reachable: \(error)"
    case .disconnected(let reason): "the daemon ended the connection: \(reason)"
    case .timedOut: "the daemon did not answer in time"
    case .misunderstood(let reason): "the answer is not what this program understands: \(reason)"
    }
  }

  /// What to do about it.
  public var hint: String? {
    switch self {
    case .unreachable(let reason) where reason.code == .accessDenied:
      ControlError.permissionDenied.hint
    case .unreachable:
      "is cairnd running? `systemctl status cairnd`; another socket is named with --socket"
    case .disconnected:
      "`journalctl -u cairnd -n 50` says why; `cairnctl status` shows whether it is there again"
    case .timedOut:
      "wait longer with --timeout SECONDS; `cairnctl status` shows what the daemon does"
    case .misunderstood:
      "is it cairnd's socket, and of this version? compare `cairnctl --version` and `cairnd --version`"
    }
  }
}

/// A connection to the daemon.
///
/// One thread at a time; calls wait for their answer.
public final class ControlClient {
  private let stream: UnixStream
  private var framing: MessageFraming
  private var received: [[UInt8]] = []
  private var unanswered = 0

  /// How long each answer may take; nil waits for ever.
  public var timeout: Duration?
  /// Called about once a second while an answer is waited for, with how long it has been so far, and with nil once
  /// the wait is over.
  public var whileWaiting: ((Duration?) -> Void)?

  /// Connects to the daemon's socket.
  ///
  /// - Throws: ``ControlClientError/unreachable(_:)``.
  public init(socket path: String, timeout: Duration? = .seconds(30)) throws {
    self.timeout = timeout
    framing = MessageFraming(limit: JSONLimits.answer.byteCount)
    do {
      stream = try UnixStream(connectingTo: path, timeout: timeout ?? .seconds(30))
    } catch let error as PlatformError {
      throw ControlClientError.unreachable(error)
    }
  }

  deinit { stream.close() }

  /// Calls a method and returns its answer.
  ///
  /// - Parameter timeout: Overrides the client's own for this call.
  /// - Throws: ``ControlError`` when the daemon says no, ``ControlClientError`` when it says nothing.
  public func call<Method: ControlMethod>(
    _ method: Method.Type, _ parameters: Method.Parameters, timeout: Duration? = nil
  ) throws -> Method.Reply {
    try send(method, parameters)
    return try receive(method, timeout: timeout).reply
  }

  /// Calls a method that answers with a stream, or can, and hands each answer to `each`.
  ///
  /// When `each` throws, the connection is closed: the rest of the stream has no reader.
  public func stream<Method: ControlMethod>(
    _ method: Method.Type, _ parameters: Method.Parameters, timeout: Duration? = nil,
    each: (Method.Reply) throws -> Void
  ) throws {
    try send(method, parameters, more: true)
    var continues = true
    do {
      while continues {
        let answer = try receive(method, timeout: timeout)
        continues = answer.continues
        try each(answer.reply)
      }
    } catch {
      if continues { stream.close() }
      throw error
    }
  }

  /// Calls a method that can tell how far it is: hands each interim answer to `each`, and returns the last one.
  public func last<Method: ControlMethod>(
    _ method: Method.Type, _ parameters: Method.Parameters, timeout: Duration? = nil,
    each: (Method.Reply) -> Void
  ) throws -> Method.Reply {
    try send(method, parameters, more: true)
    while true {
      let answer = try receive(method, timeout: timeout)
      guard answer.continues else { return answer.reply }
      each(answer.reply)
    }
  }

  /// Sends a call without waiting.
  ///
  /// Its answer is the next that ``receive(_:timeout:)`` returns after those of earlier calls.
  ///
  /// - Parameter more: Whether interim answers are wanted; as the method needs it when nil.
  public func send<Method: ControlMethod>(
    _ method: Method.Type, _ parameters: Method.Parameters, more: Bool? = nil
  ) throws {
    guard case .object(let members) = try JSONValueEncoder.encode(parameters) else {
      throw ControlClientError.misunderstood("parameters are not an object")
    }
    let call = ControlCall(
      method: Method.name, parameters: members, more: more ?? Method.isStreaming)
    try send(call)
  }

  /// Sends a batch of an import without waiting.
  public func send(_ batch: ImportBatch) throws { try send(frame: batch.message() + [0]) }

  /// Sends any call without checking it; for tools and tests.
  public func send(_ call: ControlCall) throws {
    try send(frame: MessageFraming.frame(call.message))
  }

  private func send(frame: [UInt8]) throws {
    do {
      try stream.write(frame, timeout: timeout)
      unanswered += 1
    } catch let error as PlatformError {
      // The daemon may have said why before it closed.
      if let refusal = refusalBeforeClosing() { throw refusal }
      throw error.code == .timedOut
        ? ControlClientError.timedOut : ControlClientError.disconnected(error.code.explanation)
    }
  }

  /// Waits for the next answer to a call made with ``send(_:_:)``.
  public func receive<Method: ControlMethod>(_ method: Method.Type, timeout: Duration? = nil) throws
    -> (reply: Method.Reply, continues: Bool)
  {
    let answer = try receive(timeout: timeout)
    if let name = answer.error { throw ControlError(name: name, fields: answer.parameters) }
    do {
      let reply = try JSONValueDecoder.decode(Method.Reply.self, from: .object(answer.parameters))
      return (reply, answer.continues)
    } catch let error as DecodingError {
      throw ControlClientError.misunderstood(
        "\(Method.name): \(JSONValueDecoder.memberName(of: error))")
    }
  }

  /// Waits for the next answer, whatever it is.
  public func receive(timeout: Duration? = nil) throws -> ControlReply {
    let message = try nextMessage(timeout: timeout ?? self.timeout)
    let value: JSONValue
    do {
      value = try JSONParser.parse(message, limits: .answer)
    } catch let problem as JSONProblem {
      throw ControlClientError.misunderstood(problem.description)
    }
    guard let reply = ControlReply(message: value) else {
      throw ControlClientError.misunderstood("not a reply")
    }
    if !reply.continues { unanswered -= 1 }
    return reply
  }

  /// Ends the connection.
  public func close() { stream.close() }

  private func nextMessage(timeout: Duration?) throws -> [UInt8] {
    let start = ContinuousClock.now
    let deadline = timeout.map { start + $0 }
    defer { whileWaiting?(nil) }
    while received.isEmpty {
      let left = deadline.map { ContinuousClock.now.duration(to: $0) }
      if let left, left <= .zero { throw ControlClientError.timedOut }
      let part = whileWaiting == nil ? left : min(left ?? .seconds(1), .seconds(1))
      let bytes: [UInt8]
      do {
        bytes = try stream.read(limit: 256 * 1024, timeout: part)
      } catch let error as PlatformError {
        guard error.code == .timedOut else {
          throw ControlClientError.disconnected(error.code.explanation)
        }
        // The deadline is looked at first of all.
        whileWaiting?(ContinuousClock.now - start)
        continue
      }
      guard !bytes.isEmpty else {
        throw ControlClientError.disconnected("it closed before it answered")
      }
      do {
        received = try framing.append(bytes)
      } catch let overflow as MessageFraming.Overflow {
        throw ControlClientError.misunderstood("an answer of more than \(overflow.limit) bytes")
      }
    }
    return received.removeFirst()
  }

  private func refusalBeforeClosing() -> ControlError? {
    while let reply = try? receive(timeout: .milliseconds(200)) {
      if let name = reply.error { return ControlError(name: name, fields: reply.parameters) }
    }
    return nil
  }
}
