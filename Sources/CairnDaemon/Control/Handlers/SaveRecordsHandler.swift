// Serves io.cairn.Data.Save.
import CairnControl

struct SaveRecordsHandler: ControlHandler {
  typealias Method = SaveRecords
  let services: any DaemonServices

  func handle(
    _ parameters: Method.Parameters, caller: ControlCaller,
    send: @escaping @Sendable (Method.Reply) async throws -> Void
  ) async throws -> Method.Reply {
    try await services.save(parameters)
  }
}
