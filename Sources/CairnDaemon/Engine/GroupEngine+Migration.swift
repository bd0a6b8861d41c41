// The versions of replicas.

import CairnControl
import CairnModel
import CairnSync
import Foundation

extension GroupEngine {
  /// Finds out what has to be decided about a replica whose link was stopped by its version; has one that
  /// needs no decision migrated.
  func decide(_ name: String) async {
    guard let location = replicas[name]?.section.storeLocation, let group = try? current() else {
      return
    }
    let (model, section) = (group.coordinator.managedObjectModel, configuration.model)
    let change = try? await Blocking.run {
      try StoreModelChange(of: name, at: location, to: ModelTarget(section, current: model))
    }
    // The link's own words are as good where the store cannot be read.
    guard let change else { return }
    // While the local store stays at an older version than the configuration names, no replica goes back to that.
    let configured = group.configuredModel
    if configured.differs(from: model), !configured.differs(from: change.old.model) {
      return decisions.note(change.waitingForLocal, of: name)
    }
    decisions.note(change)
    guard change.goesByItself else { return }
    if replicas[name]?.section.migrates == false { return decisions.note(change.refusal, of: name) }
    if let reason = failedMigrations[name] {
      return decisions.note(change.failure(reason), of: name)
    }
    // A link takes no way through other versions, and no mapping model.
    Task { await bring(change) }
  }

  /// Migrates a replica without being asked.
  private func bring(_ change: StoreModelChange) async {
    do {
      _ = try await migrate(change) { _ in }
    } catch ControlError.busy {
      // A person has asked for it meanwhile.
    } catch {
      let reason = ControlError(describing: error, store: change.store)?.description ?? "\(error)"
      failedMigrations[change.store] = reason
    }
  }

  /// Migrates a replica, whose link rests meanwhile.
  ///
  /// - Throws: ``CairnControl/ControlError``, or what a migration throws; the store is as it was then, and
  ///   the link goes on.
  func migrate(
    _ change: StoreModelChange, progress: @escaping @Sendable (Double) -> Void
  ) async throws -> String? {
    guard let replica = replicas[change.store] else {
      throw OpenGroup.unknownStore(change.store, among: Array(replicas.keys))
    }
    let isFirst = migrating.withLock { migrating in
      migrating.updateValue(0, forKey: change.store) == nil
    }
    guard isFirst else { throw Self.isMigrating(change.store) }
    migratingPlaces[change.store] = replica.section.store.place
    defer {
      migratingPlaces[change.store] = nil
      migrating.withLock { $0[change.store] = nil }
    }
    try await end(change.store, replacedBy: replica.section)
    guard try !current().engine.status().replicas.contains(where: { $0.name == change.store })
    else {
      throw ControlError.notPossible(
        code: "cannot-migrate",
        reason: "nothing was done: \(change.store) does not answer, and keeps its store in use")
    }
    let backups = configuration.backup.folder
    let outcome: Result<String?, any Error>
    do {
      let kept = try await Blocking.run {
        try change.run(options: [:], backups: backups, at: Date()) { fraction in
          self.migrating.withLock { $0[change.store] = fraction }
          progress(fraction)
        }
      }
      outcome = .success(kept)
    } catch {
      outcome = .failure(error)
    }
    decisions.forget(change.store)
    // An operator may have removed the replica meanwhile, or paused it.
    let isBack = Result {
      if let still = replicas[change.store] { try add(still.section, origin: still.origin) }
    }
    let kept = try outcome.get()
    failedMigrations[change.store] = nil
    change.log(kept: kept, to: logger)
    try isBack.get()
    return kept
  }

  /// Refuses another replica under the name or at the place of one that is being migrated.
  ///
  /// The migration alone may open that store. An operator can remove the replica meanwhile, and the migration goes on.
  ///
  /// - Throws: ``CairnControl/ControlError/busy(reason:)``.
  func checkIsNotMigrating(_ section: ReplicaSection) throws {
    let names = migrating.withLock { Set($0.keys) }
    if names.contains(section.name) { throw Self.isMigrating(section.name) }
    let place = section.store.place
    if let name = names.first(where: { migratingPlaces[$0] == place }) {
      throw Self.isMigrating(name)
    }
  }

  private static func isMigrating(_ name: String) -> ControlError {
    .busy(reason: "\(name) is being migrated")
  }
}
