// Keeps what happens again and again from filling the log.
import CairnPlatform
import Synchronization

/// Lets one entry a subject through in five minutes.
///
/// Mutable state: when each subject was let through last, inside the mutex; old ones are forgotten.
final class EventThrottle: Sendable {
  private let last = Mutex<[String: UInt64]>([:])
  private let interval: UInt64
  /// How many subjects are remembered at once.
  private static let capacity = 1000

  /// - Parameter interval: Nanoseconds.
  init(interval: UInt64 = 300_000_000_000) { self.interval = interval }

  /// Whether an entry about the subject is due.
  func isDue(_ subject: String, now: UInt64 = MonotonicClock.nanoseconds) -> Bool {
    last.withLock { last in
      // Another thread may have looked at the clock later and come first.
      if let before = last[subject], now < before + interval { return false }
      if last.count >= Self.capacity { last = last.filter { now < $0.value + interval } }
      // As many subjects as that are a flood: they wait.
      guard last.count < Self.capacity else { return false }
      last[subject] = now
      return true
    }
  }
}
