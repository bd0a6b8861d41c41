// Serves io.cairn.Data.GetModel.
import CairnControl

struct GetModelHandler: ControlHandler {
  typealias Method = GetModel
  let services: any DaemonServices

  func handle(
    _ parameters: Method.Parameters, caller: ControlCaller,
    send: @escaping @Sendable (Method.Reply) async throws -> Void
  ) async throws -> Method.Reply {
    Method.Reply(model: try await services.model())
  }
}
