// Serves io.cairn.Store.Remove.
import CairnControl

struct RemoveStoreHandler: ControlHandler {
  typealias Method = RemoveStore
  let services: any DaemonServices

  func handle(
    _ parameters: Method.Parameters, caller: ControlCaller,
    send: @escaping @Sendable (Method.Reply) async throws -> Void
  ) async throws -> Method.Reply {
    try await services.removeStore(named: parameters.name)
    return NoValues()
  }
}
