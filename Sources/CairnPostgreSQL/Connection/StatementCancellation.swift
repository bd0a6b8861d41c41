import CLibPQ
import CairnStore

/// Asks the server to end the statement that a session is at, from another thread than the one that waits for it.
// Unchecked: libpq allows it from every thread, even beside the connection's end; the value never changes.
package final class StatementCancellation: @unchecked Sendable {
  private let handle: OpaquePointer
  private let libpq: LibPQ

  init(_ handle: OpaquePointer, libpq: LibPQ) {
    self.handle = handle
    self.libpq = libpq
  }

  deinit { libpq.freeCancel(handle) }

  /// Asks now, over a connection of its own; the statement may end before the server hears it.
  ///
  /// - Returns: Whether the server took the request.
  @discardableResult
  package func cancel() -> Bool {
    var room = [CChar](repeating: 0, count: 256)
    return libpq.cancel(handle, &room, Int32(room.count)) == 1
  }
}
