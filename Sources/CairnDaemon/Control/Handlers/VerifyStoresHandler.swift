// Serves io.cairn.Store.Verify, one at a time: it reads everything.
import CairnControl
import Synchronization

final class VerifyStoresHandler: ControlHandler {
  typealias Method = VerifyStores
  private let services: any DaemonServices
  private let isRunning = Mutex(false)

  init(services: any DaemonServices) { self.services = services }

  func handle(
    _ parameters: Method.Parameters, caller: ControlCaller,
    send: @escaping @Sendable (Method.Reply) async throws -> Void
  ) async throws -> Method.Reply {
    let isFirst = isRunning.withLock { isRunning in
      defer { isRunning = true }
      return !isRunning
    }
    guard isFirst else { throw ControlError.busy(reason: "another verification is running") }
    defer { isRunning.withLock { $0 = false } }
    let summary = try await services.verify(store: parameters.name) { report in
      try await send(report)
    }
    return Method.Reply(summary: summary)
  }
}
