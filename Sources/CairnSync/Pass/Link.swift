import CairnContext
import CairnCoordinator
import CairnModel
import CairnStore
import Foundation
import Synchronization

/// One pass-through between the local store and one replica: opens the replica, runs passes when
/// something changed, and waits longer the longer it is in trouble.
///
/// Mutable state: `state`, in its mutex. Stores are worked on in steps on the queue of `context`; the task only waits.
final class Link: Sendable {
  let configuration: ReplicaConfiguration
  let filter: EntityFilter?
  let local: StoreAccess
  let coordinator: PersistentStoreCoordinator
  /// The other stores of the group.
  let neighbours: @Sendable () -> [ReplicaInspection.Neighbour]
  let observer: any CoordinatorObserver
  private let kind: any ReplicaKind
  let context: ManagedObjectContext
  /// What is performed on the context's queue.
  let work = QueueWork()
  private let wakeup = Wakeup()
  private let waiters = PassWaiters()
  let report: @Sendable (SyncEvent) -> Void

  /// The link whose step runs on this thread.
  @TaskLocal static var current: Link?

  private struct State {
    var life = LinkLife()
    var rest = Rest()
    var pacing: PassPacing
    var batch: BatchPacing
    var replica: (any Replica)?
    var leftOut = LeftOut()
    /// Whether nothing is to be believed that the local store says of who the replica was.
    var isNew: Bool
    var task: Task<Void, Never>?
  }
  private let state: Mutex<State>

  init(
    configuration: ReplicaConfiguration, local: StoreAccess,
    coordinator: PersistentStoreCoordinator, observer: any CoordinatorObserver,
    kind: (any ReplicaKind)? = nil, isNew: Bool = false,
    neighbours: @escaping @Sendable () -> [ReplicaInspection.Neighbour],
    report: @escaping @Sendable (SyncEvent) -> Void
  ) throws {
    filter = try EntityFilter(configuration, local.schema)
    let limit = max(0, local.configuration.gatheringLimit / .milliseconds(1))
    state = Mutex(
      State(
        pacing: PassPacing(limit: UInt64(limit)),
        batch: BatchPacing(most: local.configuration.batchSize), isNew: isNew))
    self.neighbours = neighbours
    self.configuration = configuration
    self.local = local
    self.coordinator = coordinator
    self.observer = observer
    self.kind = kind ?? StoreReplicaKind(type: configuration.type)
    self.report = report
    context = ManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    context.name = configuration.name
    context.transactionAuthor = SyncConfiguration.author
  }

  var environment: SyncEnvironment { local.environment }
  /// Nil until the replica is open.
  var connected: (any Replica)? { state.withLock { $0.replica } }
  /// What the link writes itself; nil until it is open, and for a replica that is given change sets.
  var openReplica: OpenReplica? { connected?.opened }
  var store: PersistentStore? { openReplica?.store }
  var life: LinkLife { state.withLock { $0.life } }

  /// The replica as the steps of sync take it; nil as for ``openReplica``.
  var replica: StoreAccess? { openReplica?.access }

  /// Takes what the direction leaves out, to be looked at; what is not put back is counted anew.
  func takeLeftOut() -> LeftOut {
    state.withLock { state in
      defer { state.leftOut = LeftOut() }
      return state.leftOut
    }
  }

  func putBack(_ leftOut: LeftOut) { state.withLock { $0.leftOut = leftOut } }

  /// Whether nothing is to be believed that the local store says of who the replica was.
  var isNew: Bool {
    get { state.withLock { $0.isNew } }
    set { state.withLock { $0.isNew = newValue } }
  }

  // MARK: Driving

  func start() {
    let task = Task { await self.run() }
    let now = environment.now()
    state.withLock { state in
      state.task = task
      if state.life.phaseSince == 0 { state.life.phaseSince = now }
    }
  }

  /// Something changed on one of the sides.
  func poke() { environment.wake(configuration.name) { [wakeup] in wakeup.call() } }

  func pause() {
    change { $0.pause() }
    waiters.fail(SyncError(.paused, "\(configuration.name) was paused", recovery: .wait))
  }

  func resume() {
    change { [isOpen = store != nil] in $0.resume(isOpen: isOpen) }
    wakeup.call()
  }

  /// Tries at once what was put off, for an operator.
  func retry() {
    retryPhase()
    wakeup.call()
  }

  private func retryPhase() { change { [isOpen = store != nil] in $0.retry(isOpen: isOpen) } }

  /// Ends the link and waits for the step that is running; the store stays open.
  ///
  /// - Parameter reason: What is said to who waits; that it was removed when nil.
  func stop(_ reason: SyncError? = nil) async {
    change { $0.remove() }
    waiters.fail(reason ?? removed)
    let task = state.withLock { $0.task }
    task?.cancel()
    wakeup.call()
    await task?.value
  }

