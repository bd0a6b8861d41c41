// A blocking connection over a Unix socket, with time-outs.
import CPlatform
import Glibc

/// One end of a stream connection.
///
/// Reading and writing may happen on different threads, but only one reader and one writer at a
/// time.
public final class UnixStream: Sendable {
  private let descriptor: OwnedDescriptor
  private let path: String?

  /// Connects to the socket at `path`.
  ///
  /// - Parameter timeout: How long to wait for room in the listener's queue; nil waits for ever.
  /// - Throws: ``PlatformError``: `.notFound` and `.refused` when no process listens.
  public init(connectingTo path: String, timeout: Duration? = .seconds(5)) throws {
    let opened = cplatform_stream_socket()
    guard opened >= 0 else { throw PlatformError("open a socket", path: path, code: .current) }
    descriptor = OwnedDescriptor(adopting: opened)
    self.path = path
    let deadline = timeout.map { MonotonicClock.nanoseconds &+ UInt64(max(0, $0.wholeNanoseconds)) }
    while cplatform_connect_path(opened, path) != 0 {
      let code = ErrnoCode.current
      if code == .interrupted { continue }
      // A full queue is reported as EAGAIN; poll does not wait for room in it.
      guard code == .tryAgain else { throw PlatformError("connect to", path: path, code: code) }
      if let deadline, MonotonicClock.nanoseconds >= deadline {
        throw PlatformError("connect to", path: path, code: .timedOut)
      }
      usleep(5000)
    }
  }

  /// Takes over a connected socket.
  public init(adopting descriptor: OwnedDescriptor) {
    self.descriptor = descriptor
    path = nil
  }

  /// Reads what is there, at most `limit` bytes; empty at the end of the stream.
  ///
  /// - Throws: ``PlatformError`` with `.timedOut` when nothing came in time.
  public func read(limit: Int = 64 * 1024, timeout: Duration? = nil) throws -> [UInt8] {
    var buffer = [UInt8](repeating: 0, count: limit)
    while true {
      guard try waitUntilReady(descriptor.rawValue, for: POLLIN, timeout: timeout) else {
        throw PlatformError("read from", path: path, code: .timedOut)
      }
      let count = buffer.withUnsafeMutableBytes { bytes in
        recv(descriptor.rawValue, bytes.baseAddress, bytes.count, 0)
      }
      if count >= 0 {
        buffer.removeSubrange(count...)
        return buffer
      }
      let code = ErrnoCode.current
      if code == .tryAgain || code == .interrupted { continue }
      throw PlatformError("read from", path: path, code: code)
    }
  }

  /// Writes all bytes, waiting at most `timeout` each time the other side does not take any.
  public func write(_ bytes: [UInt8], timeout: Duration? = nil) throws {
    var offset = 0
    while offset < bytes.count {
      let count = bytes.withUnsafeBytes { buffer in
        let rest = UnsafeRawBufferPointer(rebasing: buffer[offset...])
        return cplatform_send(descriptor.rawValue, rest.baseAddress, rest.count)
      }
      if count > 0 {
        offset += count
        continue
      }
      let code = ErrnoCode.current
      if code == .interrupted { continue }
      guard code == .tryAgain else { throw PlatformError("write to", path: path, code: code) }
      guard try waitUntilReady(descriptor.rawValue, for: POLLOUT, timeout: timeout) else {
        throw PlatformError("write to", path: path, code: .timedOut)
      }
    }
  }

  /// Says that nothing more will be written; reading goes on.
  public func finishWriting() { shutdown(descriptor.rawValue, Int32(SHUT_WR)) }

  /// Who is at the other end.
  public func peerCredentials() throws -> PeerCredentials {
    try PeerCredentials(ofSocket: descriptor.rawValue)
  }

  /// Ends the connection; a blocked read or write of another thread returns.
  public func close() {
    shutdown(descriptor.rawValue, Int32(SHUT_RDWR))
    descriptor.close()
  }
}
