import Synchronization

/// Who waits for passes of one link.
///
/// Mutable state: the waiters by number, inside the mutex; no waiter is resumed while it is held.
final class PassWaiters: Sendable {
  private struct Waiter {
    let ticket: Int
    /// Whether it waits for a replica that cannot be reached.
    let isPatient: Bool
    let continuation: CheckedContinuation<Void, any Error>
  }
  private struct State {
    var waiters: [Int: Waiter] = [:]
    var last = 0
  }
  private let state = Mutex(State())

  func newID() -> Int {
    state.withLock { state in
      state.last += 1
      return state.last
    }
  }

  /// - Parameter ticket: The number of the pass that it waits for.
  func add(
    _ id: Int, ticket: Int, isPatient: Bool, _ continuation: CheckedContinuation<Void, any Error>
  ) {
    state.withLock {
      $0.waiters[id] = Waiter(ticket: ticket, isPatient: isPatient, continuation: continuation)
    }
  }

  /// Ends a wait; does nothing when it has ended.
  func resolve(_ id: Int, _ result: Result<Void, any Error>) {
    let waiter = state.withLock { $0.waiters.removeValue(forKey: id) }
    waiter?.continuation.resume(with: result)
  }

  /// A pass was completed that serves all up to a number.
  func complete(upTo ticket: Int) {
    for waiter in take(where: { $0.ticket <= ticket }) { waiter.continuation.resume() }
  }

  func fail(_ error: SyncError, where concerns: (_ isPatient: Bool) -> Bool = { _ in true }) {
    for waiter in take(where: { concerns($0.isPatient) }) {
      waiter.continuation.resume(throwing: error)
    }
  }

  private func take(where condition: (Waiter) -> Bool) -> [Waiter] {
    state.withLock { state in
      let taken = state.waiters.filter { condition($0.value) }
      for id in taken.keys { state.waiters[id] = nil }
      return Array(taken.values)
    }
  }
}
