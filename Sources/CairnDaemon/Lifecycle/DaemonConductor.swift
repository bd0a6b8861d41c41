// Carries out what the lifecycle decides.
import CairnControl
import CairnPlatform
import Foundation
import Logging
import Synchronization

/// Holds the lifecycle and performs its actions, one event after the other.
actor DaemonConductor {
  /// What the status says of the lifecycle.
  private struct Standing: Sendable {
    var state: DaemonStatus.State
    var problems: [StatusProblem]

    init(_ lifecycle: DaemonLifecycle) {
      state = lifecycle.statusState
      // What is drained mends nothing any more; a restart looks anew.
      problems = lifecycle.isDrained ? [] : lifecycle.problems
    }
  }
  private var lifecycle = DaemonLifecycle() {
    didSet { standing.withLock { $0 = Standing(lifecycle) } }
  }
  /// Read by the status, which does not wait for the action that is performed.
  private nonisolated let standing = Mutex(Standing(DaemonLifecycle()))
  private let notifier: ServiceNotifier
  private let feed: EventFeed
  private let logger: Logger
  private let startedAt = WireDate.now
  private let processID = Int(HostIdentity.processID)
  private var retry: (@Sendable (Duration) -> Void)?
  private var shutdown: (@Sendable () async -> Void)?
  private var abort: (@Sendable () -> Void)?
  private var reload: (@Sendable () -> Void)?

  init(notifier: ServiceNotifier, feed: EventFeed = EventFeed(), logger: Logger) {
    self.notifier = notifier
    self.feed = feed
    self.logger = logger
  }

  /// Connects the actions that others perform.
  func connect(
    shutdown: @escaping @Sendable () async -> Void, abort: @escaping @Sendable () -> Void,
    reload: @escaping @Sendable () -> Void
  ) {
    self.shutdown = shutdown
    self.abort = abort
    self.reload = reload
  }

  /// Where engine restarts are asked for.
  func connect(retry: @escaping @Sendable (Duration) -> Void) { self.retry = retry }

  /// Whether it is ready and not about to end.
  var isUp: Bool { lifecycle.isUp }

  /// Whether it is up, and something does not work.
  var isDegraded: Bool { lifecycle.isUp && !lifecycle.problems.isEmpty }

  func handle(_ event: DaemonLifecycle.Event) async {
    let before = lifecycle.statusState
    let actions = lifecycle.handle(event)
    let state = lifecycle.statusState
    if state != before {
      feed.add(
        MonitorDaemon.Event(
          date: .now, kind: .state, state: state.rawValue, text: lifecycle.problems.first?.message))
    }
    for action in actions { await perform(action) }
  }

  /// - Throws: ``CairnControl/ControlError/notReady(state:reason:)`` while it is starting or stopping, and once it is
  ///   drained.
  func checkIsUp() throws(ControlError) {
    guard !lifecycle.isUp || lifecycle.isDrained else { return }
    throw .notReady(
      state: lifecycle.statusState.rawValue,
      reason: lifecycle.isUp
        ? "it is drained for a planned shutdown; systemctl restart cairnd takes the configuration over"
        : "this is no time to reload; try again later")
  }

  /// The whole status, with the engine's part.
  nonisolated func status(engine: EngineStatus) -> DaemonStatus {
    let own = standing.withLock { $0 }
    let state: DaemonStatus.State =
      if own.state != .serving {
        own.state
      } else if !engine.isRunning {
        // One is exchanged for another.
        .starting
      } else {
        // What was found this moment is not in the lifecycle so far.
        engine.local?.problem == nil ? .serving : .degraded
      }
    return DaemonStatus(
      version: CairnVersion.text, pid: processID, startedAt: startedAt,
      state: state,
      problems: own.problems + engine.problems.filter { !own.problems.contains($0) },
      model: engine.model, local: engine.local, replicas: engine.replicas)
  }

  private func perform(_ action: DaemonLifecycle.Action) async {
    switch action {
    case .notifyReady:
      notifier(.ready)
      logger.event(.started, "ready", metadata: ["version": .string(CairnVersion.text)])
    case .notifyReloaded: notifier(.ready)
    case .notifyStatus(let text): notifier(.status(text))
    case .notifyStopping:
      notifier(.stopping)
      logger.event(.stopping, "stopping")
    case .notifyReloading:
      notifier(.reloading(monotonicMicroseconds: MonotonicClock.microseconds))
    case .extendTimeout(let duration): notifier(.extendTimeout(duration))
    case .logDegraded(let problems):
      for problem in problems {
        logger.event(
          .degraded, "degraded: \(problem.message)", metadata: ["errorCode": .string(problem.code)])
      }
    case .logRecovered: logger.event(.recovered, "working again")
    case .reload: reload?()
    case .retryEngine(let delay): retry?(delay)
    case .beginShutdown: await shutdown?()
    case .abort: abort?()
    }
  }
}
