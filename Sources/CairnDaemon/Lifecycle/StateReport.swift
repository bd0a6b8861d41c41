// What SIGUSR1 writes to the log.
import CairnControl
import Logging

/// The daemon's state as log entries: one for the daemon, one for each store.
struct StateReport {
  let status: DaemonStatus

  func write(to logger: Logger) {
    let problems = status.problems.map { "; \($0.message) (\($0.code))" }.joined()
    logger.event(
      .stateReported,
      "\(status.state.rawValue), started \(Readable.moment(status.startedAt))\(problems)",
      metadata: ["state": .string(status.state.rawValue), "pid": "\(status.pid)"])
    if let local = status.local {
      let problem = local.problem.map { "; \($0.message) (\($0.code))" } ?? ""
      logger.event(
        .stateReported, "local: \(local.state.rawValue), \(local.location)\(problem)",
        metadata: ["store": "local", "state": .string(local.state.rawValue)])
    }
    for replica in status.replicas {
      let behind =
        replica.lagTransactions.map { ", \(Readable.count($0, "transaction")) behind" } ?? ""
      let passes = Readable.count(replica.passes, "pass", "passes")
      let problem = replica.problem.map { "; \($0.message) (\($0.code))" } ?? ""
      logger.event(
        .stateReported,
        "\(replica.name): \(replica.state.rawValue)\(behind), \(passes)\(problem)",
        metadata: [
          "replica": .string(replica.name), "state": .string(replica.state.rawValue),
        ])
    }
  }
}
