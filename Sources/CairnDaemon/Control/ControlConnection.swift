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
  let parts: RowParts
  let logger: Logger

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
      logger.log(
        level: caller.role > .status ? .debug : .trace, "a connection ended",
        metadata: ["reason": .string(String(describing: error))])
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
      try await outbound.write(ReplyFrame(failure: error).buffer)
      return false
    } catch let error as ControlError {
      try await outbound.write(ReplyFrame(failure: error).buffer)
      return false
    }
    guard table.beginCall(client.connection) else {
      let error = ControlError.notReady(state: "draining", reason: "the daemon is stopping")
      try await outbound.write(ReplyFrame(failure: error).buffer)
      return false
    }
    let reply = await RowParts.$current.withValue(parts) {
      await dispatcher.dispatch(call, caller: caller) { interim in
        if call.oneway { return }
        do {
          try await outbound.write(interim.buffer)
        } catch {
          // No failure of the call: the client has seen enough, and takes it with it.
          throw CancellationError()
        }
      }
    }
    if !call.oneway { try await outbound.write(reply.buffer) }
    return table.endCall(client.connection)
  }
}
