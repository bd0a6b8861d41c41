// Stands before the engine: says why there is none.
import CairnControl
import Synchronization

/// Gives the engine to handlers once it has started; before that says why it cannot.
///
/// Mutable state: the engine and the reason, inside the mutex.
final class EngineHost: Sendable {
  private struct State {
    var engine: GroupEngine?
    /// Whether the engine is there for the status only.
    var isClosed = false
    var refusal: ControlError = .notReady(
      state: "starting", reason: "the local store is not open yet")
  }
  private let state = Mutex(State())

  /// The running engine.
  func current() throws(ControlError) -> GroupEngine {
    let state = state.withLock { $0 }
    guard let engine = state.engine, !state.isClosed else { throw state.refusal }
    return engine
  }

  func install(_ engine: GroupEngine) {
    state.withLock { state in
      state.engine = engine
      state.isClosed = false
    }
  }

  /// Refuses calls from now on, with that reason; the engine stays for the status.
  ///
  /// - Returns: The engine.
  func close(state name: String, reason: String) -> GroupEngine? {
    state.withLock { state in
      state.refusal = .notReady(state: name, reason: reason)
      state.isClosed = true
      return state.engine
    }
  }

  /// Takes the engine out; calls get `reason` from now on.
  func withdraw(state name: String, reason: String) -> GroupEngine? {
    state.withLock { state in
      state.refusal = .notReady(state: name, reason: reason)
      defer { state.engine = nil }
      return state.engine
    }
  }

  /// What the watchdog looks at; nil without an engine: then being able to say so is all that can be asked.
  func watched() async -> WatchedGroup? { await state.withLock { $0.engine }?.watched }

  /// The engine's part of the status; empty while there is none.
  func status() -> EngineStatus { state.withLock { $0.engine }?.status() ?? EngineStatus() }
}
