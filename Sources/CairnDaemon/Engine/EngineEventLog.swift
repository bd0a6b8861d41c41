// What the links do, as log lines and as the daemon's one-line status.

import CairnControl
import CairnPlatform
import CairnSync
import Logging

/// Logs changes of state, not attempts, and keeps the summary up to date.
///
/// What goes on all the time, such as passes and records that are held, is one entry in five minutes at
/// most.
struct EngineEventLog {
  let engine: SyncEngine
  let problems: EngineProblems
  let figures: GroupFigures
  let reporter: EngineReporter
  /// For callers that look on.
  let feed: EventFeed
  let logger: Logger
  /// Has it looked at what has to be decided about the version of a replica.
  let decide: @Sendable (_ replica: String) async -> Void

  /// The least time between two entries of what goes on.
  private static let interval = Duration.seconds(300)

  /// What is known from one event to the next.
  private struct Memory {
    /// How often a replica has come back in this interval.
    var returns: [String: Int] = [:]
    /// The replicas that have gone away again since, which the end of the interval tells of.
    var silent: Set<String> = []
    /// What waited when it was last logged.
    var held: [String: HeldRecords] = [:]
    /// The replicas of which more waits than was logged in this interval.
    var loggedHeld: Set<String> = []
    var passes = PassSummary()
    /// Ends the interval; nil while nothing has happened.
    var timer: Task<Void, Never>?
  }

  /// What makes the log look at the engine anew.
  private enum Happening {
    case link(SyncEvent)
    /// Something is wrong with the local store, or is so no more.
    case localChanged
    case intervalEnded
  }

  /// Runs until the engine ends or the task is cancelled.
  ///
  /// - Parameter events: What has happened since before the first replica was added. It begins when all have been:
  ///   an engine that lacks a troubled one looks as if all were well.
  func run(_ events: AsyncStream<SyncEvent>) async {
    var memory = Memory()
    let (happenings, continuation) = AsyncStream.makeStream(
      of: Happening.self, bufferingPolicy: .bufferingNewest(1024))
    let changes = problems.local.health.changes
    let sources = [
      Task {
        for await event in events { continuation.yield(.link(event)) }
        continuation.finish()
      },
      Task { for await _ in changes { continuation.yield(.localChanged) } },
    ]
    summarise(&memory)
    for await happening in happenings {
      var isNews = true
      switch happening {
      case .link(let event):
        feed.add(MonitorDaemon.Event(event, date: .now))
        await noteVersion(event)
        log(event, &memory)
        count(event)
        noteLocal(event)
        isNews = Self.endsSomething(event)
      case .localChanged: break
      case .intervalEnded:
        memory.timer = nil
        memory.loggedHeld = []
        logPasses(&memory)
        logComingsAndGoings(&memory)
      }
      if isNews { summarise(&memory) }
      if memory.timer == nil,
        !memory.passes.isEmpty || !memory.loggedHeld.isEmpty || !memory.returns.isEmpty
      {
        memory.timer = Task {
          try? await Task.sleep(for: Self.interval)
          continuation.yield(.intervalEnded)
        }
      }
    }
    memory.timer?.cancel()
    for source in sources { source.cancel() }
    logPasses(&memory)
    // The last word about a replica is not that it was there.
    memory.returns = memory.returns.filter { memory.silent.contains($0.key) }
    logComingsAndGoings(&memory)
  }

  /// Whether no other event is sure to follow soon that says more: a summary reads the local store.
  private static func endsSomething(_ event: SyncEvent) -> Bool {
    switch event {
    case .phaseChanged(_, let phase):
      switch phase {
      // A pass follows, or has just been completed or failed.
      case .migrating, .ready, .syncing: return false
      case .opening, .waiting, .failed, .awaitingApproval, .paused, .removed: return true
      }
    case .passCompleted, .expired: return true
    case .passFailed, .firstSync, .restored, .historyLost, .returned, .clockFellBack, .quarantined,
      .madeAnew:
      return false
    }
  }

  /// What passes tell of the local store.
  private func noteLocal(_ event: SyncEvent) {
    switch event {
    case .passFailed(_, let error), .phaseChanged(_, .waiting(_, let error)):
      problems.local.health.note(error)
    case .passCompleted(_, let pulled, _, _, _) where pulled > 0:
      problems.local.health.noteWritten()
    default: break
    }
  }

  /// How long a look at a replica's file may keep other events waiting.
  private static let lookPatience = Duration.seconds(5)

