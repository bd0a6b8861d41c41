// What the status and the log say is wrong with the local store.

import CairnControl
import CairnStore
import CairnSync

/// What is wrong with the local store although it is open.
struct LocalProblems: Sendable {
  let store: PersistentStore
  let health: LocalHealth
  let decisions: ModelDecisions
  private let failures: (any FailureReporting)?

  init(store: PersistentStore, health: LocalHealth, decisions: ModelDecisions) {
    self.store = store
    self.health = health
    self.decisions = decisions
    failures = store.capabilities.failures
  }

  /// The worst first: what was noted, that it writes no more, or that acknowledged commits are not there;
  /// then what has to be decided about its version.
  var all: [StatusProblem] { now.all }

  /// ``all``, and whether something does not work now.
  var now: (all: [StatusProblem], areFailures: Bool) {
    let (noted, failure) = (health.problems, failures?.failure)
    var all = noted
    if let failure, noted.isEmpty {
      all.append(StatusProblem(code: failure.storeTrouble.rawValue, message: failure.message))
    } else {
      for finding in failures?.findings ?? [] {
        all.append(StatusProblem(code: "commits-missing", message: finding))
      }
    }
    if let decision = decisions.problem(of: StoreReference.localName) { all.append(decision) }
    return (all, !noted.isEmpty || failure != nil)
  }
}
