// Serves io.cairn.Sync.Resume.
import CairnControl

struct ResumeSyncHandler: ControlHandler {
  typealias Method = ResumeSync
  let services: any DaemonServices

  func handle(
    _ parameters: Method.Parameters, caller: ControlCaller,
    send: @escaping @Sendable (Method.Reply) async throws -> Void
  ) async throws -> Method.Reply {
    Method.Reply(resumed: try await services.resume(replica: parameters.name))
  }
}
