// Feeds systemd's watchdog with completed work.
import CairnPlatform
import CairnStore
import CairnSync
import Logging
import ServiceLifecycle
import Synchronization

/// Asks every kind of queue for a piece of work and looks whether they get on; reports to systemd when all of
/// them do, never by the clock alone.
///
/// Mutable state: `state`, in its mutex.
final class WatchdogService: Service {
  /// What is asked and looked at.
  struct Sources: Sendable {
    /// Completes when a call would be answered.
    var call: @Sendable () async -> Void
    /// The stores that are open; nil while there are none.
    var group: @Sendable () async -> WatchedGroup?
  }

  private struct State {
    var group: WatchedGroup?
    /// Whether each replica answered when it was asked last; nil while it is asked.
    var answers: [String: Bool?] = [:]
  }
  private let state = Mutex(State())
  private let interval: Duration
  private let notifier: ServiceNotifier
  private let conductor: DaemonConductor
  private let logger: Logger
  private let sources: Sources
  private let figures: ServiceFigures
  private let calls = QueueWork()
  private let reads = QueueWork()
  private let writes = QueueWork()

  /// - Parameter interval: What systemd allows between two signs of life.
  init(
    interval: Duration, notifier: ServiceNotifier, conductor: DaemonConductor, logger: Logger,
    figures: ServiceFigures, sources: Sources
  ) {
    self.figures = figures
    self.interval = interval
    self.notifier = notifier
    self.conductor = conductor
    self.logger = logger
    self.sources = sources
  }

  func run() async throws {
    figures.isWatched(within: interval)
    await cancelWhenGracefulShutdown {
      var watch = WorkWatch(interval: self.interval)
      while !Task.isCancelled {
        // What happened before it asks is no evidence that anything works now.
        watch.begin(self.looks(), at: Self.now)
        self.ask()
        await self.wait(&watch)
        try? await Task.sleep(for: watch.pause)
      }
    }
  }

  /// Asks for what was answered before.
  private func ask() {
    let sources = sources
    Self.ask(calls) { [self] in
      await sources.call()
      let group = await sources.group()
      state.withLock { $0.group = group }
    }
    guard let group = state.withLock({ $0.group }) else { return }
    Self.ask(reads) { await group.read() }
    Self.ask(writes) { await group.write() }
  }

  private static func ask(_ queue: QueueWork, _ work: @escaping @Sendable () async -> Void) {
    if queue.isPending { return }
    queue.begin()
    Task {
      await work()
      queue.end()
    }
  }

  /// Waits until all queues have got on, however long that takes, and feeds; says so when it is longer than it
  /// should be.
  private func wait(_ watch: inout WorkWatch) async {
    let begun = Self.now
    var isOverdue = false
    // Most answers are there at once.
    var step = min(Duration.milliseconds(20), interval / 30)
    while !Task.isCancelled {
      try? await Task.sleep(for: step)
      // Answers are to be seen soon after they came: systemd counts from the feed.
      step = min(step * 2, interval / 30)
      let now = Self.now
      watch.take(looks(), at: now)
      for name in watch.silentLinks(at: now) { askReplica(name) }
      let stuck = watch.stuck(at: now)
      if stuck.isEmpty { break }
      guard !isOverdue, now - begun > watch.patience else { continue }
      isOverdue = true
      let names = stuck.map(\.description).joined(separator: ", ")
      logger.event(.probeOverdue, "the watchdog is not fed; what does not get on: \(names)")
      await conductor.handle(.probeOverdue)
    }
    if Task.isCancelled { return }
    notifier(.watchdog)
    figures.fed()
    await conductor.handle(.probeAnswered)
  }

  private static var now: Duration { .nanoseconds(Int64(clamping: MonotonicClock.nanoseconds)) }

  private func looks() -> [WorkWatch.Queue: WorkWatch.Look] {
    let (group, answers) = state.withLock { ($0.group, $0.answers) }
    var looks: [WorkWatch.Queue: WorkWatch.Look] = [
      .control: .init(isPending: calls.isPending, signs: calls.signs)
    ]
    guard let group else { return looks }
    looks[.reads] = .init(isPending: reads.isPending, signs: reads.signs)
    let writer = group.writes
    looks[.writes] = .init(
      isPending: writes.isPending || writer?.isPending == true,
      signs: writes.signs &+ (writer?.signs ?? 0))
    for link in group.links {
      looks[.link(link.name)] = .init(
        isPending: link.work.isPending, signs: link.work.signs,
        isAnswered: (answers[link.name] ?? nil) ?? false)
    }
    let names = Set(group.links.map(\.name))
    state.withLock { state in state.answers = state.answers.filter { names.contains($0.key) } }
    return looks
  }

  /// Finds out whether a replica answers, unless that is being found out.
  private func askReplica(_ name: String) {
    let link = state.withLock { state -> LinkQueue? in
      if case .some(nil) = state.answers[name] { return nil }
      state.answers.updateValue(nil, forKey: name)
      return state.group?.links.first { $0.name == name }
    }
    guard let link else { return }
    Task {
      let isAnswered = (try? await Blocking.run { link.isReplicaAnswering() }) ?? false
      state.withLock { _ = $0.answers.updateValue(isAnswered, forKey: name) }
    }
  }
}
