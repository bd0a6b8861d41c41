// Serves io.cairn.Data.Fetch.
import CairnControl

struct FetchRecordsHandler: ControlHandler {
  typealias Method = FetchRecords
  let services: any DaemonServices

  func handle(
    _ parameters: Method.Parameters, caller: ControlCaller,
    send: @escaping @Sendable (Method.Reply) async throws -> Void
  ) async throws -> Method.Reply {
    if let limit = parameters.limit, limit < 0 { throw ControlError.invalidParameter("limit") }
    if let offset = parameters.offset, offset < 0 { throw ControlError.invalidParameter("offset") }
    try await services.fetch(parameters) { batch in try await send(batch) }
    // The end is an answer of its own, so that a batch need not know that it is the last.
    return Method.Reply(rows: [])
  }
}
