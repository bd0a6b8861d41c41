// The daemon's life as a value: events in, actions out, no I/O.
import CairnControl

/// Where the daemon is in its life, and what must be done when something happens.
///
/// starting → serving ⇄ degraded → draining → stopped. It is READY once, when the control socket
/// answers and the engine has started or has failed to: a daemon that can explain itself is up.
struct DaemonLifecycle: Sendable, Equatable {
  enum State: Sendable, Equatable {
    case starting
    case serving
    /// Up, but something does not work; `hasEngine` tells whether data can be reached.
    case degraded(hasEngine: Bool)
    case draining
    case stopped
  }

  enum Event: Sendable, Equatable {
    case controlListening
    /// With what is wrong although it runs, as far as that is known.
    case engineStarted(problems: [StatusProblem] = [])
    case engineFailed(StatusProblem, isTransient: Bool)
    /// A long piece of work got on, or one begins that tells nothing until it ends, for which it buys as
    /// much time as it may take.
    case progress(String, buying: Duration = extensionStep)
    /// How things are, from the running engine.
    case summary(String, problems: [StatusProblem])
    case stopRequested
    case engineStopped
    /// The daemon accepts nothing from now on, and goes on to run.
    case drained
    /// By a signal.
    case reloadRequested
    case reloadBegan
    /// Nil for one that went well.
    case reloadEnded(problem: String?)
    case probeOverdue
    case probeAnswered
  }

  enum Action: Sendable, Equatable {
    case notifyReady
    case notifyStatus(String)
    case notifyStopping
    case notifyReloading
    /// The end of a reload, good or bad: systemd knows no other.
    case notifyReloaded
    case extendTimeout(Duration)
    case logDegraded([StatusProblem])
    case logRecovered
    case reload
    /// Try to start the engine again after a while.
    case retryEngine(after: Duration)
    case beginShutdown
    /// Give up what runs and end.
    case abort
  }

  private(set) var state: State = .starting
  /// Why it is degraded.
  private(set) var problems: [StatusProblem] = []
  private var isListening = false
  private var isEngineDecided = false
  private var failedStarts = 0
  private var summary = ""
  private var isProbeOverdue = false
  private(set) var isDrained = false
  private var isReloading = false

  /// How much time each sign of progress buys.
  static let extensionStep = Duration.seconds(30)
  /// After this the daemon ends, whatever still runs.
  static let longestStop = Duration.seconds(45)
  /// For ending.
  static let stopMargin = Duration.seconds(5)
  static let longestRetryDelay = Duration.seconds(60)
  /// Where another daemon has the local store, which costs no more than looking at a lock.
  static let takeoverDelay = Duration.seconds(4)

  mutating func handle(_ event: Event) -> [Action] {
    switch event {
    case .controlListening:
      isListening = true
      return becomeReady()
    case .engineStarted(let problems): return engineStarted(problems)
    case .engineFailed(let problem, let isTransient):
      return engineFailed(problem, isTransient: isTransient)
    case .progress(let text, let time): return progress(text, buying: time)
    case .summary(let text, let problems): return summary(text, problems)
    case .stopRequested: return stopRequested()
    case .engineStopped:
      state = .stopped
      return [.notifyStatus("Stopped")]
    case .drained:
      guard isUp else { return [] }
      isDrained = true
      return [.notifyStatus(statusLine)]
    case .reloadRequested:
      guard isUp else { return [] }
      return [.reload]
    case .reloadBegan:
      guard isUp else { return [] }
      isReloading = true
      return [.notifyReloading]
    case .reloadEnded(let problem): return reloadEnded(problem)
    case .probeOverdue:
      guard isUp, !isProbeOverdue else { return [] }
      isProbeOverdue = true
      return [.notifyStatus("Not answering: a check of the store is overdue")]
    case .probeAnswered:
      guard isProbeOverdue else { return [] }
      isProbeOverdue = false
      return isUp ? [.notifyStatus(statusLine)] : []
    }
  }

  /// The state in the words of the control protocol.
  var statusState: DaemonStatus.State {
    if isDrained, isUp { return .draining }
    return switch state {
    case .starting: .starting
    case .serving: .serving
    case .degraded: .degraded
    case .draining: .draining
    case .stopped: .stopped
    }
  }

  /// Whether it is ready and not about to end.
  var isUp: Bool {
    switch state {
    case .serving, .degraded: true
    case .starting, .draining, .stopped: false
    }
  }