  /// Counts what went wrong.
  private func count(_ event: SyncEvent) {
    switch event {
    case .passFailed(let replica, let error): figures.failed(replica, error.code)
    case .phaseChanged(let replica, .waiting(_, let error)): figures.failed(replica, error.code)
    case .phaseChanged(let replica, .failed(let error)): figures.failed(replica, error.code)
    case .phaseChanged(let replica, .removed): figures.forget(replica)
    default: break
    }
  }

  /// What an event tells of the version of a replica.
  private func noteVersion(_ event: SyncEvent) async {
    guard case .phaseChanged(let replica, let phase) = event else { return }
    guard case .failed(let error) = phase, error.code == .incompatibleModel else {
      return problems.decisions.forget(replica)
    }
    let decide = decide
    await Blocking.wait(atMost: Self.lookPatience) { await decide(replica) }
  }

  private func log(_ event: SyncEvent, _ memory: inout Memory) {
    switch event {
    case .phaseChanged(let replica, let phase): log(phase, of: replica, &memory)
    case .passCompleted(let replica, let pulled, let pushed, let conflicts, _):
      // For the flight recorder.
      if pulled + pushed + conflicts > 0 {
        let lost = Readable.count(conflicts, "conflict")
        logger.debug(
          "pass with \(replica) completed: \(pulled) pulled, \(pushed) pushed, \(lost)",
          metadata: ["replica": .string(replica)])
      }
      memory.passes.add(
        replica: replica, pulled: pulled, pushed: pushed, conflicts: conflicts,
        now: MonotonicClock.nanoseconds / 1_000_000)
      // Not when it is open: then the same trouble would come and go with each attempt.
      if problems.troubles.end(of: replica) {
        memory.returns[replica, default: 0] += 1
        if memory.silent.remove(replica) != nil { return }
        logger.event(
          .storeAvailable, "\(replica) is available again",
          metadata: ["replica": .string(replica)])
      }
    case .passFailed(let replica, let error):
      logger.debug(
        "pass failed: \(error.message)",
        metadata: ["replica": .string(replica), "errorCode": .string(error.code.rawValue)])
    case .firstSync(let replica, let progress):
      logger.debug(
        "first copy, \(Int(progress * 100)) %", metadata: ["replica": .string(replica)])
    case .madeAnew(let replica, let path):
      logger.event(
        .replicaMadeAnew,
        "\(path), the file of \(replica), was gone and is made anew; what only the old one had is not in it",
        metadata: ["replica": .string(replica), "path": .string(path)])
    case .restored(let replica, let path):
      logger.event(
        .storeRestored,
        "\(path) went back in time, as a restored backup does; all is compared once more",
        metadata: ["replica": .string(replica), "path": .string(path)])
    case .historyLost(let replica, let path):
      logger.event(
        .historyLost,
        "\(path) lost history before it was read, as a purge does; the stores were compared",
        metadata: ["replica": .string(replica), "path": .string(path)])
    case .expired(let replica, let path, let reader):
      logger.event(
        .replicaExpired,
        "\(reader) has not read from \(path) for longer than the retention; it comes back by comparison",
        metadata: [
          "replica": .string(replica), "path": .string(path), "reader": .string(reader),
        ])
    case .returned(let replica, let path, let deleted):
      let gone = Readable.count(deleted, "record or link", "records and links")
      logger.event(
        .replicaReturned,
        "\(path) was away for longer than the retention; the stores were compared, and what was gone is deleted: \(gone)",
        metadata: ["replica": .string(replica), "path": .string(path), "count": "\(deleted)"])
    case .clockFellBack(let replica, let path, let milliseconds):
      logger.event(
        .clockSkew,
        "\(path) was written \(milliseconds / 1000) s in the future by this machine's clock; it was wrong then, or is now",
        metadata: [
          "replica": .string(replica), "path": .string(path), "seconds": "\(milliseconds / 1000)",
        ])
    case .quarantined(let replica, let name):
      logger.debug(
        "a record waits in quarantine",
        metadata: ["replica": .string(replica), "record": .string(name)])
    }
  }

