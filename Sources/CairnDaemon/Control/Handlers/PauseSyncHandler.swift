// Serves io.cairn.Sync.Pause.
import CairnControl

struct PauseSyncHandler: ControlHandler {
  typealias Method = PauseSync
  let services: any DaemonServices

  func handle(
    _ parameters: Method.Parameters, caller: ControlCaller,
    send: @escaping @Sendable (Method.Reply) async throws -> Void
  ) async throws -> Method.Reply {
    Method.Reply(paused: try await services.pause(replica: parameters.name))
  }
}
