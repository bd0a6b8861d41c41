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
    /// What the status says while there is no engine.
    var absence = EngineStatus(isRunning: false)
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
    state.withLock { state in
      guard state.engine == nil, state.absence.local == nil else { return }
      state.absence = Self.absence(stores, of: state.refusal, code: StatusProblem.storeClosed)
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
  ///
  /// - Parameter code: What the status calls it.
  func withdraw(
    state name: String, reason: String, code: String = StatusProblem.storeClosed
  ) -> GroupEngine? {
    state.withLock { state in
      state.refusal = .notReady(state: name, reason: reason)
      defer { state.engine = nil }
      if let engine = state.engine {
        state.absence = Self.absence(engine.closedReport, of: state.refusal, code: code)
      } else {
        let problem = StatusProblem(code: code, message: reason)
        let local = Self.storeState(of: state.refusal)
        state.absence.local?.problem = problem
        state.absence.local?.state = local
        state.absence.problems = local == .unavailable ? [problem] : []
      }
      return state.engine
    }
  }

  private static func absence(
    _ stores: StatusReport, of refusal: ControlError, code: String
  ) -> EngineStatus {
    guard case .notReady(_, let reason) = refusal else { return EngineStatus(isRunning: false) }
    return stores.absence(storeState(of: refusal), StatusProblem(code: code, message: reason))
  }

  private static func storeState(of refusal: ControlError) -> StoreStatus.State {
    switch refusal {
    case .notReady("starting", _): .opening
    case .notReady("migrating", _): .migrating
    default: .unavailable
    }
  }

  /// What the watchdog looks at; nil without an engine: then being able to say so is all that can be asked.
  func watched() async -> WatchedGroup? { await state.withLock { $0.engine }?.watched }

  /// The engine's part of the status; while there is none, which stores there are, and why none is open.
  func status() -> EngineStatus {
    let (engine, absence) = state.withLock { ($0.engine, $0.absence) }
    return engine?.status() ?? absence
  }
}
