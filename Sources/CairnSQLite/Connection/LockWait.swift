import CairnStore
import Foundation
import GRDBSQLite

/// How long and how often a connection tries to get a lock that another one has.
///
/// SQLite's own time-out pauses for 1, 2, 5, 10 … 100 ms: beside a writer that commits all the time, such as a
/// merge, one save in a hundred sleeps through its pauses for fifty. This looks more often while the wait is
/// short, and seldom once it is clear that the lock is held for long.
struct LockWait: Hashable, Sendable {
  /// In milliseconds; 0 for not at all.
  let limit: Int32

  init(limit: Int32) { self.limit = max(0, limit) }

  /// - Parameter seconds: Any number; out of range means the nearest that SQLite can wait.
  init(seconds: Double) {
    self.init(limit: seconds.isNaN ? 0 : Int32(max(0, min(seconds * 1000, Double(Int32.max)))))
  }

  /// The pauses, in microseconds, and how often each is made before the next; the last for as long as the
  /// limit allows.
  private static let pauses: [(length: Int64, count: Int64)] = [
    (250, 40), (1000, 90), (10_000, 90), (50_000, .max),
  ]

  /// How long to pause before a lock is asked for once more, in microseconds; nil when the wait is over.
  ///
  /// - Parameter attempt: How often it was asked for in vain before.
  func pause(before attempt: Int32) -> Int64? {
    var left = Int64(attempt)
    var waited: Int64 = 0
    for (length, count) in Self.pauses {
      if left < count {
        waited += left * length
        let rest = Int64(limit) * 1000 - waited
        return rest > 0 ? min(length, rest) : nil
      }
      waited += count * length
      left -= count
    }
    return nil
  }

  /// Asks again and again, with the same pauses, until there is an answer or the wait is over.
  func retrying<Answer>(_ ask: () throws -> Answer?) rethrows -> Answer? {
    var attempts: Int32 = 0
    while true {
      if let answer = try ask() { return answer }
      guard pause(attempts) else { return nil }
      attempts += 1
    }
  }

  /// Pauses before a lock is asked for once more.
  ///
  /// - Returns: False when the wait is over.
  private func pause(_ attempt: Int32) -> Bool {
    guard let pause = pause(before: attempt) else { return false }
    // It ends, as the attempts do.
    QueueWork.gotOn()
    usleep(UInt32(pause))
    return true
  }

  /// Makes a connection wait like this from now on, instead of by `PRAGMA busy_timeout`.
  func install(on connection: OpaquePointer?) {
    // The limit is the context itself, so that nothing has to outlive the connection; without one SQLite
    // does not wait.
    let context = CallbackContext.number(Int(limit))
    let handler: @convention(c) (UnsafeMutableRawPointer?, Int32) -> Int32 = { context, attempt in
      let wait = LockWait(limit: Int32(CallbackContext.number(in: context)))
      return wait.pause(attempt) ? 1 : 0
    }
    sqlite3_busy_handler(connection, limit > 0 ? handler : nil, context)
  }
}
