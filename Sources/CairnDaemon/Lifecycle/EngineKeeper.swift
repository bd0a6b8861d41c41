// Starts engines, exchanges them and stops them.
import CairnControl
import CairnModel
import CairnPlatform
import CairnSync
import Foundation
import Logging

/// Keeps an engine running for the configuration as it is now.
actor EngineKeeper {
  private(set) var configuration: DaemonConfiguration
  let ownership: StoreOwnership
  let host: EngineHost
  private let conductor: DaemonConductor
  private let feed: EventFeed
  let logger: Logger
  private let environment: SyncEnvironment
  /// Starting, exchanging and stopping suspend.
  let turns = OneAtATime()
  /// Why no engine is started any more; nil while one may be.
  private(set) var ending: String?
  private var pace = ReopeningPace()
  /// What was wrong with replicas, from one engine to the next.
  private let troubles = ReplicaTroubles()
  /// What a drain has answered.
  private var drained: DrainDaemon.Reply?

  init(
    configuration: DaemonConfiguration, ownership: StoreOwnership, host: EngineHost,
    conductor: DaemonConductor, feed: EventFeed = EventFeed(), logger: Logger,
    environment: SyncEnvironment = .live
  ) {
    self.configuration = configuration
    self.ownership = ownership
    self.host = host
    self.conductor = conductor
    self.feed = feed
    self.logger = logger
    self.environment = environment
    host.prepare(configuration)
  }

  /// Tries to start an engine, unless one runs.
  ///
  /// - Returns: whether one runs now.
  func start() async -> Bool { await turns.run { await self.startOnce() } }

  /// Goes on with another configuration.
  ///
  /// Changes the replicas of the engine that runs, or exchanges the engine; where there is none, one is
  /// tried.
  ///
  /// - Parameter exchanging: Whether it takes another engine.
  /// - Throws: What keeps the new configuration from working; the old one is in use then.
  func take(_ new: DaemonConfiguration, exchanging: Bool) async throws {
    try await turns.run {
      guard let engine = try? self.host.current() else {
        await self.set(new)
        _ = await self.startOnce()
        return
      }
      // One that only reads has no replicas.
      let isReading = await engine.following != nil
      guard exchanging, !isReading else {
        if !isReading { try await engine.take(new) }
        return await self.set(new)
      }
      try await self.exchange(for: new, reason: "the configuration is being reloaded")
    }
  }

  /// Whether the engine works with another model than the file of the configured one holds.
  func isModelChanged(to model: ManagedObjectModel) async throws -> Bool {
    guard let group = try? await host.current().current() else { return false }
    return try await Blocking.run { group.configuredModel.differs(from: model) }
  }

  /// Whether the local store is being migrated, which whatever ends it leaves as if it had not begun.
  var isMigrating = false

  var isStopped: Bool { ending != nil }

  /// - Throws: ``CairnControl/ControlError/notReady(state:reason:)`` where no engine is started any more.
  func checkGoesOn() throws(ControlError) {
    if let ending { throw .notReady(state: "draining", reason: ending) }
  }

  /// Stops the engine for good.
  func stop() async {
    let reason = "the daemon is stopping"
    ending = reason
    await Blocking.wait(atMost: isMigrating ? .seconds(2) : .seconds(40)) {
      await self.turns.run {
        let engine = self.host.withdraw(
          state: "draining", reason: reason)
        await engine?.stop()
      }
    }
  }

  /// Finishes what is under way, and starts no engine again.
  ///
  /// - Parameter limit: For bringing what is committed to the replicas.
  func drain(within limit: Duration) async throws -> DrainDaemon.Reply {
    try await turns.run {
      if let drained = await self.drained { return drained }
      return try await self.drainOnce(within: limit)
    }
  }

  private func drainOnce(within limit: Duration) async throws -> DrainDaemon.Reply {
    try checkGoesOn()
    let reason = "it was drained for a planned shutdown; systemctl restart cairnd goes on"
    ending = reason
    let engine = host.close(state: "draining", reason: reason)
    await conductor.handle(.drained)
    let reply = await engine?.bringAll(within: limit) ?? DrainDaemon.Reply()
    _ = host.withdraw(state: "draining", reason: reason)
    await engine?.stop()
    let behind = reply.replicas.count { $0.reason != nil }
    let lacking = Readable.count(behind, "replica lacks", "replicas lack")
    logger.event(
      .drained, "drained for a planned shutdown; \(lacking) something",
      metadata: ["count": "\(behind)"])
    drained = reply
    return reply
  }

  /// Opens the local store anew after its disk has failed or its log was removed.
  private func reopen() async {
    await turns.run {
      guard let engine = try? self.host.current(), await engine.needsReopening,
        await self.isTimeToReopen()
      else { return }
      try? await self.exchange(
        for: self.configuration,
        reason: "the local store is opened anew, since it could not be written")
    }
  }

  /// Puts a backup in the place of the local store, or looks only.
  ///
  /// - Throws: ``CairnControl/ControlError``; the store is as it was then, and is open again.
  func restore(
    _ parameters: RestoreStore.Parameters, progress: @escaping StoreRestore.Report = { _ in }
  ) async throws -> RestoreStore.Reply {
    try await turns.run {
      try await self.checkGoesOn()
      let configuration = await self.configuration
      let opening = LocalStoreOpening(
        configuration: configuration, ownership: self.ownership, reporter: await self.reporter())
      let restore = try await Blocking.run {
        try StoreRestore(
          parameters.backup, configuration: configuration, model: try opening.model(),
          progress: progress)
      }
      let bringers = self.host.status().replicas.filter { $0.direction != .push }.map {
        RestoreStore.Bringer(name: $0.name, behind: $0.lagTransactions)
      }
      if parameters.dryRun ?? false { return restore.report(bringers) }
      return restore.report(bringers, kept: try await self.replace(restore))
    }
  }

  /// Stops the engine, replaces its store and starts another one.
  private func replace(_ restore: StoreRestore) async throws -> String? {
    let staging = try await Blocking.run { try restore.stage() }
    defer { try? FileManager.default.removeItem(atPath: staging) }
    let engine = host.withdraw(state: "starting", reason: "a backup is being restored")
    guard await engine?.stop() ?? true else {
      if let failure = await attempt() { await report(failure) }
      throw ControlError.notPossible(
        code: "restore-failed",
        reason: "nothing was restored: a replica that does not answer keeps the local store in use")
    }
    let kept: String?
    do {
      kept = try await Blocking.run { try restore.replace(from: staging, now: Date()) }
    } catch {
      if let failure = await attempt() { await report(failure) }
      throw error
    }
    let failure = await attempt()
    if failure?.isTransient ?? true {
      logger.event(
        .backupRestored, "the backup \(restore.path) was put in the place of the local store",
        metadata: ["path": .string(restore.path)])
      // The daemon tries again by itself, as after any start.
      if let failure { await report(failure) }
      return kept
    }
    do {
      try await Blocking.run { try restore.takeBack(kept, now: Date()) }
    } catch {
      if let again = await attempt() { await report(again) }
      throw error
    }
    if let again = await attempt() { await report(again) }
    let state =
      kept == nil
      ? "its copy is gone again, as no store was there" : "the store that was there is back"
    throw ControlError.notPossible(
      code: "restore-failed",
      reason: "the backup does not open, and \(state): \(failure?.reason ?? "")")
  }

  private func isTimeToReopen() -> Bool {
    !isStopped && pace.begins(now: MonotonicClock.nanoseconds)
  }

  private func set(_ new: DaemonConfiguration) { configuration = new }

  private func exchange(for new: DaemonConfiguration, reason: String) async throws {
    let old = configuration
    let engine = host.withdraw(state: "starting", reason: reason)
    await engine?.stop()
    configuration = new
    guard let failure = await attempt() else { return }
    configuration = old
    if let again = await attempt() { await report(again) }
    throw failure
  }

  private func startOnce() async -> Bool {
    if isStopped || Task.isCancelled { return false }
    if (try? host.current()) != nil { return true }
    guard let failure = await attempt() else { return true }
    if !isStopped, !Task.isCancelled { await report(failure) }
    return false
  }

  /// - Parameter versions: What becomes of a local store of another version of the model.
  /// - Returns: why there is no engine; nil when there is.
  func attempt(_ versions: GroupEngine.VersionPolicy = .follow) async -> EngineFailure? {
    // A new engine for each attempt.
    let engine = GroupEngine(
      configuration: configuration, ownership: ownership, feed: feed, logger: logger,
      environment: environment, versions: versions, troubles: troubles)
    do {
      try await engine.start(reporter: reporter())
      host.install(engine)
      await waitForRequired(engine)
      // All is well again when replicas are, too.
      if await conductor.isDegraded { await engine.tryReplicas(atMost: .seconds(2)) }
      await conductor.handle(.engineStarted(problems: engine.problems))
      if let change = await engine.following {
        await conductor.handle(.summary("migrating", problems: [change.progressProblem]))
        if versions == .follow { Task { await self.follow() } }
      }
      return nil
    } catch {
      await engine.stop()
      return Self.failure(of: error)
    }
  }

  /// Holds READY back, and nothing else, until the required replicas are open, or long enough: what is missing then is
  /// in the status, and that ends by itself.
  ///
  /// A daemon that is up has served before, and goes on.
  private func waitForRequired(_ engine: GroupEngine) async {
    let end =
      ContinuousClock.now
      + (await conductor.isUp ? .seconds(2) : configuration.sync.requiredWait)
    var reporter: EngineReporter?
    var told: ContinuousClock.Instant?
    while !isStopped, ContinuousClock.now < end, let missing = await engine.missingReplicas.first {
      let now = ContinuousClock.now
      if await !conductor.isUp, told.map({ now - $0 > .seconds(5) }) ?? true {
        reporter = reporter ?? self.reporter()
        reporter?.progress("Waiting for the required replica \(missing.message)")
        told = now
      }
      // A stop cancels this before it stops the keeper.
      guard (try? await Task.sleep(for: .milliseconds(20))) != nil else { return }
    }
  }

  func report(_ failure: EngineFailure) async {
    _ = host.withdraw(state: "degraded", reason: failure.reason, code: failure.code)
    await conductor.handle(
      .engineFailed(
        StatusProblem(code: failure.code, message: failure.reason),
        isTransient: failure.isTransient))
  }

  func reporter() -> EngineReporter {
    // One order for all reports: a summary must not overtake an older one.
    let (events, continuation) = AsyncStream.makeStream(
      of: DaemonLifecycle.Event.self, bufferingPolicy: .bufferingNewest(64))
    let conductor = conductor
    Task { for await event in events { await conductor.handle(event) } }
    return EngineReporter(
      onProgress: { continuation.yield(.progress($0, buying: $1)) },
      onSummary: { continuation.yield(.summary($0, problems: $1)) },
      onReopening: { Task { await self.reopen() } })
  }

  private static func failure(of error: any Error) -> EngineFailure {
    if let failure = error as? EngineFailure { return failure }
    if let error = error as? ControlError {
      return EngineFailure(code: error.name, reason: error.description, isTransient: true)
    }
    return EngineFailure(
      code: "unexpected", reason: String(describing: error), isTransient: true)
  }
}
