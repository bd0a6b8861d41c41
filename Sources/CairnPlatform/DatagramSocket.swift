// One-way messages to a socket file, as journald and systemd take them.
import CPlatform
import Glibc

/// A Unix datagram socket for sending, and in tests for receiving.
///
/// Thread-safe.
public final class DatagramSocket: Sendable {
  private let descriptor: OwnedDescriptor

  /// Opens a socket without a name.
  public init() throws {
    let opened = cplatform_datagram_socket()
    guard opened >= 0 else { throw PlatformError("open a datagram socket", code: .current) }
    descriptor = OwnedDescriptor(adopting: opened)
  }

  /// Opens a socket that receives what is sent to `path`.
  public convenience init(boundTo path: String) throws {
    try self.init()
    guard cplatform_bind_path(descriptor.rawValue, path) == 0 else {
      throw PlatformError("bind the socket", path: path, code: .current)
    }
  }

  /// Sends one message to the socket at `path` (`@name` for an abstract one).
  public func send(_ bytes: [UInt8], to path: String) throws {
    let count = bytes.withUnsafeBytes { buffer in
      retryingInterrupts {
        cplatform_send_datagram(descriptor.rawValue, path, buffer.baseAddress, buffer.count, -1)
      }
    }
    guard count >= 0 else { throw PlatformError("send to", path: path, code: .current) }
  }

  /// Sends an empty message that carries the memory file.
  public func send(attaching memory: SealedMemory, to path: String) throws {
    let sent = retryingInterrupts {
      cplatform_send_datagram(
        descriptor.rawValue, path, nil, 0, memory.descriptor.rawValue)
    }
    guard sent >= 0 else {
      throw PlatformError("send a memory file to", path: path, code: .current)
    }
  }

  /// Blocks until everything that was sent has been read, at most for `timeout`.
  ///
  /// - Returns: whether it has been.
  @discardableResult
  public func waitUntilRead(timeout: Duration) -> Bool {
    let deadline = MonotonicClock.nanoseconds &+ UInt64(max(0, timeout.wholeNanoseconds))
    while cplatform_unread(descriptor.rawValue) > 0 {
      if MonotonicClock.nanoseconds >= deadline { return false }
      usleep(1000)
    }
    return true
  }

  /// Waits for one message, at most `timeout`; nil when none came.
  public func receive(timeout: Duration) throws -> [UInt8]? {
    guard try waitUntilReady(descriptor.rawValue, for: POLLIN, timeout: timeout) else { return nil }
    var buffer = [UInt8](repeating: 0, count: 256 * 1024)
    let count = buffer.withUnsafeMutableBytes { bytes in
      retryingInterrupts { recv(descriptor.rawValue, bytes.baseAddress, bytes.count, 0) }
    }
    guard count >= 0 else { throw PlatformError("receive a message", code: .current) }
    return Array(buffer.prefix(count))
  }
}

/// Blocks until the descriptor can be read or written; false when the time is over.
func waitUntilReady(_ descriptor: Int32, for events: Int32, timeout: Duration?) throws -> Bool {
  let deadline = timeout.map { MonotonicClock.nanoseconds &+ UInt64(max(0, $0.wholeNanoseconds)) }
  return try !DescriptorReadiness(rawValue: events).wait(on: descriptor, until: deadline).isEmpty
}
