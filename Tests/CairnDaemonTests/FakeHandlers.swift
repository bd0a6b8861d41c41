// Handlers with fixed answers, for tests of what stands before the engine.
import CairnControl
import Foundation
import Synchronization

@testable import CairnDaemon

/// A few methods, and what was asked of them.
final class FakeHandlers: Sendable {
  let waitWasCancelled = Mutex(false)

  var all: [ControlHandler] {
    [
      ControlHandler(GetStatus.self) { _, _ in
        .init(
          status: DaemonStatus(
            version: "1.2.3", pid: 4711,
            startedAt: WireDate(Date(timeIntervalSince1970: 1_700_000_000)), state: .serving))
      },
      ControlHandler(ListStores.self) { _, _ in .init(stores: []) },
      ControlHandler(RemoveStore.self) { parameters, _ in
        throw ControlError.storeNotFound(name: parameters.name)
      },
      ControlHandler(WaitForSync.self) { [self] _, _ in
        do {
          // Until the test cancels the call.
          try await Task.sleep(for: .seconds(60))
        } catch {
          waitWasCancelled.withLock { $0 = true }
          throw error
        }
        throw ControlError.waitTimedOut(behind: ["slow"])
      },
      ControlHandler(FetchRecords.self) { parameters, send in
        if parameters.predicate == "endless" {
          let wide = JSONValue.string(String(repeating: "x", count: 60000))
          while true { try await send(.init(rows: [["id": "r", "name": wide]])) }
        }
        try await send(.init(properties: ["name"], rows: [["id": "r1", "name": "nut, large"]]))
        try await send(.init(rows: [["id": "r2", "name": "bolt\u{1B}[31m"]]))
        return .init(rows: [])
      },
      ControlHandler(SaveRecords.self) { _, _ in throw FakeFault() },
    ]
  }
}

struct FakeFault: Error {}
