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
    /// The stores that the last engine had, or that the first one is about to open.
    var stores: StatusReport?
    /// What the status calls it that there is no engine.
    var code = StatusProblem.storeClosed
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

  /// Says which stores an engine is about to open, for the status until it has done so.
  func prepare(_ configuration: DaemonConfiguration) {
    let replicas = Dictionary(configuration.replicas.map { ($0.name, $0) }) { first, _ in first }
    let stores = StatusReport(configuration: configuration, replicas: replicas)
    state.withLock { $0.stores = $0.stores ?? stores }
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
  ///
  /// - Parameter code: What the status calls it.
  func withdraw(
    state name: String, reason: String, code: String = StatusProblem.storeClosed
  ) -> GroupEngine? {
    state.withLock { state in
      state.refusal = .notReady(state: name, reason: reason)
      state.code = code
      defer { state.engine = nil }
      if let engine = state.engine { state.stores = engine.closedReport }
      return state.engine
    }
  }

  /// What the watchdog looks at; nil without an engine: then being able to say so is all that can be asked.
  func watched() async -> WatchedGroup? { await state.withLock { $0.engine }?.watched }

  /// The engine's part of the status; while there is none, which stores there are, and why none is open.
  func status() -> EngineStatus {
    let state = state.withLock { $0 }
    return state.engine?.status() ?? Self.absence(state)
  }

  /// ``status()``, where it needs to read no store now; nil otherwise.
  var statusAtHand: EngineStatus? {
    let state = state.withLock { $0 }
    guard let engine = state.engine else { return Self.absence(state) }
    return engine.statusAtHand
  }

  private static func absence(_ state: State) -> EngineStatus {
    guard let stores = state.stores, case .notReady(let name, let reason) = state.refusal else {
      return EngineStatus(isRunning: false)
    }
    let local: StoreStatus.State =
      switch name {
      case "starting": .opening
      case "migrating": .migrating
      default: .unavailable
      }
    return stores.absence(
      local, StatusProblem(code: state.code, message: reason), isEnding: name == "draining")
  }
}
