// What the links do, as log lines and as the daemon's one-line status.

import CairnControl
import CairnSync
import Logging

/// Logs changes of state, not attempts, and keeps the summary up to date.
struct EngineEventLog {
  let engine: SyncEngine
  let local: LocalProblems
  let reporter: EngineReporter
  let logger: Logger
  /// Called with the name of a replica that is open and in step.
  let onReady: @Sendable (String) -> Void

  /// Runs until the engine ends or the task is cancelled.
  func run() async {
    var troubles: [String: SyncError.Code] = [:]
    var held: [String: HeldRecords] = [:]
    summarise(&held)
    for await event in happenings() {
      if Task.isCancelled { return }
      if let event {
        log(event, troubles: &troubles)
        note(event)
      }
      summarise(&held)
    }
  }

  /// What the links do; nil when something is wrong with the local store, or is so no more.
  private func happenings() -> AsyncStream<SyncEvent?> {
    let (stream, continuation) = AsyncStream.makeStream(
      of: SyncEvent?.self, bufferingPolicy: .bufferingNewest(1024))
    let (events, changes) = (engine.events(), local.health.changes)
    let tasks = [
      Task {
        for await event in events { continuation.yield(event) }
        continuation.finish()
      },
      Task { for await _ in changes { continuation.yield(nil) } },
    ]
    continuation.onTermination = { _ in for task in tasks { task.cancel() } }
    return stream
  }

  /// What passes tell of the local store.
  private func note(_ event: SyncEvent) {
    switch event {
    case .passFailed(_, let error), .phaseChanged(_, .waiting(_, let error)):
      local.health.note(error)
    case .passCompleted(_, let pulled, _, _, _) where pulled > 0: local.health.noteWritten()
    default: break
    }
  }

  private func log(_ event: SyncEvent, troubles: inout [String: SyncError.Code]) {
    switch event {
    case .phaseChanged(let replica, let phase):
      let metadata: Logger.Metadata = ["replica": .string(replica)]
      switch phase {
      case .waiting(_, let reason):
        // The same trouble again is not news.
        guard troubles.updateValue(reason.code, forKey: replica) != reason.code else { return }
        logger.event(
          reason.code == .clockSkew ? .clockSkew : .storeUnavailable,
          "\(replica) is not available: \(reason.message)",
          metadata: metadata.merging(["errorCode": .string(reason.code.rawValue)]) { $1 })
      case .failed(let error):
        troubles[replica] = error.code
        logger.event(
          .linkStopped, "\(replica) is stopped and needs a person: \(error.message)",
          metadata: metadata.merging(["errorCode": .string(error.code.rawValue)]) { $1 })
      case .awaitingApproval(let plan):
        // The same question again is not news.
        guard troubles.updateValue(.awaitingApproval, forKey: replica) != .awaitingApproval else {
          return
        }
        logger.event(
          .approvalNeeded, "\(replica) is stopped, \(plan.message)",
          metadata: metadata.merging(["errorCode": .string(plan.error.code.rawValue)]) { $1 })
      case .ready:
        onReady(replica)
        if troubles.removeValue(forKey: replica) != nil {
          logger.event(.storeAvailable, "\(replica) is available again", metadata: metadata)
        }
      case .migrating(let progress):
        reporter.progress("Migrating \(replica), \(Int(progress * 100)) %")
      case .opening, .syncing, .paused, .removed:
        logger.debug("\(replica) is \(phase.word)", metadata: metadata)
      }
    case .passCompleted(let replica, let pulled, let pushed, let conflicts, let milliseconds):
      guard pulled + pushed + conflicts > 0 else { return }
      logger.info(
        "pass completed",
        metadata: [
          "replica": .string(replica), "pulled": "\(pulled)", "pushed": "\(pushed)",
          "conflicts": "\(conflicts)", "durationMilliseconds": "\(milliseconds)",
        ])
    case .passFailed(let replica, let error):
      logger.debug(
        "pass failed: \(error.message)",
        metadata: ["replica": .string(replica), "errorCode": .string(error.code.rawValue)])
    case .firstSync(let replica, let progress):
      logger.debug(
        "first copy, \(Int(progress * 100)) %", metadata: ["replica": .string(replica)])
    case .restored(let replica, let path):
      logger.warning(
        "\(path) went back in time, as a restored backup does; all is compared once more",
        metadata: ["replica": .string(replica)])
    case .historyLost(let replica, let path):
      logger.warning(
        "\(path) lost history before it was read, as a purge does; the stores were compared",
        metadata: ["replica": .string(replica)])
    case .expired(let replica, let path, let reader):
      logger.event(
        .replicaExpired,
        "\(reader) has not read from \(path) for longer than the retention; it comes back by comparison",
        metadata: ["replica": .string(replica)])
    case .returned(let replica, let path, let deleted):
      logger.warning(
        "\(path) was away for longer than the retention; the stores were compared, and \(deleted) records and links deleted that were gone",
        metadata: ["replica": .string(replica)])
    case .clockFellBack(let replica, let path, let milliseconds):
      logger.event(
        .clockSkew,
        "\(path) was written \(milliseconds / 1000) s in the future by this machine's clock; it was wrong then, or is now",
        metadata: ["replica": .string(replica)])
    case .quarantined(let replica, let name):
      logger.debug(
        "a record waits in quarantine",
        metadata: ["replica": .string(replica), "record": .string(name)])
    }
  }

  /// Logs that more waits than before: one entry for all of a pass.
  private func logGrowth(from old: HeldRecords, in replica: CairnSync.ReplicaStatus) {
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

  private func summarise(_ held: inout [String: HeldRecords]) {
    guard let status = try? engine.status() else { return }
    for replica in status.replicas where replica.lastPass != nil {
      let old = held.updateValue(replica.held, forKey: replica.name) ?? HeldRecords()
      logGrowth(from: old, in: replica)
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
    var text = "\(count) replica\(count == 1 ? "" : "s")"
    if behind > 0 { text += ", \(behind) behind" }
    if troubled > 0 { text += ", \(troubled) unavailable" }
    let problems = local.all + status.replicas.compactMap { replica -> StatusProblem? in
      let error: SyncError
      switch replica.phase {
      case .failed(let failure): error = failure
      case .awaitingApproval(let plan): error = plan.error
      case .opening, .migrating, .ready, .syncing, .waiting, .paused, .removed: return nil
      }
      return StatusProblem(
        code: error.code.rawValue, message: "\(replica.name): \(error.message)")
    }
    reporter.summary(text, problems: problems)
  }
}
