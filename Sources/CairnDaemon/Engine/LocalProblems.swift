// What the status and the log say is wrong with the local store.

import CairnControl
import CairnStore
import CairnSync

/// What is wrong with the local store although it is open.
struct LocalProblems: Sendable {
  let store: PersistentStore
  let health: LocalHealth
  let decisions: ModelDecisions

  /// The worst first: what was noted, that it writes no more, or that acknowledged commits are not there;
  /// then what has to be decided about its version.
  var all: [StatusProblem] {
    found + [decisions.problem(of: StoreReference.localName)].compactMap { $0 }
  }

  private var found: [StatusProblem] {
    let noted = health.problems
    guard let store = store.capabilities.failures else { return noted }
    if let failure = store.failure, noted.isEmpty {
      return [StatusProblem(code: failure.storeTrouble.rawValue, message: failure.message)]
    }
    return noted + store.findings.map { StatusProblem(code: "commits-missing", message: $0) }
  }

  /// Whether something does not work now.
  var isFailing: Bool {
    !health.problems.isEmpty || store.capabilities.failures?.failure != nil
  }
}
