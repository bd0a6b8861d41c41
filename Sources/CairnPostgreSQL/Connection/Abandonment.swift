import CLibPQ
import Foundation
import Synchronization

/// Ends the waits of a store's connections for a server that says nothing, because no caller wants the answers any more.
final class Abandonment: Sendable {
  private let state = Atomic(false)

  var isOn: Bool { state.load(ordering: .relaxed) }
  func turnOn() { state.store(true, ordering: .relaxed) }

  /// How often a caller that waits looks whether it shall.
  static let look = Duration.milliseconds(200)

  /// Connects, which libpq ends only after its own time-outs, on a thread that may be left to that.
  ///
  /// - Returns: What libpq made; nil where the wait was abandoned.
  func connecting(
    _ libpq: LibPQ, _ connect: @escaping @Sendable () -> Handle
  ) -> Handle? {
    let attempt = Attempt()
    Thread.detachNewThread {
      let handle = connect()
      if !attempt.finish(handle), let connection = handle.connection { libpq.finish(connection) }
    }
    return attempt.wait { self.isOn }
  }

  /// What libpq hands out for a connection; nil where it has no memory.
  // Unchecked: it goes from the thread that connects to the one that waits, and is used there alone.
  struct Handle: @unchecked Sendable {
    let connection: OpaquePointer?
  }

  /// Hands a connection from the thread that makes it to the one that waits for it.
  // Unchecked: `handle` and `isLeft` are read and changed under `condition` alone.
  private final class Attempt: @unchecked Sendable {
    private let condition = NSCondition()
    private var handle: Handle?
    private var isLeft = false

    /// False where no caller waits any more.
    func finish(_ handle: Handle) -> Bool {
      condition.lock()
      defer { condition.unlock() }
      if isLeft { return false }
      self.handle = handle
      condition.signal()
      return true
    }

    func wait(until isOver: () -> Bool) -> Handle? {
      condition.lock()
      defer { condition.unlock() }
      while handle == nil {
        if isOver() {
          isLeft = true
          return nil
        }
        _ = condition.wait(until: Date(timeIntervalSinceNow: Abandonment.look.inSeconds))
      }
      return handle
    }
  }
}
