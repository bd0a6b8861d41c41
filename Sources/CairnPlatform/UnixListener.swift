// A listening Unix socket with the right owner and mode from its first moment.
import CPlatform
import Glibc

/// A socket file that accepts connections.
///
/// The file is removed by ``remove()`` only.
public struct UnixListener: Sendable {
  /// The listening descriptor.
  public let descriptor: OwnedDescriptor
  /// The socket file, nil for a socket that was handed in.
  public let path: String?

  /// Binds and listens at `path`.
  ///
  /// A socket file left behind by a process that is gone is replaced; one that answers is not.
  /// - Parameters:
  ///   - mode: Permissions of the socket file, whatever the process's umask.
  ///   - group: The group that gets the file, or nil for the process's own.
  /// - Throws: ``PlatformError``: `.inUse` when another process serves the path.
  public init(path: String, mode: UInt32 = 0o660, group: UInt32? = nil, backlog: Int32 = 128) throws
  {
    try Self.removeStaleSocket(path)
    let opened = cplatform_stream_socket()
    guard opened >= 0 else { throw PlatformError("open a socket", path: path, code: .current) }
    descriptor = OwnedDescriptor(adopting: opened)
    self.path = path
    // Owner only until the group and the mode are set: no other user slips in between.
    guard fchmod(opened, 0o600) == 0, cplatform_bind_path(opened, path) == 0 else {
      throw PlatformError("bind the socket", path: path, code: .current)
    }
    do {
      try Self.give(path, mode: mode, group: group)
      guard listen(opened, backlog) == 0 else {
        throw PlatformError("listen on", path: path, code: .current)
      }
    } catch {
      unlink(path)
      throw error
    }
  }

  /// Takes over a listening socket that systemd passed in.
  public init(adopting descriptor: OwnedDescriptor) throws {
    guard cplatform_is_listening_stream(descriptor.rawValue) == 1 else {
      throw PlatformError("use the passed descriptor as a listening socket", code: .notASocket)
    }
    descriptor.waitForNothing()
    self.descriptor = descriptor
    path = nil
  }

  /// Takes the next connection, waiting at most `timeout`; nil when none came.
  public func accept(timeout: Duration?) throws -> UnixStream? {
    guard try waitUntilReady(descriptor.rawValue, for: POLLIN, timeout: timeout) else { return nil }
    let accepted = cplatform_accept(descriptor.rawValue)
    guard accepted >= 0 else {
      throw PlatformError("accept a connection", path: path, code: .current)
    }
    return UnixStream(adopting: OwnedDescriptor(adopting: accepted))
  }

  /// Gives a socket file to a group, or to this process's own one, with permissions.
  public static func give(_ path: String, mode: UInt32, group: UInt32?) throws {
    // Only where it is not so already: a hardened service may not change owners at all.
    let group = group ?? getegid()
    if try FileFacts(path: path).group != group, chown(path, uid_t.max, group) != 0 {
      let code = ErrnoCode.current
      throw PlatformError(
        "give the socket to the group \(group)", path: path, code: code,
        advice: code != .notPermitted
          ? nil
          : "a unit that may not change owners needs that group as its Group=, or cairnd.socket "
            + "with it as SocketGroup=; then restart")
    }
    guard chmod(path, mode) == 0 else {
      throw PlatformError("set the mode of the socket", path: path, code: .current)
    }
  }

  /// Removes the socket file, if this process made it.
  public func remove() {
    if let path { unlink(path) }
  }

  private static func removeStaleSocket(_ path: String) throws {
    var information = stat()
    guard lstat(path, &information) == 0 else { return }
    guard information.st_mode & S_IFMT == S_IFSOCK else {
      throw PlatformError(
        "bind the socket (something else has that name)", path: path, code: .exists)
    }
    let probe = cplatform_stream_socket()
    guard probe >= 0 else { throw PlatformError("open a socket", path: path, code: .current) }
    let owned = OwnedDescriptor(adopting: probe)
    if cplatform_connect_path(owned.rawValue, path) == 0 || errno == EAGAIN {
      throw PlatformError("bind the socket", path: path, code: .inUse)
    }
    guard errno == ECONNREFUSED else {
      throw PlatformError("look who serves", path: path, code: .current)
    }
    guard unlink(path) == 0 else {
      throw PlatformError("remove the stale socket", path: path, code: .current)
    }
  }
}
