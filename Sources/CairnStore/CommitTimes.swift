import Synchronization

/// How long the commits of a store took, from when all of a transaction was written to when the store says that it
/// lasts: where that waits for the disk, nearly all of it is the flush.
///
/// Mutable state: the sums, inside the mutex.
package final class CommitTimes: Sendable {
  /// The commits so far.
  package struct Sums: Sendable, Equatable {
    /// How many took at most as long as the bound at the same place, and longer than the bound before.
    package fileprivate(set) var counts = [Int](repeating: 0, count: CommitTimes.bounds.count)
    /// All of them, also those longer than the last bound.
    package fileprivate(set) var count = 0
    package fileprivate(set) var seconds = 0.0

    package init() {}
  }

  /// In seconds; the last is far beyond what a disk in order takes.
  package static let bounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5]

  private let state = Mutex(Sums())

  package init() {}

  package var sums: Sums { state.withLock { $0 } }

  package func add(_ duration: Duration) {
    let (seconds, attoseconds) = duration.components
    let time = Double(seconds) + Double(attoseconds) / 1e18
    let place = Self.bounds.firstIndex { time <= $0 }
    state.withLock { state in
      if let place { state.counts[place] += 1 }
      state.count += 1
      state.seconds += time
    }
  }
}
