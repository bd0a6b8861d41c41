// The daemon's engine: one coordinator, the local store, and the replicas kept in step with it.

import Cairn
import CairnControl
import CairnCoordinator
import CairnModel
import CairnPlatform
import CairnStore
import CairnSync
import Dispatch
import Foundation
import Logging
import Synchronization

/// Runs one group of stores for the daemon.
///
/// An actor only to order starting, adding, removing and stopping; reads and writes of records run
/// on their contexts' own queues and do not hold it.
actor GroupEngine {
  var configuration: DaemonConfiguration { didSet { show() } }
  let logger: Logger
  let environment: SyncEnvironment
  private let ownership: StoreOwnership
  private let feed: EventFeed
  let remembered: RememberedReplicas
  /// What is wrong with the local store.
  nonisolated let health: LocalHealth
  private var running: OpenGroup? { didSet { show() } }
  /// What has to be decided about the versions of stores.
  nonisolated let decisions = ModelDecisions()
  /// What is counted of the stores.
  nonisolated let figures = GroupFigures()
  private let versions: VersionPolicy
  let troubles: ReplicaTroubles
  private var found: EngineProblems?
  /// What the local store is migrated by, while it is only read.
  private(set) var following: StoreModelChange? { didSet { show() } }
  /// How far that is.
  nonisolated let migrated = Mutex(0.0)
  /// The replicas by name, with where each was named.
  var replicas: [String: (section: ReplicaSection, origin: StoreDescription.Origin)] = [:] {
    didSet { show() }
  }
  /// What the status is made of, which waits for nothing that the actor is busy with.
  private nonisolated let shown: Mutex<StatusReport>
  /// The names of replicas whose links rest until they are resumed.
  var paused: Set<String> = []
  /// The replicas that are being migrated, with how far that is.
  nonisolated let migrating = Mutex<[String: Double]>([:])
  /// Where their stores are.
  var migratingPlaces: [String: ReplicaSection.Store] = [:]
  /// Why replicas could not be migrated without being asked.
  var failedMigrations: [String: String] = [:]
  private var tasks: [Task<Void, Never>] = []
  private var lookTimer: (any DispatchSourceTimer)?
  private var eventLog: Task<Void, Never>?

  /// What becomes of a local store that is of another version of the model.
  enum VersionPolicy: Sendable, Equatable {
    /// It is migrated where nothing is lost, and served at the version that it has where a person decides.
    case follow
    /// It is served at the version that it has, also for a reason of its own.
    case hold(StatusProblem)
    /// It is only read, since it is about to be migrated.
    case read
  }

  init(
    configuration: DaemonConfiguration, ownership: StoreOwnership, feed: EventFeed, logger: Logger,
    environment: SyncEnvironment = .live, versions: VersionPolicy = .follow,
    troubles: ReplicaTroubles = ReplicaTroubles()
  ) {
    self.troubles = troubles
    self.versions = versions
    self.configuration = configuration
    shown = Mutex(StatusReport(configuration: configuration))
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
      if let following { throw Self.migrating(following) }
      throw ControlError.notReady(state: "starting", reason: "the local store is not open yet")
    }
    return running
  }

  /// Lets a call in.
  ///
  /// - Parameter reads: Whether it does no more than read the local store.
  /// - Throws: ``CairnControl/ControlError`` for another one while that store is only read.
  func admit(reads: Bool) throws(ControlError) {
    if let following, !reads { throw Self.migrating(following) }
  }

  private static func migrating(_ change: StoreModelChange) -> ControlError {
    .notReady(state: "migrating", reason: change.progressProblem.message)
  }

  // MARK: Life

  /// Opens the local store, and begins to serve and to sync.
  ///
  /// Replicas go on opening by themselves. Long work reports progress at least every ten seconds.
  ///
  /// - Throws: ``EngineFailure`` when it cannot start now; the daemon stays up, degraded, and tries
  ///   again with a new engine if that may help.
  func start(reporter: EngineReporter) async throws {
    let opening = LocalStoreOpening(
      configuration: configuration, ownership: ownership, reporter: reporter)
    let model = try await Blocking.run {
      // Before anything is read of a store that is another daemon's.
      try opening.takeStore()
      opening.announceRecovery()
      return try opening.model()
    }
    let path = configuration.local.path
    let isNew = try await Blocking.run { !FileManager.default.fileExists(atPath: path) }
    let (coordinator, local) = try await open(model, opening)
    if isNew {
      logger.event(
        .localStoreMade, "\(path) was not there and is made", metadata: ["path": .string(path)])
    }
    let engine: SyncEngine
    do {
      engine = try SyncEngine(
        coordinator: coordinator, local: local, configuration: configuration.syncConfiguration,
        environment: environment, knownModels: { opening.packagedModels })
    } catch {
      // What sync never wrote to has no names of records, and is not read meanwhile.
      if following != nil { return try coordinator.remove(local) }
      guard let error = error as? SyncError else { throw error }
      throw EngineFailure(
        code: error.code.rawValue, reason: error.message, isTransient: error.recovery != .person)
    }
    let group = OpenGroup(
      coordinator: coordinator, local: local, engine: engine,
      configuredModel: ConfiguredModel(configuration.model, model),
      problems: LocalProblems(store: local, health: health, decisions: decisions),
      readings: LocalReadings(path: configuration.local.path), figures: figures)
    running = group
    if following != nil { return }
    // Before the first replica, so that no event is missed.
    let happenings = engine.events()
    let problems = EngineProblems(
      local: group.problems, decisions: decisions, troubles: troubles)
    found = problems
    let events = EngineEventLog(
      engine: engine, problems: problems, figures: figures, reporter: reporter, feed: feed,
      logger: logger
    ) { [weak self] name in await self?.decide(name) }
    let look = StoreLook(group: group) { reporter.reopening() }
    lookTimer = look.timer(every: configuration.sync.pollInterval)
    lookTimer?.activate()
    let memory = try remembered.load()
    paused = memory.paused
    do {
      for section in configuration.replicas { try add(section, origin: .configuration) }
      for section in memory.replicas where replicas[section.name] == nil {
        try add(section, origin: .command)
      }
      troubles.keep(only: Set(replicas.keys))
      // On a full disk they are forgotten the next time.
      try? engine.forgetRemovedReplicas()
    } catch let error as SyncError {
      throw EngineFailure(
        code: error.code.rawValue, reason: error.message, isTransient: error.recovery != .person)
    }
    eventLog = Task { await events.run(happenings) }
    tasks.append(upkeep(engine))
  }

  /// Opens the local store with the model, or with the version that it has.
  private func open(
    _ model: ManagedObjectModel, _ opening: LocalStoreOpening
  ) async throws -> (PersistentStoreCoordinator, PersistentStore) {
    let coordinator = PersistentStoreCoordinator(managedObjectModel: model)
    do {
      // Reading a left log takes long; Swift's own threads are for work that does not.
      return (coordinator, try await Blocking.run { try opening.open(in: coordinator) })
    } catch is OtherModelVersion {
      let change = try await Blocking.run { try opening.modelChange(to: model) }
      if let strangeness = change.strangeness { throw strangeness }
      decisions.note(change)
      switch versions {
      case .follow: following = change.goesByItself ? change : nil
      case .hold(let problem): decisions.note(problem, of: change.store)
      case .read: following = change
      }
      let old = PersistentStoreCoordinator(managedObjectModel: change.old.model)
      let isRead = following != nil
      do {
        return (old, try await Blocking.run { try opening.open(in: old, isReadOnly: isRead) })
      } catch is OtherModelVersion {
        throw EngineFailure(
          code: StoreModelChange.code, reason: "another program is migrating the local store",
          isTransient: true)
      }
    }
  }

  func add(_ section: ReplicaSection, origin: StoreDescription.Origin) throws {
    let engine = try current().engine
    try engine.addReplica(
      section.replicaConfiguration, isPaused: paused.contains(section.name))
    replicas[section.name] = (section, origin)
  }

  /// The replicas that are required and not open, or not known to be, each with why; without those that are paused,
  /// which do not come by themselves.
  var missingReplicas: [StatusProblem] {
    get async {
      guard let engine = running?.engine,
        let status = try? await Blocking.run({ try engine.status() })
      else { return [] }
      return status.replicas.filter { $0.phase != .paused }.compactMap(troubles.absence)
    }
  }

  /// Whether opening the local store anew would help it.
  var needsReopening: Bool {
    get async {
      guard let running else { return false }
      return (try? await Blocking.run { running.needsReopening }) == true
    }
  }

  /// Purges the stores and compares every replica with the local store, each when it is due, and logs what
  /// came of it.
  private func upkeep(_ engine: SyncEngine) -> Task<Void, Never> {
    let interval = configuration.sync.verifyEvery
    let (logger, figures, group) = (logger, figures, running)
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
            let rest =
              report.waitsForReaders
              ? "; the file is cut to its size when programs that read in it have ended" : ""
            logger.event(
              .purged,
              "purged \(report.store)\(report.problem.map { ": \($0.message)" } ?? "")\(rest)",
              metadata: metadata)
          }
        case .verified(let report):
          figures.checked(report.replica, found: report.differences.count)
          Verification.log(report.differences.count, in: report.replica, to: logger)
        }
        // Comparisons read what is in tables; damage can be elsewhere.
        if interval > .zero, let group { await Verification.checkLocal(of: group, every: interval) }
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
    following = nil
    lookTimer?.cancel()
    lookTimer = nil
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

  /// What the watchdog looks at; nil while no store is open.
  var watched: WatchedGroup? { running.map(WatchedGroup.init) }

  /// An error with the name of the replica whose file it tells of; any other as it is.
  func named(_ error: any Error) -> any Error {
    guard let error = error as? CoreDataError, let path = error.storePath,
      let name = replicas.first(where: { $0.value.section.store.url.storePlace == path })?.key
    else { return error }
    return ControlError(error, store: name) ?? error
  }

  // MARK: Status

  /// Returns when each replica has been tried once; one that hangs is not waited for any longer than `limit`.
  func tryReplicas(atMost limit: Duration) async {
    let end = ContinuousClock.now + limit
    while ContinuousClock.now < end, let status = try? running?.engine.status(),
      status.replicas.contains(where: { $0.phase == .opening && $0.lastError == nil })
    {
      guard (try? await Task.sleep(for: .milliseconds(10))) != nil else { return }
    }
  }

  /// What is wrong although it runs.
  var problems: [StatusProblem] {
    if let following { return [following.progressProblem] }
    guard let found, let status = try? running?.engine.status() else { return [] }
    return found.all(of: status)
  }

  /// The model's name, the local store and the replicas.
  ///
  /// Never waits for a replica, or for what the actor does.
  nonisolated func status() -> EngineStatus { status(shown.withLock { $0 }) }

  /// ``status()``, where it needs to read no store now; nil otherwise.
  nonisolated var statusAtHand: EngineStatus? {
    let report = shown.withLock { $0 }
    guard let readings = report.running?.readings else { return status(report) }
    let files = readings.files
    return readings.areCurrent(of: files) ? status(report, files) : nil
  }

  private nonisolated func status(
    _ report: StatusReport, _ files: LocalReadings.Files? = nil
  ) -> EngineStatus {
    report.status(
      migrated: migrated.withLock { $0 }, migrating: migrating.withLock { $0 }, files: files)
  }

  /// What the status is made of without an engine: the stores that this one has or had.
  nonisolated var closedReport: StatusReport {
    var report = shown.withLock { $0 }
    report.running = nil
    return report
  }

  private func show() {
    troubles.require(Set(replicas.values.filter(\.section.isRequired).map(\.section.name)))
    let report = StatusReport(
      configuration: configuration, running: running, following: following,
      replicas: replicas.mapValues(\.section),
      commanded: Set(replicas.filter { $0.value.origin == .command }.keys))
    shown.withLock { $0 = report }
  }
}
