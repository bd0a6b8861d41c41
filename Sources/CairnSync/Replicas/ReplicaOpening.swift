import CairnCoordinator
import CairnModel
import CairnStore
import Foundation

/// Opens a replica's store through the coordinator without blocking the caller.
struct ReplicaOpening: Sendable {
  let coordinator: PersistentStoreCoordinator
  let configuration: ReplicaConfiguration
  /// The other stores of the group.
  let neighbours: [ReplicaInspection.Neighbour]
  /// The UUID that the replica had when it was open before, also before a restart; nil for one that never was.
  let expectedIdentifier: String?
  let progress: @Sendable (Double) -> Void
  /// As in ``ReplicaInspection/olderVersions``.
  var olderVersions = LeftVersions(in: [:])

  /// Opens the store in the group's coordinator; one at a version of the model that has all of the
  /// group's in a coordinator with that version.
  ///
  /// Such a store is left at its version: others use it. An older one that has no more than the group's is
  /// brought to that, so that its rules hold; where its rows do not allow that, it is left as well.
  ///
  /// When the task is cancelled, the call waits no longer for a file that hangs; it closes a store that the
  /// coordinator opens afterwards.
  ///
  /// - Throws: ``SyncError``, with who has to do something.
  func open() async throws -> (store: PersistentStore, coordinator: PersistentStoreCoordinator) {
    let other = try await inspect(refusesOpenStore: true, patience: .seconds(1))
    guard let other else { return try await open(in: coordinator) }
    if other.isOlder, configuration.migrates {
      do {
        return try await open(in: coordinator)
      } catch {
        // What else is wrong with the store is wrong at its own version, too.
        if Task.isCancelled { throw error }
      }
    }
    return try await open(in: coordinator.sibling(for: other.model))
  }

  private func open(
    in coordinator: PersistentStoreCoordinator
  ) async throws -> (store: PersistentStore, coordinator: PersistentStoreCoordinator) {
    let url = configuration.url
    try await Abandonable.run { (end: @escaping @Sendable (Result<Void, any Error>) -> Bool) in
      coordinator.addPersistentStore(with: description()) { _, error in
        let result: Result<Void, any Error> =
          error.map { .failure(described($0)) } ?? .success(())
        if end(result) { return }
        // No caller waits for it any more.
        if let late = coordinator.persistentStore(for: url) { try? coordinator.remove(late) }
      }
    }
    guard let store = coordinator.persistentStore(for: url) else {
      throw SyncError(
        .storeUnavailable, "\(url.storePlace) was opened and removed at once", recovery: .retry)
    }
    return (store, coordinator)
  }

  /// Whether what lies there can be the replica; see ``ReplicaInspection``.
  ///
  /// - Parameters:
  ///   - refusesOpenStore: Whether a file that is open already is an error.
  ///   - patience: How long to look through the file for damage.
  @discardableResult
  func inspect(
    refusesOpenStore: Bool = false, patience: Duration
  ) async throws -> ReplicaInspection.OtherVersion? {
    let inspection = ReplicaInspection(
      coordinator: coordinator, configuration: configuration, neighbours: neighbours,
      expectedIdentifier: expectedIdentifier, patience: patience, olderVersions: olderVersions)
    // A queue of its own: a mount that hangs must not take a thread from other replicas.
    let queue = DispatchQueue(label: "cairn.sync.opening.\(configuration.name)")
    return try await Abandonable.run {
      (end: @escaping @Sendable (Result<ReplicaInspection.OtherVersion?, any Error>) -> Bool) in
      queue.async {
        let result = Result {
          let other = try inspection.run()
          // The coordinator follows links and keeps others waiting: only a mount that has answered is
          // asked about.
          if refusesOpenStore { try checkIsNotOpen() }
          return other
        }
        _ = end(result.mapError { described($0) })
      }
    }
  }

  private func checkIsNotOpen() throws {
    guard let store = coordinator.persistentStore(for: configuration.url) else { return }
    throw SyncError(
      .duplicateReplica,
      "\(configuration.url.storePlace) is open already as the store \(store.identifier ?? "")",
      recovery: .person)
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
    for (key, value) in configuration.options { description.setOption(value.object, forKey: key) }
    description.setOption(NSNumber(value: true), forKey: StoreOptionKey.historyTracking)
    description.setOption(NSNumber(value: true), forKey: StoreOptionKey.remoteChangeNotification)
    description.progressReport = progress
    return description
  }

  /// Says of an error what it means for the link.
  ///
  /// Where a database had the replica before, a schema that is no whole store may be one that is just being restored, table by
  /// table: that ends by itself.
  private func described(_ error: any Error) -> SyncError {
    let described = Self.describe(error, at: configuration.url)
    guard let code = (error as? CoreDataError)?.code, !configuration.url.isFileURL,
      expectedIdentifier != nil,
      [
        .persistentStoreInvalidType, .persistentStoreTypeMismatch,
        .persistentStoreIncompatibleSchema,
      ].contains(code)
    else { return described }
    return SyncError(described.code, described.message, recovery: .wait, path: described.path)
  }

  /// Says of any error what it means for a link.
  static func describe(_ error: any Error, at url: URL?) -> SyncError {
    if let error = error as? SyncError { return error }
    if error is CancellationError {
      return SyncError(.cancelled, "stopped", recovery: .retry)
    }
    let place = url?.storePlace ?? "the store"
    guard let error = error as? CoreDataError else {
      return SyncError(.failed, "\(place): \(error)", recovery: .wait)
    }
    // What tells of a database names it by itself, in fewer words than its URL has; what the other store of a link
    // throws names that one.
    let places = [place, error.storePath].compactMap(\.self)
    let isNamed =
      url?.isFileURL == false || places.contains { error.message.contains($0) }
    let message = isNamed ? error.message : "\(place): \(error.message)"
    func described(_ code: SyncError.Code, _ recovery: SyncError.Recovery) -> SyncError {
      SyncError(code, message, recovery: recovery, path: error.storePath)
    }
    switch error.storeTrouble {
    case .incompatibleModel: return described(.incompatibleModel, .person)
    case .notAStore: return described(.notAStore, .person)
    case .locked: return described(.storeLocked, .wait)
    // The link tries these again: an operator may change the file's mode, mount its disk, make room
    // or bring a copy back.
    case .readOnly: return described(.storeReadOnly, .wait)
    case .diskFull: return described(.diskFull, .wait)
    case .diskFailed: return described(.diskFailed, .wait)
    case .damaged: return described(.storeDamaged, .wait)
    case .unavailable: return described(.storeUnavailable, .wait)
    }
  }
}

extension SyncError {
  /// What an error that a store threw means, in the words of sync.
  package init(describing error: any Error, at url: URL?) {
    self = ReplicaOpening.describe(error, at: url)
  }
}
