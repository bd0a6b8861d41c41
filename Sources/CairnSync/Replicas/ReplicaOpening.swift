import CairnCoordinator
import CairnModel
import CairnStore
import Foundation

/// Opens a replica's store through the coordinator without blocking anybody.
struct ReplicaOpening: Sendable {
  let coordinator: PersistentStoreCoordinator
  let configuration: ReplicaConfiguration
  /// The UUID of the local store; a byte copy of it is no replica.
  let localIdentifier: String
  let progress: @Sendable (Double) -> Void

  /// - Throws: ``SyncError``, with who has to do something.
  func open() async throws -> PersistentStore {
    if let store = coordinator.persistentStore(for: configuration.url) {
      throw SyncError(
        .duplicateReplica,
        "\(configuration.url.path) is open already as the store \(store.identifier ?? "")",
        recovery: .person)
    }
    try checkIsNoCopy()
    let failure: (any Error)? = await withCheckedContinuation { continuation in
      coordinator.addPersistentStore(with: description()) { _, error in
        continuation.resume(returning: error.map { Self.describe($0, at: configuration.url) })
      }
    }
    if let failure { throw failure }
    guard let store = coordinator.persistentStore(for: configuration.url) else {
      throw SyncError(
        .storeUnavailable, "\(configuration.url.path) was opened and removed at once",
        recovery: .retry)
    }
    return store
  }

  private func checkIsNoCopy() throws {
    guard let kind = try? coordinator.kind(ofType: configuration.type),
      let metadata = try? kind.metadata(at: configuration.url, options: StoreOptions()),
      let identifier = metadata[StoreMetadataKey.uuid] as? String,
      identifier.caseInsensitiveCompare(localIdentifier) == .orderedSame
    else { return }
    throw SyncError(
      .sameStore,
      "\(configuration.url.path) is a copy of the local store, with the same UUID; remove it and "
        + "add an empty replica", recovery: .person)
  }

  private func description() -> PersistentStoreDescription {
    let description = PersistentStoreDescription(url: configuration.url)
    description.type = configuration.type
    description.shouldAddStoreAsynchronously = true
    description.shouldMigrateStoreAutomatically = configuration.migrates
    description.shouldInferMappingModelAutomatically = configuration.migrates
    description.timeout = configuration.timeout
    description.setOption(NSNumber(value: true), forKey: StoreOptionKey.historyTracking)
    description.setOption(NSNumber(value: true), forKey: StoreOptionKey.remoteChangeNotification)
    description.migrationProgress = progress
    return description
  }

  /// Says of any error what it means for a link.
  static func describe(_ error: any Error, at url: URL?) -> SyncError {
    if let error = error as? SyncError { return error }
    if error is CancellationError {
      return SyncError(.cancelled, "stopped", recovery: .retry)
    }
    let place = url?.path ?? "the store"
    guard let error = error as? CoreDataError else {
      return SyncError(.failed, "\(place): \(error)", recovery: .wait)
    }
    switch error.code {
    case .persistentStoreIncompatibleVersionHash, .migrationMissingSourceModel,
      .migrationMissingMappingModel, .inferredMappingModel, .migration,
      .migrationConstraintViolation, .persistentStoreIncompatibleSchema,
      .entityMigrationPolicy:
      return SyncError(.incompatibleModel, "\(place): \(error.message)", recovery: .person)
    case .persistentStoreInvalidType, .persistentStoreTypeMismatch,
      .persistentStoreUnsupportedRequestType:
      return SyncError(.storeUnavailable, "\(place): \(error.message)", recovery: .person)
    default:
      return SyncError(.storeUnavailable, "\(place): \(error.message)", recovery: .wait)
    }
  }
}
