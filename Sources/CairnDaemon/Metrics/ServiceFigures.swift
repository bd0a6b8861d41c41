// What happens to the service itself, counted for metrics.
import CairnPlatform
import Synchronization

/// Connections, refusals, and the time between two signs of life, as they come.
///
/// Mutable state: all of it, inside the mutex.
final class ServiceFigures: Sendable {
  /// Why a caller was turned away.
  enum Refusal: String, Sendable, CaseIterable {
    /// There was no room for its connection.
    case connections
    /// It may not call that method.
    case permission
    /// It did not read its answers.
    case unread
  }

  /// The figures of one moment.
  struct Values: Sendable, Equatable {
    /// Open connections to the control socket.
    var connections = 0
    var refused: [Refusal: Int] = [:]
    /// The longest time between two signs of life, in seconds; nil where none are wanted.
    var longestGap: Double?
    /// What systemd allows, in seconds; nil where it wants no signs of life.
    var gapLimit: Double?
  }

  private struct State {
    var values = Values()
    var fed: UInt64?
    /// The longest gap of each minute, the newest last.
    var gaps: [(minute: UInt64, longest: UInt64)] = []
  }

  /// For how many minutes a gap is remembered: longer than scrapers pause, and not for ever.
  private static let memory: UInt64 = 10
  private static let minute: UInt64 = 60_000_000_000
  private let state = Mutex(State())

  /// - Parameter now: The time since some fixed moment, in nanoseconds.
  func values(now: UInt64 = MonotonicClock.nanoseconds) -> Values {
    state.withLock { state in
      var values = state.values
      guard let fed = state.fed else { return values }
      // What lasts counts as well: a daemon that is about to be killed says so.
      let first = now / Self.minute - min(now / Self.minute, Self.memory)
      let longest = state.gaps.filter { $0.minute >= first }.map(\.longest).max() ?? 0
      values.longestGap = Double(max(longest, now - min(now, fed))) / 1e9
      return values
    }
  }

  func connections(_ count: Int) { state.withLock { $0.values.connections = count } }

  func refused(_ refusal: Refusal) {
    state.withLock { $0.values.refused[refusal, default: 0] += 1 }
  }

  /// systemd wants a sign of life at least so often.
  func isWatched(within limit: Duration, now: UInt64 = MonotonicClock.nanoseconds) {
    let (seconds, attoseconds) = limit.components
    state.withLock { state in
      state.values.gapLimit = Double(seconds) + Double(attoseconds) / 1e18
      state.fed = now
    }
  }

  /// One was given.
  func fed(now: UInt64 = MonotonicClock.nanoseconds) {
    state.withLock { state in
      let gap = now - min(now, state.fed ?? now)
      state.fed = now
      let minute = now / Self.minute
      if let last = state.gaps.last, last.minute == minute {
        state.gaps[state.gaps.count - 1].longest = max(last.longest, gap)
      } else {
        state.gaps.append((minute, gap))
        state.gaps.removeAll { $0.minute + Self.memory < minute }
      }
    }
  }
}
