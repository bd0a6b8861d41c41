// Stands before the engine: says why there is none.
import CairnControl

/// Gives the engine to handlers once it has started; before that says why it cannot.
actor EngineHost {
  private var engine: GroupEngine?
  /// Whether the engine is there for the status only.
  private var isClosed = false
  private var refusal: ControlError = .notReady(
    state: "starting", reason: "the local store is not open yet")

  /// The running engine.
  func current() throws(ControlError) -> GroupEngine {
    guard let engine, !isClosed else { throw refusal }
    return engine
  }

  func install(_ engine: GroupEngine) {
    self.engine = engine
    isClosed = false
  }

  /// Refuses calls from now on, with that reason; the engine stays for the status.
  ///
  /// - Returns: The engine.
  func close(state: String, reason: String) -> GroupEngine? {
    refusal = .notReady(state: state, reason: reason)
    isClosed = true
    return engine
  }

  /// Takes the engine out; calls get `reason` from now on.
  func withdraw(state: String, reason: String) -> GroupEngine? {
    refusal = .notReady(state: state, reason: reason)
    defer { engine = nil }
    return engine
  }

  /// What the watchdog looks at; nil without an engine: then being able to say so is all that can be asked.
  func watched() async -> WatchedGroup? { await engine?.watched }

  /// The engine's part of the status; empty while there is none.
  func status() async -> EngineStatus { await engine?.status() ?? EngineStatus() }
}
