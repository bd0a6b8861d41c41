// Ends streams that would go on for ever.
import Synchronization

/// What the control server ends when the daemon stops, so that callers that look on do not hold it up.
///
/// Mutable state: the streams, inside the mutex.
final class StreamEndings: Sendable {
  private struct State {
    var isOver = false
    var ends: [Int: @Sendable () -> Void] = [:]
    var next = 0
  }
  private let state = Mutex(State())

  /// Whether all were ended.
  var isOver: Bool { state.withLock { $0.isOver } }

  /// Calls `end` when the daemon stops, at once when it does already.
  ///
  /// - Returns: a number to forget it by.
  func add(_ end: @escaping @Sendable () -> Void) -> Int {
    let id = state.withLock { state -> Int? in
      if state.isOver { return nil }
      state.next += 1
      state.ends[state.next] = end
      return state.next
    }
    if id == nil { end() }
    return id ?? 0
  }

  func forget(_ id: Int) { state.withLock { $0.ends[id] = nil } }

  func endAll() {
    let ends = state.withLock { state in
      state.isOver = true
      defer { state.ends = [:] }
      return Array(state.ends.values)
    }
    for end in ends { end() }
  }
}
