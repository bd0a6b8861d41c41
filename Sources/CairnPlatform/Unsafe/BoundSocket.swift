// A listening Unix socket that was handed in, and the file under which it is found.
import Glibc

extension OwnedDescriptor {
  /// The file that a Unix socket was bound to; nil for one that has none in the file system.
  public var boundPath: String? {
    var address = sockaddr_un()
    var length = socklen_t(MemoryLayout<sockaddr_un>.size)
    let result = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        getsockname(rawValue, $0, &length)
      }
    }
    guard result == 0, address.sun_family == sa_family_t(AF_UNIX) else { return nil }
    let path = withUnsafeBytes(of: &address.sun_path) { bytes in
      String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }
    return path.isEmpty ? nil : path
  }
}

extension UnixListener {
  /// Takes over a listening socket whose file is this process's to remove.
  ///
  /// - Returns: nil when it was bound to another path, or a socket file of this user is there no more.
  /// - Throws: ``PlatformError`` when it is no listening socket.
  public init?(adopting descriptor: OwnedDescriptor, lyingAt path: String) throws {
    var information = stat()
    guard descriptor.boundPath == path, lstat(path, &information) == 0,
      information.st_mode & S_IFMT == S_IFSOCK, information.st_uid == geteuid()
    else { return nil }
    self.descriptor = try UnixListener(adopting: descriptor).descriptor
    self.path = path
  }
}
