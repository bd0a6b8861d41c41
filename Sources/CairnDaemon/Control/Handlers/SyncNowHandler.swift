// Serves io.cairn.Sync.SyncNow.
import CairnControl

struct SyncNowHandler: ControlHandler {
  typealias Method = SyncNow
  let services: any DaemonServices

  func handle(
    _ parameters: Method.Parameters, caller: ControlCaller,
    send: @escaping @Sendable (Method.Reply) async throws -> Void
  ) async throws -> Method.Reply {
    Method.Reply(started: try await services.syncNow(replica: parameters.name))
  }
}