  private func log(_ phase: ReplicaPhase, of replica: String, _ memory: inout Memory) {
    func log(_ event: DaemonEvent, _ code: SyncError.Code, _ text: String) {
      // The same trouble, or question, again is not news.
      guard problems.troubles.note(code, of: replica) else { return }
      // What comes and goes is summed up; what needs a person is not.
      if case .waiting = phase, memory.returns[replica] != nil {
        memory.silent.insert(replica)
        return
      }
      memory.silent.remove(replica)
      logger.event(
        event, "\(replica) \(text)",
        metadata: ["replica": .string(replica), "errorCode": .string(code.rawValue)])
    }
    switch phase {
    case .waiting(_, let reason):
      // What the local store throws is no fault of the replica.
      let isLocal = reason.path != nil && reason.path == problems.local.store.url?.path
      log(
        reason.code == .clockSkew ? .clockSkew : .storeUnavailable, reason.code,
        (isLocal ? "waits for the local store: " : "is not available: ") + reason.message)
    case .failed(let error):
      let reason = problems.decisions.problem(of: replica)?.message ?? error.message
      log(.linkStopped, error.code, "is stopped and needs a person: \(reason)")
    case .awaitingApproval(let plan):
      log(.approvalNeeded, .awaitingApproval, "is stopped, \(plan.message)")
    case .migrating(let progress):
      reporter.progress("Migrating \(replica), \(Int(progress * 100)) %")
    case .removed where !engine.isStopped:
      problems.troubles.forget(replica)
      memory.returns[replica] = nil
      memory.silent.remove(replica)
    case .removed: break
    case .opening, .paused:
      logger.debug("\(replica) is \(phase.word)", metadata: ["replica": .string(replica)])
    case .ready, .syncing:
      // With each pass.
      logger.trace("\(replica) is \(phase.word)", metadata: ["replica": .string(replica)])
    }
  }

  /// One entry for each replica that has come and gone in the interval.
  private func logComingsAndGoings(_ memory: inout Memory) {
    for (replica, times) in memory.returns.sorted(by: { $0.key < $1.key })
    where times > 1 || memory.silent.contains(replica) {
      let code = problems.troubles.code(of: replica)
      let often = Readable.count(times, "time")
      var metadata: Logger.Metadata = ["replica": .string(replica)]
      metadata["errorCode"] = code.map { .string($0.rawValue) }
      let state = code.map { "away now (\($0.rawValue))" } ?? "available now"
      logger.event(
        code == nil ? .storeAvailable : .storeUnavailable,
        "\(replica) came back \(often) within five minutes, and is \(state)",
        metadata: metadata)
    }
    memory.returns = [:]
    memory.silent = []
  }

  private func logPasses(_ memory: inout Memory) {
    let now = MonotonicClock.nanoseconds / 1_000_000
    for (replica, sum) in memory.passes.take() {
      let seconds = (now - min(now, sum.since)) / 1000
      let pulled = Readable.count(sum.pulled, "change")
      let passes = Readable.count(sum.passes, "pass", "passes")
      logger.event(
        .passesCompleted, "\(pulled) from \(replica), \(sum.pushed) to it, in \(passes)",
        metadata: [
          "replica": .string(replica), "passes": "\(sum.passes)", "pulled": "\(sum.pulled)",
          "pushed": "\(sum.pushed)", "conflicts": "\(sum.conflicts)", "seconds": "\(seconds)",
        ])
    }
  }

  /// Logs that more waits than before: one entry for all of an interval.
  private func logGrowth(from old: HeldRecords, in replica: LinkStatus) {
    let held = replica.held
    func log(_ event: DaemonEvent, _ count: Int, _ more: Int, _ what: String) {
      guard more > 0 else { return }
      let first = held.reason.map { ", first \($0)" } ?? ""
      logger.event(
        event, "\(more) more of \(replica.name) \(what), \(count) in all\(first)",
        metadata: ["replica": .string(replica.name), "count": "\(count)"])
    }
    log(.recordQuarantined, held.invalid, held.invalid - old.invalid, "wait in quarantine")
    log(.recordsHeld, held.ahead, held.ahead - old.ahead, "were written in the future")
  }

  private func summarise(_ memory: inout Memory) {
    // One that has stopped knows of no replica, and of no trouble of any.
    guard let status = try? engine.status(), !engine.isStopped else { return }
    for replica in status.replicas where replica.lastPass != nil {
      let old = memory.held[replica.name] ?? HeldRecords()
      let isMore = replica.held.invalid > old.invalid || replica.held.ahead > old.ahead
      // The log names what grows on once in each interval.
      if isMore, !memory.loggedHeld.insert(replica.name).inserted { continue }
      memory.held[replica.name] = replica.held
      if isMore { logGrowth(from: old, in: replica) }
    }
    let behind = status.replicas.count { ($0.lagTransactions ?? 0) > 0 }
    let troubled = status.replicas.count {
      switch $0.phase {
      case .waiting, .failed, .awaitingApproval: true
      case .opening, .ready, .syncing: $0.lastError != nil
      case .migrating, .paused, .removed: false
      }
    }
    let count = status.replicas.count
    var text = Readable.count(count, "replica")
    if behind > 0 { text += ", \(behind) behind" }
    if troubled > 0 { text += ", \(troubled) unavailable" }
    reporter.summary(text, problems: problems.all(of: status))
  }
}