  private var isEnding: Bool {
    switch state {
    case .draining, .stopped: true
    case .starting, .serving, .degraded: false
    }
  }

  private mutating func becomeReady() -> [Action] {
    guard case .starting = state, isListening, isEngineDecided else { return [] }
    state =
      problems.isEmpty ? .serving : .degraded(hasEngine: failedStarts == 0)
    return [.notifyReady, .notifyStatus(statusLine)]
  }

  private mutating func engineStarted(_ problems: [StatusProblem]) -> [Action] {
    guard !isEnding else { return [] }
    isEngineDecided = true
    failedStarts = 0
    let changes = take(problems)
    guard isUp else { return changes + becomeReady() }
    return changes + [.notifyStatus(statusLine)]
  }

  /// Takes over what is wrong while an engine runs, and says what is new: that all is well again, or what is wrong
  /// besides what was.
  private mutating func take(_ problems: [StatusProblem]) -> [Action] {
    let (old, new) = (self.problems, problems.filter { !self.problems.contains($0) })
    self.problems = problems
    if isUp { state = problems.isEmpty ? .serving : .degraded(hasEngine: true) }
    if !new.isEmpty { return [.logDegraded(new)] }
    return isUp && !old.isEmpty && problems.isEmpty ? [.logRecovered] : []
  }

  private mutating func engineFailed(_ problem: StatusProblem, isTransient: Bool) -> [Action] {
    guard !isEnding else { return [] }
    let isNew = problems != [problem]
    isEngineDecided = true
    failedStarts += 1
    problems = [problem]
    var actions: [Action] = isNew ? [.logDegraded([problem])] : []
    if isUp {
      state = .degraded(hasEngine: false)
      if isNew { actions.append(.notifyStatus(statusLine)) }
    } else {
      actions += becomeReady()
    }
    if isTransient { actions.append(.retryEngine(after: retryDelay)) }
    return actions
  }

  private var retryDelay: Duration {
    let isTaken = problems.first?.code == EngineFailure.storeTaken
    return min(
      .seconds(1 << min(failedStarts - 1, 6)),
      isTaken ? Self.takeoverDelay : Self.longestRetryDelay)
  }

  private func progress(_ text: String, buying time: Duration) -> [Action] {
    switch state {
    case .starting, .draining: [.extendTimeout(time), .notifyStatus(text)]
    // systemd waits for a reload as it does for a start.
    case .serving, .degraded: (isReloading ? [.extendTimeout(time)] : []) + [.notifyStatus(text)]
    case .stopped: []
    }
  }

  private mutating func summary(_ text: String, _ problems: [StatusProblem]) -> [Action] {
    guard !isEnding, failedStarts == 0 else { return [] }
    let lineBefore = statusLine
    summary = text
    // The start of the engine brings them.
    guard isUp else { return [] }
    var actions = take(problems)
    if statusLine != lineBefore { actions.append(.notifyStatus(statusLine)) }
    return actions
  }

  private mutating func stopRequested() -> [Action] {
    switch state {
    case .starting, .serving, .degraded:
      state = .draining
      return [
        .notifyStopping, .extendTimeout(Self.longestStop + Self.stopMargin),
        .notifyStatus("Stopping: finishing what runs"), .beginShutdown,
      ]
    case .draining: return [.notifyStatus("Stopping at once"), .abort]
    case .stopped: return []
    }
  }

  private mutating func reloadEnded(_ problem: String?) -> [Action] {
    isReloading = false
    guard isUp else { return [] }
    let text = problem.map { "\(statusLine); \($0)" } ?? statusLine
    return [.notifyReloaded, .notifyStatus(text)]
  }

  private var statusLine: String {
    if isDrained, isUp { return "Drained for a planned shutdown" }
    switch state {
    case .starting: return "Starting"
    case .serving: return summary.isEmpty ? "Serving" : "Serving, \(summary)"
    case .degraded(let hasEngine):
      let reason = problems.first?.message ?? "unknown reason"
      let more = problems.count > 1 ? " (and \(problems.count - 1) more)" : ""
      return hasEngine && !summary.isEmpty
        ? "Degraded, \(summary): \(reason)\(more)" : "Degraded: \(reason)\(more)"
    case .draining: return "Stopping"
    case .stopped: return "Stopped"
    }
  }
}
