// Serves io.cairn.Store.Add.
import CairnControl

struct AddStoreHandler: ControlHandler {
  typealias Method = AddStore
  let services: any DaemonServices

  func handle(
    _ parameters: Method.Parameters, caller: ControlCaller,
    send: @escaping @Sendable (Method.Reply) async throws -> Void
  ) async throws -> Method.Reply {
    try await services.addStore(parameters)
  }
}
