// What is wrong although an engine runs, and what was wrong before the engine that runs now.

import CairnControl
import CairnSync
import Synchronization

/// What was wrong with which replica when that was known last.
///
/// It outlives engines: one that starts does not know how a replica is before the replica has been tried, and a
/// trouble is over when it was seen to be. Mutable state: inside the mutex.
final class ReplicaTroubles: Sendable {
  private struct Trouble {
    /// Of what the log has named.
    var code: SyncError.Code?
    /// What a person has to mend.
    var problem: StatusProblem?
    /// How many links were replaced whose end the log has yet to see.
    var replacedLinks = 0
  }
  private let troubles = Mutex<[String: Trouble]>([:])
  private let required = Mutex<Set<String>>([])

  /// Names the replicas without which all is not well.
  func require(_ names: Set<String>) { required.withLock { $0 = names } }

  /// What the status says of a required replica that is not open; nil for another one.
  ///
  /// One that waits for a person has a problem of its own.
  func absence(of replica: LinkStatus) -> StatusProblem? {
    guard required.withLock({ $0.contains(replica.name) }) else { return nil }
    let reason: String
    switch replica.phase {
    case .opening: reason = replica.lastError?.message ?? "it has not answered"
    case .waiting(_, let error): reason = error.message
    case .paused where replica.storeID == nil: reason = "it is paused, and not open"
    case .ready, .syncing, .migrating, .awaitingApproval, .paused, .failed, .removed: return nil
    }
    return StatusProblem(
      code: StatusProblem.requiredReplicaMissing, message: "\(replica.name): \(reason)")
  }

  /// The code that the log has named; nil for a replica of which it has said nothing, or that it is there.
  func code(of replica: String) -> SyncError.Code? {
    troubles.withLock { $0[replica]?.code }
  }

  /// Notes what the log names.
  ///
  /// - Returns: Whether it is another trouble than before.
  func note(_ code: SyncError.Code, of replica: String) -> Bool {
    troubles.withLock { troubles in
      defer { troubles[replica, default: Trouble()].code = code }
      return troubles[replica]?.code != code
    }
  }

  /// Notes that a pass was completed.
  ///
  /// - Returns: Whether the log had named a trouble.
  func end(of replica: String) -> Bool {
    troubles.withLock { $0.removeValue(forKey: replica)?.code != nil }
  }

  /// The problem of a replica that was known last.
  func problem(of replica: String) -> StatusProblem? { troubles.withLock { $0[replica]?.problem } }

  /// Notes what the problem of a replica is now.
  func note(_ problem: StatusProblem?, of replica: String) {
    troubles.withLock { troubles in
      if problem == nil, troubles[replica] == nil { return }
      troubles[replica, default: Trouble()].problem = problem
    }
  }

  /// Forgets the replicas that there are no more.
  func keep(only names: Set<String>) {
    troubles.withLock { troubles in troubles = troubles.filter { names.contains($0.key) } }
  }

  /// Notes that a link has ended; of one that another replaces, what was wrong stays known.
  func forget(_ replica: String) {
    troubles.withLock { troubles in
      if let trouble = troubles[replica], trouble.replacedLinks > 0 {
        troubles[replica]?.replacedLinks -= 1
      } else {
        troubles[replica] = nil
      }
    }
  }

  /// Notes that a link is about to be replaced by one with other settings.
  ///
  /// - Parameter isSameFile: Whether the log need not name the trouble again, should it last.
  func replace(_ replica: String, isSameFile: Bool) {
    troubles.withLock { troubles in
      var trouble = troubles[replica] ?? Trouble()
      if !isSameFile { trouble.code = nil }
      trouble.replacedLinks += 1
      troubles[replica] = trouble
    }
  }

  /// The problems of replicas that have no link just now, and are going to have one.
  func problems(beside names: Set<String>) -> [StatusProblem] {
    troubles.withLock { troubles in
      troubles.filter { !names.contains($0.key) }.sorted { $0.key < $1.key }
        .compactMap(\.value.problem)
    }
  }
}

/// What makes the daemon a degraded one while its engine runs.
struct EngineProblems: Sendable {
  let local: LocalProblems
  let decisions: ModelDecisions
  let troubles: ReplicaTroubles

  /// The worst first: those of the local store, then those of replicas that a person has to mend.
  func all(of status: SyncStatus) -> [StatusProblem] {
    local.all
      + status.replicas.compactMap { replica in
        if let old = troubles.problem(of: replica.name), !isSettled(old, of: replica) { return old }
        let problem = problem(of: replica)
        troubles.note(problem, of: replica.name)
        return problem
      } + troubles.problems(beside: Set(status.replicas.map(\.name)))
  }

  /// Whether this engine has seen how a replica is that had a problem before.
  private func isSettled(_ old: StatusProblem, of replica: LinkStatus) -> Bool {
    switch replica.phase {
    case .opening: replica.lastError != nil
    // What needs an approval is seen in the first pass.
    case .ready, .syncing:
      replica.lastPass != nil || replica.lastError != nil
        || old.code != SyncError.Code.awaitingApproval.rawValue
    // The link does not look at a replica that is paused: a pause mends nothing.
    case .paused: false
    case .migrating, .waiting, .awaitingApproval, .failed, .removed: true
    }
  }

  private func problem(of replica: LinkStatus) -> StatusProblem? {
    if let absence = troubles.absence(of: replica) { return absence }
    let error: SyncError
    switch replica.phase {
    case .failed(let failure):
      if failure.code == .incompatibleModel, let decision = decisions.problem(of: replica.name) {
        return StatusProblem(code: decision.code, message: "\(replica.name): \(decision.message)")
      }
      error = failure
    case .awaitingApproval(let plan): error = plan.error
    // It is being tried again, and nothing is over until that has succeeded.
    case .opening, .ready, .syncing:
      guard let last = replica.lastError, last.recovery == .person else { return nil }
      error = last
    case .migrating, .waiting, .paused, .removed: return nil
    }
    return StatusProblem(code: error.code.rawValue, message: "\(replica.name): \(error.message)")
  }
}
