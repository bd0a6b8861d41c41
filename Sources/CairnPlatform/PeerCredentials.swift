// Who is at the other end of a Unix socket, by the kernel's word.
import CPlatform
import Glibc

/// The process that connected, as it was when it connected.
///
/// A passed-on socket keeps them.
public struct PeerCredentials: Sendable, Hashable {
  /// The process that called `connect`; it may be gone and its number used again.
  public let process: Int32
  /// Its effective user.
  public let user: UInt32
  /// Its effective group and all supplementary groups.
  public let groups: Set<UInt32>

  /// Makes credentials by hand, for tests and for in-process callers.
  public init(process: Int32, user: UInt32, groups: Set<UInt32>) {
    self.process = process
    self.user = user
    self.groups = groups
  }

  /// Asks the kernel about the peer of a connected Unix socket.
  public init(ofSocket descriptor: Int32) throws {
    var peer = cplatform_peer()
    guard cplatform_peer_credentials(descriptor, &peer) == 0 else {
      throw PlatformError("read the credentials of a connection", code: .current)
    }
    process = peer.process
    user = peer.user
    groups = try Self.supplementaryGroups(ofSocket: descriptor).union([peer.group])
  }

  /// The credentials that this process would show.
  public static var own: PeerCredentials {
    var groups = [gid_t](repeating: 0, count: 65536)
    let count = getgroups(Int32(groups.count), &groups)
    return PeerCredentials(
      process: getpid(), user: geteuid(),
      groups: Set(groups.prefix(Int(max(0, count)))).union([getegid()]))
  }

  private static func supplementaryGroups(ofSocket descriptor: Int32) throws -> Set<UInt32> {
    var capacity = 64
    while true {
      var groups = [UInt32](repeating: 0, count: capacity)
      let count = Int(cplatform_peer_groups(descriptor, &groups, groups.count))
      guard count >= 0 else {
        throw PlatformError("read the groups of a connection", code: .current)
      }
      if count <= capacity { return Set(groups.prefix(count)) }
      capacity = count
    }
  }
}
