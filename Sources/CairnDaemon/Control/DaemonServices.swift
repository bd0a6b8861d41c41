// What the control protocol needs from the engine: values in, values out.
import CairnControl

/// The work behind the control protocol.
///
/// Implemented by the engine. Every method may be called at any time from any task, several at
/// once, and reports failure as ``CairnControl/ControlError``; any other error is logged and shown
/// to the caller as an internal failure. A cancelled task means that the caller is gone or that the
/// daemon stops: give up soon and leave everything consistent.
public protocol DaemonServices: Sendable {
  /// The model's name, the local store and the replicas, for the status. Never waits for a store.
  func status() async -> EngineStatus
  func stores() async throws -> [StoreDescription]
  /// Returns once the replica is remembered, without waiting for it to open.
  func addStore(_ parameters: AddStore.Parameters) async throws -> AddStore.Reply
  func removeStore(named name: String) async throws
  /// Reports progress and differences as they are found; returns the summary.
  func verify(
    store name: String?, report: @escaping @Sendable (VerifyStores.Reply) async throws -> Void
  ) async throws -> VerifyStores.Summary
  /// Starts passes and returns the names of the replicas concerned.
  func syncNow(replica name: String?) async throws -> [String]
  /// Returns when the replicas have all that was committed before the call.
  func wait(replica name: String?, timeout: Duration) async throws -> WaitForSync.Reply
  func pause(replica name: String?) async throws -> [String]
  func resume(replica name: String?) async throws -> [String]
  func model() async throws -> ModelSummary
  /// Hands rows over in batches of reasonable size (about 100 rows or 256 KiB).
  func fetch(
    _ parameters: FetchRecords.Parameters,
    rows: @escaping @Sendable (FetchRecords.Reply) async throws -> Void
  ) async throws
  func save(_ parameters: SaveRecords.Parameters) async throws -> SaveRecords.Reply
  /// Saves one batch as one transaction.
  func importRows(_ parameters: ImportRecords.Parameters) async throws -> ImportRecords.Reply
}

/// The engine's part of the status.
public struct EngineStatus: Sendable, Hashable {
  public var model: String?
  public var local: StoreStatus?
  public var replicas: [ReplicaStatus]
  /// What is wrong although the engine runs.
  public var problems: [StatusProblem]

  public init(
    model: String? = nil, local: StoreStatus? = nil, replicas: [ReplicaStatus] = [],
    problems: [StatusProblem] = []
  ) {
    self.model = model
    self.local = local
    self.replicas = replicas
    self.problems = problems
  }
}
