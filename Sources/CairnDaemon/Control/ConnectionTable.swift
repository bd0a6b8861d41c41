// How many connections there are, whose, and which of them are in a call.
import Synchronization

/// Counts connections and decides whether one more may come.
final class ConnectionTable: Sendable {
  struct Limits: Sendable {
    /// All connections together; root has one place beyond it.
    var total = 256
    /// Connections of one user; root is not held to it.
    var perUser = 64
  }

  private struct Connection {
    let user: UInt32
    let close: @Sendable () -> Void
    var isInCall = false
  }

  private struct State {
    var connections: [Int: Connection] = [:]
    var nextNumber = 1
    var isDraining = false
  }

  /// Guards everything; closures run outside of it.
  private let state = Mutex(State())
  private let limits: Limits

  init(limits: Limits) { self.limits = limits }

  var count: Int { state.withLock { $0.connections.count } }

  /// The number of the new connection, or nil when there is no room.
  func admit(user: UInt32, close: @escaping @Sendable () -> Void) -> Int? {
    state.withLock { state in
      guard !state.isDraining else { return nil }
      if user == 0 {
        guard state.connections.count <= limits.total else { return nil }
      } else {
        guard state.connections.count < limits.total,
          state.connections.values.count(where: { $0.user == user }) < limits.perUser
        else { return nil }
      }
      defer { state.nextNumber += 1 }
      state.connections[state.nextNumber] = Connection(user: user, close: close)
      return state.nextNumber
    }
  }

  func remove(_ number: Int) {
    state.withLock { _ = $0.connections.removeValue(forKey: number) }
  }

  /// Marks the beginning of a call; false when no further call may begin.
  func beginCall(_ number: Int) -> Bool {
    state.withLock { state in
      guard !state.isDraining else { return false }
      state.connections[number]?.isInCall = true
      return true
    }
  }

  /// Marks the end of a call; false when the connection should end too.
  func endCall(_ number: Int) -> Bool {
    state.withLock { state in
      state.connections[number]?.isInCall = false
      return !state.isDraining
    }
  }

  /// Lets calls in progress finish and closes the other connections.
  func drain() {
    let idle = state.withLock { state in
      state.isDraining = true
      return state.connections.values.filter { !$0.isInCall }.map(\.close)
    }
    for close in idle { close() }
  }

  /// Closes every connection.
  func closeAll() {
    let all = state.withLock { $0.connections.values.map(\.close) }
    for close in all { close() }
  }
}
