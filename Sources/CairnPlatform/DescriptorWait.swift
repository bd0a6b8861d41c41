// Waiting for a descriptor, among others one that a library owns.
import Glibc

/// What a descriptor is ready for.
public struct DescriptorReadiness: OptionSet, Sendable {
  public let rawValue: Int32
  public init(rawValue: Int32) { self.rawValue = rawValue }

  public static let reading = DescriptorReadiness(rawValue: POLLIN)
  public static let writing = DescriptorReadiness(rawValue: POLLOUT)

  /// Waits until a descriptor is ready for one of these; hang-ups and errors count as ready for all, since the
  /// next call on the descriptor says so.
  ///
  /// - Parameter deadline: A reading of ``MonotonicClock/nanoseconds``; nil waits for ever.
  /// - Returns: Empty when the time is over.
  public func wait(on descriptor: Int32, until deadline: UInt64?) throws -> DescriptorReadiness {
    while true {
      var wait: Int32 = -1
      if let deadline {
        // Rounded up, so that a wait never spins through its last millisecond.
        let now = MonotonicClock.nanoseconds
        wait = now >= deadline ? 0 : Int32(clamping: (deadline - now + 999_999) / 1_000_000)
      }
      var entry = pollfd(fd: descriptor, events: Int16(rawValue), revents: 0)
      let count = poll(&entry, 1, wait)
      if count == 0 { return [] }
      if count < 0 {
        if errno == EINTR { continue }
        throw PlatformError("wait for a socket", code: .current)
      }
      let found = DescriptorReadiness(rawValue: Int32(entry.revents)).intersection(self)
      return found.isEmpty ? self : found
    }
  }
}

/// Blocks until the descriptor can be read or written; false when the time is over.
func waitUntilReady(_ descriptor: Int32, for events: Int32, timeout: Duration?) throws -> Bool {
  let deadline = timeout.map { MonotonicClock.nanoseconds &+ UInt64(max(0, $0.wholeNanoseconds)) }
  return try !DescriptorReadiness(rawValue: events).wait(on: descriptor, until: deadline).isEmpty
}
