import Synchronization

/// Lets one task sleep until it is called or a time has passed.
///
/// It remembers a call that comes while no task sleeps.
final class Wakeup: Sendable {
  private struct State {
    var isCalled = false
    var sleeper: CheckedContinuation<Void, Never>?
  }
  private let state = Mutex(State())

  func call() {
    let sleeper = state.withLock { state -> CheckedContinuation<Void, Never>? in
      guard let sleeper = state.sleeper else {
        state.isCalled = true
        return nil
      }
      state.sleeper = nil
      return sleeper
    }
    sleeper?.resume()
  }

  /// - Parameter limit: Nil to wait for a call only.
  func wait(atMost limit: Duration?, _ environment: SyncEnvironment) async {
    let timer = limit.map { limit in
      Task {
        // A cancelled sleep has no task to wake.
        if (try? await environment.sleep(limit)) != nil { self.call() }
      }
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isCalled = state.withLock { state in
          if state.isCalled {
            state.isCalled = false
            return true
          }
          state.sleeper = continuation
          return false
        }
        if isCalled { continuation.resume() }
      }
    } onCancel: {
      self.call()
    }
    timer?.cancel()
  }
}
