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
  /// The UUID that the replica had while it was open before; nil for one that never was.
  let expectedIdentifier: String?
  let progress: @Sendable (Double) -> Void

  /// Opens the store in the group's coordinator; one at a version of the model that has all of the
  /// group's and more in a coordinator with that version.
  ///
  /// Such a store is left at its version: others use it.
  ///
  /// - Throws: ``SyncError``, with who has to do something.
  func open() async throws -> (store: PersistentStore, coordinator: PersistentStoreCoordinator) {
    if let store = coordinator.persistentStore(for: configuration.url) {
      throw SyncError(
        .duplicateReplica,
        "\(configuration.url.path) is open already as the store \(store.identifier ?? "")",
        recovery: .person)
    }
    // Reading a file that is locked or far away blocks; Swift's own threads are not for that.
    let newer: ManagedObjectModel? = try await withCheckedThrowingContinuation { continuation in
      // A queue of its own: a mount that hangs must not take a thread from other replicas.
      DispatchQueue(label: "cairn.sync.opening.\(configuration.name)").async {
        do {
          continuation.resume(returning: try checkIdentity())
        } catch {
          continuation.resume(throwing: Self.describe(error, at: configuration.url))
        }
      }
    }
    let coordinator = newer.map { self.coordinator.sibling(for: $0) } ?? self.coordinator
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
    return (store, coordinator)
  }

  /// Whether the file is what belongs there: neither a copy of the local store, nor another store or
  /// none where the replica was a moment ago.
  ///
  /// - Returns: The store's model, if that has all of the group's and more.
  private func checkIdentity() throws -> ManagedObjectModel? {
    guard let kind = try? coordinator.kind(ofType: configuration.type) else { return nil }
    let url = configuration.url
    if url.isFileURL, !FileManager.default.fileExists(atPath: url.path) {
      guard expectedIdentifier != nil else { return nil }
      throw SyncError(
        .storeUnavailable,
        "\(url.path) was removed or moved away while it was in use; put it back, or remove the "
          + "replica and add it again to have it made anew", recovery: .wait)
    }
    let options = StoreOptions([StoreOptionKey.timeout: NSNumber(value: configuration.timeout)])
    let metadata = try kind.metadata(at: url, options: options)
    guard let identifier = metadata[StoreMetadataKey.uuid] as? String else { return nil }
    if identifier.caseInsensitiveCompare(localIdentifier) == .orderedSame {
      throw SyncError(
        .sameStore,
        "\(url.path) is a copy of the local store, with the same UUID; remove it and "
          + "add an empty replica", recovery: .person)
    }
    if let expectedIdentifier,
      identifier.caseInsensitiveCompare(expectedIdentifier) != .orderedSame
    {
      throw SyncError(
        .anotherStore,
        "\(url.path) is another store now (\(identifier)) than the replica was "
          + "(\(expectedIdentifier)); put the replica's file back, or remove the replica and add it "
          + "again to join the two", recovery: .person)
    }
    return newerModel(kind, metadata, options)
  }

  private func newerModel(
    _ kind: any StoreKind, _ metadata: [String: Any], _ options: StoreOptions
  ) -> ManagedObjectModel? {
    let model = coordinator.managedObjectModel
    guard !model.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata),
      let type = kind.storeClass as? any InPlaceMigrating.Type,
      // A model that cannot be read is said when the store is opened.
      let stored = (try? type.cachedModel(at: configuration.url, options: options)) ?? nil,
      stored.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata),
      let schema = try? SyncSchema(model: model, defaultPolicy: .lastWriter, policies: [:]),
      schema.isContained(in: stored)
    else { return nil }
    return stored
  }

  func description() -> PersistentStoreDescription {
    let description = PersistentStoreDescription(url: configuration.url)
    description.type = configuration.type
    description.shouldAddStoreAsynchronously = true
    description.shouldMigrateStoreAutomatically = configuration.migrates
    description.shouldInferMappingModelAutomatically = configuration.migrates
    // Others may use it, at the version it has: it is brought to a model that has all it has, or
    // stays as it is, whatever models lie beside this program.
    description.setOption(
      NSNumber(value: true), forKey: StoreOptionKey.refuseLossyMigration)
    description.timeout = configuration.timeout
    description.setOption(NSNumber(value: true), forKey: StoreOptionKey.historyTracking)
    description.setOption(NSNumber(value: true), forKey: StoreOptionKey.remoteChangeNotification)
    description.progressReport = progress
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
    let message = error.message.contains(place) ? error.message : "\(place): \(error.message)"
    switch error.code {
    case .persistentStoreIncompatibleVersionHash, .migrationMissingSourceModel,
      .migrationMissingMappingModel, .inferredMappingModel, .migration,
      .migrationConstraintViolation, .persistentStoreIncompatibleSchema,
      .entityMigrationPolicy:
      return SyncError(.incompatibleModel, message, recovery: .person)
    case .persistentStoreInvalidType, .persistentStoreTypeMismatch,
      .persistentStoreUnsupportedRequestType:
      return SyncError(.notAStore, message, recovery: .person)
    case .persistentStoreTimeout:
      return SyncError(.storeLocked, message, recovery: .wait)
    default:
      // SQLITE_READONLY, in its many kinds: somebody may hand the file over, or mount it again.
      let result = (error.userInfo["NSSQLiteErrorDomain"] as? NSNumber)?.intValue ?? 0
      return SyncError(
        result & 0xff == 8 ? .storeReadOnly : .storeUnavailable, message, recovery: .wait)
    }
  }
}

extension SyncError {
  /// What an error that a store threw means, in the words of sync.
  package init(describing error: any Error, at url: URL?) {
    self = ReplicaOpening.describe(error, at: url)
  }
}
