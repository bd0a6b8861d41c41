// What happens to the stores of a group, counted for metrics.
import CairnSync
import Foundation
import Synchronization

/// Checks of stores and troubles of replicas, as they come.
///
/// Mutable state: all of it, inside the mutex.
final class GroupFigures: Sendable {
  /// One store.
  struct Check: Sendable, Equatable {
    /// When it was last looked at as a whole.
    var date: Date
    /// What all looks have found.
    var found = 0
  }

  /// The figures of one moment.
  struct Values: Sendable, Equatable {
    /// By store; a replica is checked by comparing it with the local store.
    var checks: [String: Check] = [:]
    /// How often a pass failed or a replica was not to be reached, by replica and reason.
    var errors: [String: [String: Int]] = [:]
  }

  private let state = Mutex(Values())

  var values: Values { state.withLock { $0 } }

  /// A store was looked at as a whole.
  func checked(_ store: String, found: Int, date: Date = Date()) {
    state.withLock { state in
      state.checks[store, default: Check(date: date)].date = date
      state.checks[store]?.found += found
    }
  }

  func failed(_ replica: String, _ code: SyncError.Code) {
    state.withLock { $0.errors[replica, default: [:]][code.rawValue, default: 0] += 1 }
  }

  /// A replica is no part of the group any more.
  func forget(_ replica: String) {
    state.withLock { state in
      state.checks[replica] = nil
      state.errors[replica] = nil
    }
  }
}
