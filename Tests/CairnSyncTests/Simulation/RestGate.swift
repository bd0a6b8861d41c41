// Holds links up before they rest, so that their next pass begins when a test says so.

import CairnTesting
import Synchronization

@testable import CairnSync

/// Mutable state: whether the gate is closed, and whether a link has come to it since, in the mutex.
final class RestGate: Sendable {
  private let state = Mutex((isClosed: false, isReached: false))

  /// The machine's environment, with the gate in it.
  var environment: SyncEnvironment {
    var environment = SyncEnvironment.live
    environment.turn = { _, turn in
      if case .rest = turn, self.reach() {
        _ = await eventually { self.state.withLock { !$0.isClosed } }
      }
    }
    return environment
  }

  private func reach() -> Bool {
    state.withLock { state in
      if state.isClosed { state.isReached = true }
      return state.isClosed
    }
  }

  func open() { state.withLock { $0.isClosed = false } }

  /// Closes it, and waits until a link is held up.
  ///
  /// - Returns: Whether one came.
  func close() async -> Bool {
    state.withLock { $0.isClosed = true }
    return await eventually { self.state.withLock { $0.isReached } }
  }
}
