// Serves io.cairn.Data.Import.
import CairnControl

struct ImportRecordsHandler: ControlHandler {
  typealias Method = ImportRecords
  let services: any DaemonServices

  func handle(
    _ parameters: Method.Parameters, caller: ControlCaller,
    send: @escaping @Sendable (Method.Reply) async throws -> Void
  ) async throws -> Method.Reply {
    guard parameters.lines.count == parameters.rows.count else {
      throw ControlError.invalidParameter("lines")
    }
    return try await services.importRows(parameters)
  }
}
