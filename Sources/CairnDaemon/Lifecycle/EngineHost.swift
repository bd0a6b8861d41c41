// Stands before the engine: answers for it while there is none.
import CairnControl

/// Passes calls on to the engine once it has started; before that says why it cannot.
actor EngineHost {
  private var engine: (any DaemonEngine)?
  private var refusal: ControlError = .notReady(
    state: "starting", reason: "the local store is not open yet")

  /// The running engine.
  func current() throws(ControlError) -> any DaemonEngine {
    guard let engine else { throw refusal }
    return engine
  }

  func install(_ engine: any DaemonEngine) { self.engine = engine }

  /// Takes the engine out; calls get `reason` from now on.
  func withdraw(state: String, reason: String) -> (any DaemonEngine)? {
    refusal = .notReady(state: state, reason: reason)
    defer { engine = nil }
    return engine
  }

  /// Completes when the engine has done a piece of work, or at once when there is none: then being
  /// able to say so is all that can be asked.
  func probe() async {
    await engine?.probe()
  }
}

extension EngineHost: DaemonServices {
  func status() async -> EngineStatus { await engine?.status() ?? EngineStatus() }

  func stores() async throws -> [StoreDescription] { try await current().stores() }

  func addStore(_ parameters: AddStore.Parameters) async throws -> AddStore.Reply {
    try await current().addStore(parameters)
  }

  func removeStore(named name: String) async throws {
    try await current().removeStore(named: name)
  }

  func verify(
    store name: String?, report: @escaping @Sendable (VerifyStores.Reply) async throws -> Void
  ) async throws -> VerifyStores.Summary {
    try await current().verify(store: name, report: report)
  }

  func syncNow(replica name: String?) async throws -> [String] {
    try await current().syncNow(replica: name)
  }

  func wait(replica name: String?, timeout: Duration) async throws -> WaitForSync.Reply {
    try await current().wait(replica: name, timeout: timeout)
  }

  func pause(replica name: String?) async throws -> [String] {
    try await current().pause(replica: name)
  }

  func resume(replica name: String?) async throws -> [String] {
    try await current().resume(replica: name)
  }

  func model() async throws -> ModelSummary { try await current().model() }

  func fetch(
    _ parameters: FetchRecords.Parameters,
    rows: @escaping @Sendable (FetchRecords.Reply) async throws -> Void
  ) async throws {
    try await current().fetch(parameters, rows: rows)
  }

  func save(_ parameters: SaveRecords.Parameters) async throws -> SaveRecords.Reply {
    try await current().save(parameters)
  }

  func importRows(_ parameters: ImportRecords.Parameters) async throws -> ImportRecords.Reply {
    try await current().importRows(parameters)
  }
}
