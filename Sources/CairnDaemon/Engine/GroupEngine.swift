// The daemon's engine: one coordinator, the local store, and the replicas kept in step with it.

import Cairn
import CairnControl
import CairnCoordinator
import CairnModel
import CairnPlatform
import CairnStore
import CairnSync
import Foundation
import Logging

/// Runs one group of stores for the daemon.
///
/// An actor only to order starting, adding, removing and stopping; reads and writes of records run
/// on their contexts' own queues and do not hold it.
actor GroupEngine {
  var configuration: DaemonConfiguration
  let logger: Logger
  private let environment: SyncEnvironment
  private let ownership: StoreOwnership
  private let feed: EventFeed
  private let remembered: RememberedReplicas
  /// What is wrong with the local store.
  nonisolated let health: LocalHealth
  private var running: OpenGroup?
  /// The replicas by name, with where each was named.
  var replicas: [String: (section: ReplicaSection, origin: StoreDescription.Origin)] = [:]
  /// The names of replicas whose links rest until they are resumed.
  private(set) var paused: Set<String> = []
  private var tasks: [Task<Void, Never>] = []
  private var eventLog: Task<Void, Never>?

  init(
    configuration: DaemonConfiguration, ownership: StoreOwnership, feed: EventFeed, logger: Logger,
    environment: SyncEnvironment = .live
  ) {
    self.configuration = configuration
    self.feed = feed
    self.ownership = ownership
    self.logger = logger
    self.environment = environment
    remembered = RememberedReplicas(localStore: configuration.local.path)
    health = LocalHealth(path: URL(fileURLWithPath: configuration.local.path).path)
  }

  /// The open group.
  ///
  /// - Throws: ``CairnControl/ControlError`` while the local store is not open.
  func current() throws(ControlError) -> OpenGroup {
    guard let running else {
      throw ControlError.notReady(state: "starting", reason: "the local store is not open yet")
    }
    return running
  }

  // MARK: Life

  /// Opens the local store and the required replicas, and begins to serve and to sync.
  ///
  /// Returns when the daemon may call itself ready; other replicas go on opening by themselves.
  /// Long work reports progress at least every ten seconds.
  ///
  /// - Throws: ``EngineFailure`` when it cannot start now; the daemon stays up, degraded, and tries
  ///   again with a new engine if that may help.
  func start(reporter: EngineReporter) async throws {
    let opening = LocalStoreOpening(
      configuration: configuration, ownership: ownership, reporter: reporter)
    let model = try await Blocking.run {
      opening.announceRecovery()
      return try opening.model()
    }
    let coordinator = PersistentStoreCoordinator(managedObjectModel: model)
    // Opening can migrate, which takes long; Swift's own threads are for work that does not.
    let local = try await Blocking.run { try opening.open(in: coordinator) }
    let engine: SyncEngine
    do {
      engine = try SyncEngine(
        coordinator: coordinator, local: local, configuration: configuration.syncConfiguration,
        environment: environment)
    } catch let error as SyncError {
      throw EngineFailure(
        code: error.code.rawValue, reason: error.message, isTransient: error.recovery != .person)
    }
    running = OpenGroup(
      coordinator: coordinator, local: local, engine: engine, modelName: opening.modelName,
      health: health, readings: LocalReadings(path: configuration.local.path))
    // Listening begins before the first replica, so that no event is missed.
    let events = EngineEventLog(
      engine: engine, local: LocalProblems(store: local, health: health), reporter: reporter,
      feed: feed, logger: logger)
    eventLog = Task { await events.run() }
    tasks.append(lookSchedule(engine, reporter))
    let memory = try remembered.load()
    paused = memory.paused
    do {
      for section in configuration.replicas { try add(section, origin: .configuration) }
      for section in memory.replicas where replicas[section.name] == nil {
        try add(section, origin: .command)
      }
    } catch let error as SyncError {
      throw EngineFailure(
        code: error.code.rawValue, reason: error.message, isTransient: error.recovery != .person)
    }
    try await waitForRequired(engine)
    tasks.append(upkeep(engine))
  }

  func add(_ section: ReplicaSection, origin: StoreDescription.Origin) throws {
    let engine = try current().engine
    try engine.addReplica(
      section.replicaConfiguration, isPaused: paused.contains(section.name))
    replicas[section.name] = (section, origin)
  }

  /// Returns when every replica marked as required is open.
  private func waitForRequired(_ engine: SyncEngine) async throws {
    let names = configuration.replicas.filter { $0.isRequired && !paused.contains($0.name) }
      .map(\.name)
    guard !names.isEmpty else { return }
    do {
      try await engine.wait(for: names, timeout: .seconds(60))
    } catch let error as SyncError {
      // Open it is; what waits in it is in the status.
      if error.code == .recordsHeld { return }
      throw EngineFailure(
        code: error.code.rawValue, reason: "a required replica is not there: \(error.message)",
        isTransient: true)
    }
  }

  /// Whether the local store is written no more since its disk failed, and the disk takes writing again.
  ///
  /// Damage is another matter: a store that is read can be worth more than one that does not open.
  var needsReopening: Bool {
    get async {
      guard let local = running?.local, let failure = (local as? any FailureReporting)?.failure,
        failure.storeTrouble == .diskFailed
      else { return false }
      let path = configuration.local.path
      return (try? await Blocking.run { LocalHealth.canWrite(beside: path) }) == true
    }
  }

  /// The one timer for all stores: whether their files are still there.
  private func lookSchedule(_ engine: SyncEngine, _ reporter: EngineReporter) -> Task<Void, Never> {
    let interval = configuration.sync.pollInterval
    return Task {
      while (try? await Task.sleep(for: interval, tolerance: interval / 10)) != nil {
        // A file that hangs delays the next look by nothing.
        Task {
          let isReleased = (try? await Blocking.run { engine.lookAtStores() }) == true
          if await needsReopening { reporter.reopening() }
          guard isReleased else { return }
          ProcessConduct.returnFreeMemory()
        }
      }
    }
  }

  /// Purges the stores and compares every replica with the local store now and then, and logs what came
  /// of it.
  private func upkeep(_ engine: SyncEngine) -> Task<Void, Never> {
    let interval = configuration.sync.verifyEvery
    let logger = logger
    return Task {
      await engine.runUpkeep(verifyEvery: interval) { result in
        switch result {
        case .purged(let reports):
          for report in reports where report.count > 0 || report.problem != nil {
            var metadata: Logger.Metadata = [
              "store": .string(report.store), "transactions": "\(report.transactions)",
              "records": "\(report.records)", "bytes": "\(report.freedBytes)",
            ]
            metadata["errorCode"] = report.problem.map { .string($0.code.rawValue) }
            logger.event(
              .purged,
              "purged \(report.store)\(report.problem.map { ": \($0.message)" } ?? "")",
              metadata: metadata)
          }
        case .verified(let report):
          Verification.log(report.differences.count, in: report.replica, to: logger)
        }
      }
    }
  }

  /// How long a step of a link that runs is waited for when stopping; on a mount that hangs it never
  /// ends.
  private static let stopPatience = Duration.seconds(10)

  /// Finishes what runs, closes the stores.
  ///
  /// Called once, also after a failed start. A link whose store does not answer is left behind: what
  /// it has not committed is done again after the next start.
  ///
  /// Cancelled when the daemon must stop at once: it rolls back and returns.
  ///
  /// - Returns: Whether nothing of it goes on.
  @discardableResult
  func stop() async -> Bool {
    health.stop()
    for task in tasks { task.cancel() }
    tasks = []
    guard let running else { return true }
    self.running = nil
    let eventLog = eventLog
    let isStopped = await Blocking.wait(atMost: Self.stopPatience) {
      await running.engine.stop()
      // It writes down what was done last.
      eventLog?.cancel()
      await eventLog?.value
      try? await Blocking.run { try running.coordinator.remove(running.local) }
    }
    if !isStopped, !Task.isCancelled {
      let seconds = Self.stopPatience.components.seconds
      logger.event(
        .stopForced, "a replica has not answered for \(seconds) s; the daemon stops without it",
        metadata: ["seconds": "\(seconds)"])
    }
    return isStopped
  }

  /// Completes a small piece of real work through the same queues and stores as any caller's: its
  /// return feeds the watchdog.
  func probe() async {
    guard let running = try? current() else { return }
    // The same way as any caller's read: a context, its queue, the coordinator, the store.
    let context = running.newContext(named: "watchdog")
    guard let entity = running.coordinator.managedObjectModel.entities.first?.name else { return }
    let request = FetchRequest<ManagedObject>(entityName: entity)
    request.fetchLimit = 1
    request.affectedStores = [running.local]
    do {
      _ = try await context.perform { try context.count(for: request) }
    } catch {
      health.note(error)
    }
  }

  // MARK: Status and stores

  /// The model's name, the local store and the replicas.
  ///
  /// Never waits for a store.
  func status() -> EngineStatus {
    guard let running else { return EngineStatus() }
    return StatusReport(
      running: running, configuration: configuration, replicas: replicas.mapValues(\.section)
    ).status()
  }

  func stores() throws -> [StoreDescription] {
    let running = try current()
    let report = StatusReport(
      running: running, configuration: configuration, replicas: replicas.mapValues(\.section))
    return report.stores(origins: replicas.mapValues(\.origin))
  }

  /// Returns once the replica is remembered, without waiting for it to open.
  func addStore(_ parameters: AddStore.Parameters) async throws -> AddStore.Reply {
    let section = try ReplicaSection(parameters, local: configuration.local)
    var isNew = try isNew(section)
    if isNew {
      try await check(section)
      // Another client may have added it meanwhile.
      isNew = try self.isNew(section)
    }
    if isNew {
      try remember(commanded + [section], paused: paused)
      try add(section, origin: .command)
      logger.event(
        .storeAdded, "replica \(section.name) added",
        metadata: ["replica": .string(section.name)])
    }
    guard let store = try stores().first(where: { $0.name == section.name }) else {
      throw ControlError.storeNotFound(name: section.name)
    }
    return AddStore.Reply(store: store, added: isNew)
  }

  /// - Throws: ``ControlError`` when the name or the file is taken by another replica.
  private func isNew(_ section: ReplicaSection) throws -> Bool {
    if let old = replicas[section.name] {
      guard old.section.store == section.store, old.section.direction == section.direction else {
        throw ControlError.storeExists(
          name: section.name, reason: "it has another location or direction; remove it first")
      }
      return false
    }
    if let other = replicas.values.first(where: { $0.section.store == section.store }) {
      throw ControlError.storeExists(
        name: other.section.name, reason: "the same file is a replica under this name")
    }
    return true
  }

  /// Refuses what can never be a replica, before anything is written down; a file that hangs is the
  /// link's business.
  func check(_ section: ReplicaSection) async throws {
    let engine = try current().engine
    do {
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await engine.check(section.replicaConfiguration) }
        group.addTask { try await Task.sleep(for: .seconds(5)) }
        defer { group.cancelAll() }
        try await group.next()
      }
    } catch let error as SyncError {
      throw ControlError.storeInvalid(
        name: section.name, field: "location", reason: error.message)
    }
  }

  func removeStore(named name: String) async throws {
    guard let replica = replicas[name] else {
      throw OpenGroup.unknownStore(name, among: Array(replicas.keys))
    }
    guard replica.origin == .command else {
      throw ControlError.storeInvalid(
        name: name, field: "name",
        reason: "the configuration names it; take it out there, then: cairnctl reload")
    }
    try remember(
      commanded.filter { $0.name != name }, paused: paused.subtracting([name]))
    try await remove(name)
    logger.event(
      .storeRemoved, "replica \(name) removed", metadata: ["replica": .string(name)])
  }

  /// Takes a replica out of the group.
  func remove(_ name: String) async throws {
    replicas[name] = nil
    try await end(name)
  }

  /// Writes down that names belong to the configuration from now on, and that others are gone.
  func forget(_ named: Set<String>, and removed: Set<String>) throws {
    let sections = commanded.filter { !named.contains($0.name) }
    let gone = paused.intersection(removed.subtracting(named))
    if sections.count == commanded.count, gone.isEmpty { return }
    try remember(sections, paused: paused.subtracting(gone))
  }

  /// Ends a link; one whose file hangs ends when the file answers, and keeps nobody waiting.
  private func end(_ name: String) async throws {
    let engine = try current().engine
    await Blocking.wait(atMost: .seconds(10)) { try? await engine.removeReplica(named: name) }
  }

  /// Pauses or resumes links and keeps that over restarts.
  func rest(_ names: [String], _ isResting: Bool) throws {
    let engine = try current().engine
    try remember(
      commanded, paused: isResting ? paused.union(names) : paused.subtracting(names))
    if isResting { try engine.pause(names: names) } else { try engine.resume(names: names) }
  }

  /// The replicas that were added by command.
  private var commanded: [ReplicaSection] {
    replicas.values.filter { $0.origin == .command }.map(\.section)
  }

  /// Writes down what must survive a restart, before it is done.
  private func remember(_ sections: [ReplicaSection], paused: Set<String>) throws {
    try remembered.save(replicas: sections.sorted { $0.name < $1.name }, paused: paused)
    self.paused = paused
  }
}
