// Serves io.cairn.Sync.Wait.
import CairnControl

struct WaitForSyncHandler: ControlHandler {
  typealias Method = WaitForSync
  let services: any DaemonServices

  func handle(
    _ parameters: Method.Parameters, caller: ControlCaller,
    send: @escaping @Sendable (Method.Reply) async throws -> Void
  ) async throws -> Method.Reply {
    let timeout = parameters.timeout ?? 60
    guard timeout >= 0, timeout <= 86400 else { throw ControlError.invalidParameter("timeout") }
    return try await services.wait(replica: parameters.name, timeout: .seconds(timeout))
  }
}
