// A link as a row of the first page, and as facts on its own.

import CairnControl
import Foundation

struct LinkRow: Sendable {
  let link: String
  let linkPage: String
  let standing: StateLabel
  let direction: String
  let lag: String
  let lastPass: String
  /// What went wrong last.
  let trouble: String?
  /// What is said where nothing is known to be wrong.
  let noTrouble: String
  /// Records that wait, of all kinds.
  let held: String
  let differs: String

  /// - Parameter suffix: What addresses of pages end with.
  init(_ replica: ReplicaStatus, of reading: DaemonReading, suffix: String) {
    let isCurrent = reading.silence == nil
    link = replica.name
    linkPage = Self.address(of: replica.name) + suffix
    standing = StateLabel(
      replica, local: reading.answer?.status.local?.state, isCurrent: isCurrent)
    direction = replica.direction.words
    lag = isCurrent ? replica.lagWords ?? "unknown" : "unknown"
    lastPass = replica.lastPass.map(Readable.moment) ?? "none since the daemon started"
    trouble = replica.problem.map { "\($0.message) (\($0.code))" }
    noTrouble = isCurrent ? "none" : "unknown"
    func count(_ kinds: Set<StatusWait.Kind>) -> String {
      guard isCurrent else { return "unknown" }
      return Self.count(replica, kinds).map { "\($0)" } ?? "none known"
    }
    held = count([.held, .quarantine, .parked])
    differs = count([.differences])
  }

  static func address(of name: String) -> String { "/links/\(PageAddress.safe(name))" }

  private static func count(_ replica: ReplicaStatus, _ kinds: Set<StatusWait.Kind>) -> Int? {
    let waits = replica.waits.filter { kinds.contains($0.kind) }
    return waits.isEmpty ? nil : waits.reduce(0) { $0 + ($1.count ?? 1) }
  }
}

extension ReplicaStatus.Direction {
  /// Which way changes go.
  fileprivate var words: String {
    switch self {
    case .both: "both ways"
    case .push: "push only"
    case .pull: "pull only"
    }
  }
}

/// What something waits for, with the command that helps.
struct WaitItem: Sendable {
  let reason: String
  let command: String?

  init(_ wait: StatusWait) {
    reason = wait.reason
    command = wait.command
  }
}
