// Serves io.cairn.Daemon.GetStatus, at every time of the daemon's life.
import CairnControl

struct GetStatusHandler: ControlHandler {
  typealias Method = GetStatus
  let status: @Sendable () async -> DaemonStatus

  func handle(
    _ parameters: Method.Parameters, caller: ControlCaller,
    send: @escaping @Sendable (Method.Reply) async throws -> Void
  ) async throws -> Method.Reply {
    Method.Reply(status: await status())
  }
}
