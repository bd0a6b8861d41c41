// How many connections there are, whose, and which of them are in a call.
import Synchronization

/// Counts connections and decides whether one more may come.
final class ConnectionTable: Sendable {
  struct Limits: Sendable {
    /// All connections together, but for the places that are kept for owners.
    var total = 256
    /// Connections of one user; owners are not held to it.
    var perUser = 64
    /// Places beyond `total` that only root and the daemon's own user get: whatever others hold, they
    /// can look and act.
    var ownerReserve = 8
    /// Connections that are answered at one time that there is no room; more are closed without a word,
    /// so that descriptors are left for those that get a place.
    var turnedAway = 16
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
    var turnedAway = 0
  }

  /// Guards everything; closures run outside of it.
  private let state = Mutex(State())
  private let limits: Limits
  private let figures: ServiceFigures

  init(limits: Limits, figures: ServiceFigures = ServiceFigures()) {
    self.limits = limits
    self.figures = figures
  }

  var count: Int { state.withLock { $0.connections.count } }

  /// The number of the new connection, or nil when there is no room.
  ///
  /// - Parameter isOwner: Whether it is of root or of the daemon's own user.
  func admit(user: UInt32, isOwner: Bool, close: @escaping @Sendable () -> Void) -> Int? {
    state.withLock { state in
      guard !state.isDraining else { return nil }
      let others = isOwner ? 0 : state.connections.values.count { $0.user == user }
      let room = limits.total + (isOwner ? limits.ownerReserve : 0)
      guard state.connections.count < room, others < limits.perUser else {
        figures.refused(.connections)
        return nil
      }
      defer { state.nextNumber += 1 }
      state.connections[state.nextNumber] = Connection(user: user, close: close)
      figures.connections(state.connections.count)
      return state.nextNumber
    }
  }

  /// Whether one that gets no place may have an answer; if so, ``endTurningAway()`` follows.
  func beginTurningAway() -> Bool {
    state.withLock { state in
      guard state.turnedAway < limits.turnedAway else { return false }
      state.turnedAway += 1
      return true
    }
  }

  func endTurningAway() { state.withLock { $0.turnedAway -= 1 } }

  func remove(_ number: Int) {
    state.withLock { state in
      state.connections[number] = nil
      figures.connections(state.connections.count)
    }
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
