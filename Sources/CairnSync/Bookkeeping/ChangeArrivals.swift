import Synchronization

/// When changes arrived in a store, by their numbers in its change order, as far as this process has given these.
///
/// The status asks how long the oldest change that a replica lacks has been there.
///
/// Mutable state: the runs, inside the mutex.
final class ChangeArrivals: Sendable {
  /// Numbers that follow those of the run before.
  private struct Run {
    var last: UInt64
    /// When the first of them arrived, in milliseconds since 1970.
    let time: UInt64
  }
  private struct State {
    /// What precedes the first run.
    var start: UInt64 = 0
    var runs: [Run] = []
  }
  private let state = Mutex(State())
  /// Replicas that are in step lack the newest only, whose times stay as they are.
  private static let limit = 128

  /// ``StoreAccess`` calls this after each commit that gave numbers.
  func note(_ numbers: ClosedRange<UInt64>, at time: UInt64) {
    state.withLock { state in
      if let last = state.runs.last?.last, numbers.lowerBound > last {
        // What another process has given in between came after the run before.
        state.runs[state.runs.count - 1].last = numbers.lowerBound - 1
      } else {
        // The first, or those of a store that went back in time.
        state = State(start: numbers.lowerBound - 1)
      }
      state.runs.append(Run(last: numbers.upperBound, time: time))
      if state.runs.count > Self.limit { Self.thin(&state.runs) }
    }
  }

  /// When the first change after a number arrived, or one before it; nil where another process gave its number.
  func time(after number: UInt64) -> UInt64? {
    state.withLock { state in
      number < state.start ? nil : state.runs.first { $0.last > number }?.time
    }
  }

  /// Unites the older half two by two.
  private static func thin(_ runs: inout [Run]) {
    let half = limit / 2
    let united = stride(from: 0, to: half, by: 2).map { index in
      Run(last: runs[index + 1].last, time: min(runs[index].time, runs[index + 1].time))
    }
    runs.replaceSubrange(..<half, with: united)
  }
}