  /// Runs work on the queue on which this link touches its stores.
  func perform<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws
    -> Value
  {
    self.work.begin()
    defer { self.work.end() }
    return try await context.perform { [queue = self.work] in try queue.run(work) }
  }

  /// Runs a pass that begins from now on, and waits for it, whatever it could not make visible; failed
  /// passes are tried again until then.
  ///
  /// - Parameter isPatient: Whether to wait for a replica that cannot be reached now. Otherwise it is
  ///   tried once, at once.
  func completePass(timeout: Duration?, isPatient: Bool = true) async throws {
    let ticket = state.withLock { $0.life.request() }
    let id = waiters.newID()
    let timer = Mutex<Task<Void, Never>?>(nil)
    defer { timer.withLock { $0 }?.cancel() }
    let stopped = SyncError(.cancelled, "the wait was stopped", recovery: .retry)
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        waiters.add(id, ticket: ticket, isPatient: isPatient, continuation)
        // What happens from here on ends the wait, the timer, too.
        if let timeout {
          let task = Task {
            guard (try? await environment.sleep(timeout)) != nil else { return }
            waiters.resolve(id, .failure(self.timedOut()))
          }
          timer.withLock { $0 = task }
        }
        if let refusal = Task.isCancelled ? stopped : refusal(life) {
          return waiters.resolve(id, .failure(refusal))
        }
        if !isPatient, case .waiting = life.phase { retryPhase() }
        poke()
      }
    } onCancel: {
      waiters.resolve(id, .failure(stopped))
    }
  }

  private func run() async {
    while !Task.isCancelled {
      await environment.turn(configuration.name, .step)
      let now = environment.now()
      switch state.withLock({ $0.life.next(isOpen: $0.replica != nil, now: now) }) {
      case .stop: return
      case .open: await open()
      case .sleep(let milliseconds):
        await rest(atMost: milliseconds.map { .milliseconds(Int64(clamping: $0)) })
      case .pass:
        await pass()
        let life = self.life
        guard case .ready = life.phase, life.requested <= life.completed else { continue }
        await rest(atMost: restLimit)
        await gather()
      }
    }
  }

  /// Waits for more of the commits that come without pause, unless a pass is asked for.
  private func gather() async {
    let start = environment.now()
    let end = state.withLock { $0.pacing.passWanted(at: start) }
    while !Task.isCancelled, case .ready = life.phase, life.requested <= life.completed {
      let now = environment.now()
      guard now >= start, now < end else { return }
      await rest(atMost: .milliseconds(Int64(end - now)))
    }
  }

  /// How often a pass fails in a row before a replica counts as one that cannot be reached now.
  private static let retries = 2

  /// How many records the next commit moves.
  var batchSize: Int { state.withLock { $0.batch.size } }

  /// How long the link may sleep: for good where both stores tell of commits, unless something waits for time to pass.
  private var restLimit: Duration? {
    let isTold =
      local.store.capabilities.commits?.noticesCommits ?? false
      && connected?.tellsOfChanges ?? false
    return isTold && life.held.ahead == 0 ? nil : local.configuration.pollInterval
  }

  /// Starts a pass when the replica's file is not the one that its name leads to, and gives memory back
  /// that was not needed since the last look; also once in ``Rest/longWork`` looks where work does not end, since
  /// what SQLite keeps of pages grows with what they come by.
  func look() -> Rest.Finding {
    guard let store, state.withLock({ $0.rest.beginLook() }) else { return .nothingNew }
    defer { state.withLock { $0.rest.endLook() } }
    store.capabilities.commits?.lookForCommits()
    do { try store.capabilities.place?.checkFilePlace() } catch { poke() }
    if store.severalFileNames != nil { poke() }
    let finding = state.withLock { $0.rest.finding(after: $0.life.counters.passes) }
    if finding != .nothingNew { store.capabilities.resources?.releaseMemory() }
    return finding
  }

  private func rest(atMost limit: Duration?) async {
    await environment.turn(configuration.name, .rest(limit))
    await wakeup.wait(atMost: limit, environment)
  }

  private func open() async {
    change { $0.beginOpening() }
    let known = neighbours()
    do {
      let replica = try await kind.connect(try await connection(beside: known))
      state.withLock { $0.replica = replica }
      let differences = try await perform { [self, local] in
        remember(replica)
        return try replica.opened.flatMap {
          try local.knownDifferences(with: $0.access.ledger().storeID)
        }
      }
      change { $0.opened(differences) }
    } catch {
      fail(error)
      if areOthers(than: known) { retry() }
    }
  }

  private func pass() async {
    guard let replica = connected else { return }
    change { $0.beginPass() }
    let began = environment.now()
    let before = life.counters
    let pass = replica.pass(setting)
    do {
      var machine = PassState(direction: configuration.direction)
      while machine.step != nil {
        try Task.checkCancellation()
        machine = try await perform { [machine] in try self.takeTurn(machine, pass) }
        await environment.turn(configuration.name, .step)
      }
      let held = try await perform { try self.countHeld(pass) }
      let isUnfinished = machine.isUnfinished || machine.hasMoved && held.count > 0
      if isUnfinished { wakeup.call() }
      finish(since: began, before, held, isUnfinished: isUnfinished)
    } catch let needed as ApprovalNeeded {
      let now = environment.now()
      change { $0.ask(needed.plan, now: now) }
      waiters.fail(needed.plan.error)
    } catch {
      fail(error)
    }
  }

  private func finish(
    since began: UInt64, _ before: SyncCounters, _ held: HeldRecords, isUnfinished: Bool
  ) {
    let now = environment.now()
    change { $0.completePass(began: began, now: now, held: held, isUnfinished: isUnfinished) }
    state.withLock { $0.pacing.passEnded(at: now) }
    let after = life.counters
    report(
      .passCompleted(
        replica: configuration.name,
        pulled: after.recordsPulled + after.linksPulled - before.recordsPulled
          - before.linksPulled,
        pushed: after.recordsPushed + after.linksPushed - before.recordsPushed
          - before.linksPushed,
        conflicts: after.conflicts - before.conflicts,
        milliseconds: now > began ? now - began : 0))
    waiters.complete(upTo: life.completed)
  }

  func take(_ report: PassReport, of step: PassState.Step) {
    state.withLock { state in
      switch step {
      case .move(.pull), .retryHeld(.pull):
        state.life.counters.recordsPulled += report.records
        state.life.counters.linksPulled += report.links
      case .move(.push), .retryHeld(.push):
        state.life.counters.recordsPushed += report.records
        state.life.counters.linksPushed += report.links
      case .identify, .captureLocal, .captureReplica: break
      }
      state.life.counters.conflicts += report.conflicts
      state.life.counters.quarantined += report.held.count
      state.life.counters.replans += report.replans
      if case .move = step, report.event == .moved {
        state.batch.moved(metWriters: report.metWriters)
      }
      if case .move(.push) = step {
        state.life.pushedTo = report.position
        state.life.firstSync = report.progress
      }
    }
    if let progress = report.progress, case .move(.push) = step {
      self.report(.firstSync(replica: configuration.name, progress: progress))
    }
    for path in report.restored {
      self.report(.restored(replica: configuration.name, path: path))
    }
    for path in report.gaps {
      self.report(.historyLost(replica: configuration.name, path: path))
    }
    for (path, count) in report.returned.sorted(by: { $0.key < $1.key }) {
      self.report(.returned(replica: configuration.name, path: path, deleted: count))
    }
    for (path, ahead) in report.fallenBack.sorted(by: { $0.key < $1.key }) {
      self.report(.clockFellBack(replica: configuration.name, path: path, milliseconds: ahead))
    }
    for content in report.held {
      self.report(.quarantined(replica: configuration.name, content.name))
    }
  }

  // MARK: State

  private func fail(_ error: any Error) {
    let life = self.life
    if error is CancellationError, life.isPaused || life.isRemoved { return }
    let described =
      Self.modelChange(error, openReplica)
      ?? lostFile ?? ReplicaOpening.describe(error, at: configuration.url)
    if Self.endsUse(described, of: openReplica) { close() }
    let backoff = local.configuration.backoff
    let random = environment.random()
    let now = environment.now()
    change {
      $0.fail(described, now: now) { failures in
        UInt64(max(1, backoff.delay(afterFailures: failures, random: random) / .milliseconds(1)))
      }
    }
    report(.passFailed(replica: configuration.name, described))
    switch described.recovery {
    case .person: waiters.fail(described)
    case .wait: waiters.fail(described) { !$0 }
    // What does not pass by itself is not waited for by a comparison.
    case .retry where self.life.failures > Self.retries: waiters.fail(described) { !$0 }
    case .retry: break
    }
  }

  /// Closes the replica's store; also one whose file no name leads to, or that is of another version
  /// now, so that the next attempt opens what is there.
  func close() {
    let replica = state.withLock { state -> (any Replica)? in
      defer { state.replica = nil }
      return state.replica
    }
    // What closing it reports changes nothing: all that was done is committed.
    try? replica?.close()
  }

  func change(_ body: (inout LinkLife) -> Void) {
    let now = environment.now()
    let phase = state.withLock { state -> ReplicaPhase? in
      let old = state.life.phase
      body(&state.life)
      if state.life.phase.word != old.word { state.life.phaseSince = now }
      return state.life.phase == old ? nil : state.life.phase
    }
    if let phase { report(.phaseChanged(replica: configuration.name, phase)) }
  }
}
