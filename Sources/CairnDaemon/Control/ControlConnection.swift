// One client: reads its calls one after the other and answers them.
import CairnControl
import Logging
import NIOCore

/// Serves one connection until either side ends it.
struct ControlConnection: Sendable {
  typealias Channel = NIOAsyncChannel<[UInt8], ByteBuffer>

  let channel: Channel
  let client: ControlCaller
  /// The client's role by the groups that have roles now; who it is was settled when it connected.
  let role: @Sendable () -> ControlRole
  let dispatcher: ControlDispatcher
  let table: ConnectionTable
  /// How long a client may leave a full queue unread.
  let writeTimeout: TimeAmount
  let logger: Logger
  /// Of clients that were disconnected, by user.
  let drops: EventThrottle

  private var caller: ControlCaller {
    ControlCaller(
      user: client.user, process: client.process, role: role(), connection: client.connection)
  }

  /// Returns when the connection has ended.
  func run() async {
    do {
      try await channel.executeThenClose { inbound, outbound in
        for try await message in inbound {
          guard try await serve(message, outbound) else { break }
        }
      }
    } catch {
      // The client is gone or too slow; what it asked for was cut short where it waited.
      logger.debug(
        "a connection ended", metadata: ["reason": .string(String(describing: error))])
    }
  }

  /// Carries out one call.
  ///
  /// - Returns: whether another may follow.
  private func serve(
    _ message: [UInt8], _ outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>
  ) async throws -> Bool {
    let call: ControlCall
    do {
      call = try ControlCall(message: try JSONParser.parse(message))
    } catch let problem as JSONProblem {
      let error = ControlError.messageMalformed(offset: problem.offset, reason: problem.reason)
      try await write(ControlReply(failure: error), outbound)
      return false
    } catch let error as ControlError {
      try await write(ControlReply(failure: error), outbound)
      return false
    }
    guard table.beginCall(caller.connection) else {
      let error = ControlError.notReady(state: "draining", reason: "the daemon is stopping")
      try await write(ControlReply(failure: error), outbound)
      return false
    }
    let reply = await dispatcher.dispatch(call, caller: caller) { interim in
      if !call.oneway { try await write(interim, outbound) }
    }
    if !call.oneway { try await write(reply, outbound) }
    return table.endCall(caller.connection)
  }

  private func write(
    _ reply: ControlReply, _ outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>
  ) async throws {
    let target = channel.channel
    let (logger, drops) = (logger, drops)
    let caller = caller
    // The writer waits while the client does not read; only so long.
    let timer = target.eventLoop.scheduleTask(in: writeTimeout) {
      if drops.isDue("\(caller.user)") {
        logger.event(
          .connectionDropped, "a client does not read its answers",
          metadata: ["clientUid": "\(caller.user)", "clientPid": "\(caller.process)"])
      }
      target.close(promise: nil)
    }
    defer { timer.cancel() }
    try await outbound.write(ByteBuffer(bytes: MessageFraming.frame(reply.message)))
  }
}
