// Serves io.cairn.Store.List.
import CairnControl

struct ListStoresHandler: ControlHandler {
  typealias Method = ListStores
  let services: any DaemonServices

  func handle(
    _ parameters: Method.Parameters, caller: ControlCaller,
    send: @escaping @Sendable (Method.Reply) async throws -> Void
  ) async throws -> Method.Reply {
    Method.Reply(stores: try await services.stores())
  }
}
