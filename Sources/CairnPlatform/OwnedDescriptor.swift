// A file descriptor with one owner, closed when the owner goes.
import Glibc
import Synchronization

/// A descriptor that is closed once: by ``close()``, or when the last reference goes.
public final class OwnedDescriptor: Sendable {
  private let number: Mutex<Int32?>

  /// Takes over an open descriptor.
  public init(adopting descriptor: Int32) {
    number = Mutex(descriptor)
  }

  deinit { close() }

  /// The descriptor's number, or -1 after it was closed or released.
  public var rawValue: Int32 { number.withLock { $0 ?? -1 } }

  /// Closes the descriptor now.
  ///
  /// Later calls do nothing.
  public func close() {
    let open = number.withLock { state -> Int32? in
      defer { state = nil }
      return state
    }
    if let open { _ = Glibc.close(open) }
  }

  /// Has reads, writes and accepts end at once where they would wait.
  public func waitForNothing() {
    let flags = fcntl(rawValue, F_GETFL)
    if flags >= 0 { _ = fcntl(rawValue, F_SETFL, flags | O_NONBLOCK) }
  }

  /// Hands the descriptor to the caller, who closes it from now on; -1 if it is closed already.
  public func release() -> Int32 {
    number.withLock { state in
      defer { state = nil }
      return state ?? -1
    }
  }
}

/// Repeats a kernel call that a signal interrupted.
func retryingInterrupts<Result: BinaryInteger>(_ call: () -> Result) -> Result {
  while true {
    let result = call()
    if result == -1, errno == EINTR { continue }
    return result
  }
}
