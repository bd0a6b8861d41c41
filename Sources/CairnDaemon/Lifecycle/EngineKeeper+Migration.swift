// Brings stores to the current version of the model.
import CairnControl
import CairnModel
import CairnSync
import Foundation
import Logging

extension EngineKeeper {
  private typealias Send = @Sendable (MigrateStores.Reply) async throws -> Void

  /// Says what bringing stores to the model does, and does it where that is asked for.
  ///
  /// - Throws: ``CairnControl/ControlError``, or what a migration throws; the store that it was about is as it
  ///   was then, and is served again.
  func migrate(
    _ parameters: MigrateStores.Parameters,
    _ send: @escaping @Sendable (MigrateStores.Reply) async throws -> Void
  ) async throws {
    try await turns.run { try await self.migrateOnce(parameters, send) }
  }

  /// Brings the local store to the model, which the engine that runs only reads.
  func follow() async {
    await turns.run {
      guard await !self.isStopped, let change = try? await self.host.current().following else {
        return
      }
      do {
        _ = try await self.migrateLocal(change) { _ in }
      } catch {
        // What keeps it is a problem of the engine that runs now.
      }
    }
  }

  private func migrateOnce(
    _ parameters: MigrateStores.Parameters, _ send: @escaping Send
  ) async throws {
    try checkGoesOn()
    let engine = try host.current()
    let changes = try await changes(of: parameters.name, engine)
    for change in changes { try await send(.init(plan: change.onWire)) }
    if parameters.dryRun ?? false { return }
    for change in changes { try change.check(allowDrop: parameters.allowDrop ?? false) }
    // Before the first, so that a group is not left half way.
    try await Blocking.run { for change in changes { try change.checkUsers() } }
    for change in changes where !change.isDone {
      let isLocal = change.store == StoreReference.localName
      // Links bring replicas along that need no decision, unless the configuration leaves them alone.
      let replicas = await engine.replicas
      let isFollowed = replicas[change.store]?.section.migrates ?? true
      if !isLocal, parameters.name == nil, change.goesByItself, isFollowed { continue }
      let kept =
        isLocal
        ? try await migrateLocal(change, send) : try await migrateReplica(change, send)
      let version = change.target.version.side.version
      try await send(.init(result: .init(store: change.store, version: version, kept: kept)))
    }
  }

  /// What one store, or all, need to be of the model as it is on the disk now.
  private func changes(
    of name: String?, _ engine: GroupEngine
  ) async throws -> [StoreModelChange] {
    let configuration = configuration
    let opening = LocalStoreOpening(
      configuration: configuration, ownership: ownership, reporter: reporter())
    let (target, local) = try await Blocking.run {
      let model = try opening.model()
      return (
        try ModelTarget(configuration.model, current: model), try opening.modelChange(to: model)
      )
    }
    if name == StoreReference.localName { return [local] }
    let sections = await engine.replicas.mapValues(\.section)
    if let name {
      guard let section = sections[name] else {
        throw OpenGroup.unknownStore(name, among: [StoreReference.localName] + sections.keys)
      }
      guard local.isDone else {
        throw ControlError.notPossible(
          code: "local-first",
          reason: "the local store comes first, which is of another version of the model")
      }
      let location = section.storeLocation
      return [
        try await Blocking.run { try StoreModelChange(of: name, at: location, to: target) }
      ]
    }
    let stopped = engine.decisions.stores
    var changes = [local]
    for (name, section) in sections.sorted(by: { $0.key < $1.key })
    // One that is in use at another version has all that this one has: it stays as others use it.
    where !local.isDone || stopped.contains(name) {
      let location = section.storeLocation
      let change = try? await Blocking.run {
        try StoreModelChange(of: name, at: location, to: target)
      }
      // The status says what is wrong with one that cannot be read.
      if let change { changes.append(change) }
    }
    return changes
  }

  private func migrateReplica(
    _ change: StoreModelChange, _ send: @escaping Send
  ) async throws -> String? {
    let engine = try host.current()
    return try await Self.reporting(send) { progress in
      try await engine.migrate(change, progress: progress)
    }
  }

  /// Migrates the local store; it can be read meanwhile.
  ///
  /// - Returns: The copy of the store as it was, where values were dropped.
  /// - Throws: What a migration throws; the store is as it was, and is served at the version that it has.
  private func migrateLocal(
    _ change: StoreModelChange, _ send: @escaping Send
  ) async throws -> String? {
    if try await host.current().following == nil { try await readOnly(change) }
    let reading = try? host.current()
    let configuration = configuration
    let reporter = reporter()
    let options = LocalStoreOpening(
      configuration: configuration, ownership: ownership, reporter: reporter
    ).options(durability: configuration.local.durability)
    let box = UncheckedOptions(options)
    isMigrating = true
    defer { isMigrating = false }
    do {
      let kept = try await Self.reporting(send) { progress in
        try await Blocking.run {
          try change.run(
            options: box.value, backups: configuration.backup.folder, at: Date()
          ) { fraction in
            reading?.migrated.withLock { $0 = fraction }
            reporter.progress("Migrating the local store, \(Int(fraction * 100)) %")
            progress(fraction)
          }
        }
      }
      change.log(kept: kept, to: logger)
      await exchangeAfterMigration(.follow)
      return kept
    } catch {
      let reason = ControlError(describing: error, store: change.store)?.description ?? "\(error)"
      await exchangeAfterMigration(.hold(change.failure(reason)))
      throw error
    }
  }

  /// Has the local store only read from now on.
  private func readOnly(_ change: StoreModelChange) async throws {
    let engine = host.withdraw(state: "migrating", reason: change.progressProblem.message)
    guard await engine?.stop() ?? true else {
      if let failure = await attempt() { await report(failure) }
      throw ControlError.notPossible(
        code: "cannot-migrate",
        reason: "nothing was done: a replica that does not answer keeps the local store in use")
    }
    if let failure = await attempt(.read) {
      if let again = await attempt() { await report(again) }
      throw failure
    }
  }

  private func exchangeAfterMigration(_ versions: GroupEngine.VersionPolicy) async {
    let reading = host.withdraw(
      state: "starting", reason: "the local store is opened after its migration")
    await reading?.stop()
    if isStopped { return }
    if let failure = await attempt(versions) { await report(failure) }
  }

  /// Sends how far a migration is.
  private static func reporting<Value: Sendable>(
    _ send: @escaping Send, _ work: (@escaping @Sendable (Double) -> Void) async throws -> Value
  ) async throws -> Value {
    let report = { @Sendable (fraction: Double) in
      try await send(.init(progress: StatusProgress(done: Int(fraction * 100), total: 100)))
    }
    return try await InterimReports.sending(report, from: work)
  }
}

/// Options of a store, which nothing changes once they are made.
// Unchecked: a dictionary of immutable values.
private struct UncheckedOptions: @unchecked Sendable {
  let value: [AnyHashable: Any]
  init(_ value: [AnyHashable: Any]) { self.value = value }
}
