// What a service says to its manager, on the manager's side.
import Foundation

/// A Unix datagram socket at a path, as `$NOTIFY_SOCKET` names it.
///
/// Used by one thread at a time.
package final class ReceivingSocket: Sendable {
  private let descriptor: Int32

  /// Opens a socket that receives what is sent to `path`.
  package init(at path: String) throws {
    descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let room = MemoryLayout.size(ofValue: address.sun_path)
    guard descriptor >= 0, path.utf8.count < room else {
      throw POSIXError(descriptor < 0 ? .EMFILE : .ENAMETOOLONG)
    }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    let bound = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    guard bound == 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EINVAL) }
  }

  deinit { close(descriptor) }

  /// Waits for one message, at most `timeout`; nil when none came.
  package func receive(timeout: Duration) throws -> [UInt8]? {
    var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    guard poll(&entry, 1, Int32(timeout / .milliseconds(1))) > 0 else { return nil }
    var buffer = [UInt8](repeating: 0, count: 64 * 1024)
    let count = recv(descriptor, &buffer, buffer.count, 0)
    guard count >= 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
    return Array(buffer.prefix(count))
  }
}
