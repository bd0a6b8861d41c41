// What a test does itself while another process runs.

import CairnTesting
import Foundation
import Synchronization
import Testing

/// Work of a test on a thread of its own, which begins at once.
///
/// A test that waits for the end of an exit test keeps one of the few threads of Swift's pool. Two such tests take both
/// threads of a machine with two processors, so each does here what its process waits for.
final class ThreadWork: Sendable {
  private final class Outcome: Sendable {
    let result = Mutex<Result<Void, any Error>?>(nil)
  }
  private let outcome = Outcome()

  init(_ work: @escaping @Sendable () throws -> Void) {
    Thread.detachNewThread { [outcome] in
      let result = Result(catching: work)
      outcome.result.withLock { $0 = result }
    }
  }

  /// Waits for its end, and throws what it threw.
  func finished() async throws {
    let isOver = await eventually { [outcome] in outcome.result.withLock { $0 != nil } }
    try #require(isOver)
    try outcome.result.withLock { $0 }?.get()
  }
}
