// The groups that have roles, as they are now.
import CairnControl
import CairnPlatform
import Synchronization

/// Who may do what on the control socket; changes while the daemon runs.
///
/// Mutable state: the policy, inside the mutex.
final class ControlRoles: Sendable {
  private let policy: Mutex<RolePolicy>
  /// The socket file, where the daemon makes it; systemd's belongs to systemd.
  private let socket: String?
  /// The files of the sockets that systemd made.
  private let passed: [String]

  /// Whether the process that started this one drives it.
  private let isDriven: Bool

  /// - Parameters:
  ///   - passed: The sockets of a socket unit.
  ///   - isDriven: Whether the process that started this one drives it, and is an owner.
  init(
    _ settings: ControlServer.Settings, passed: [OwnedDescriptor], isDriven: Bool = false
  ) {
    self.isDriven = isDriven
    socket = passed.isEmpty ? settings.path : nil
    self.passed = passed.compactMap(\.boundPath)
    policy = Mutex(Self.policy(settings.statusGroup, settings.adminGroup))
  }

  func role(of caller: PeerCredentials) -> ControlRole {
    var policy = policy.withLock { $0 }
    // Asked each time: the number of a process that has ended may be that of another one.
    if isDriven { policy.driver = HostIdentity.parentProcessID }
    return policy.role(of: caller)
  }

  /// Mode and group of the socket file.
  var access: (mode: UInt32, group: UInt32?) { policy.withLock { Self.access($0) } }

  /// Gives roles, and the socket file where it is ours, to other groups; open connections included.
  ///
  /// - Throws: ``CairnPlatform/PlatformError`` when the file cannot be given away, or is systemd's and
  ///   another group's; roles are as before.
  func set(_ section: ControlSection) throws {
    let new = Self.policy(section.statusGroup, section.adminGroup)
    guard new != policy.withLock({ $0 }) else { return }
    if let socket {
      let access = Self.access(new)
      try UnixListener.give(socket, mode: access.mode, group: access.group)
    }
    for path in passed { try Self.checkAccess(path, for: new) }
    policy.withLock { $0 = new }
  }

  /// - Throws: ``CairnPlatform/PlatformError`` when members of the group that may look cannot connect.
  private static func checkAccess(_ path: String, for policy: RolePolicy) throws {
    guard let group = access(policy).group else { return }
    let facts = try FileFacts(path: path)
    // With SocketMode=0666 the socket unit lets every user connect.
    if facts.group == group || facts.mode & 0o006 == 0o006 { return }
    throw PlatformError(
      "give the socket to the group \(group)", path: path, code: .notPermitted,
      advice:
        "cairnd.socket made it: set the group as its SocketGroup=, then: systemctl daemon-reload && "
        + "systemctl stop cairnd.service && systemctl restart cairnd.socket cairnd.service")
  }

  private static func policy(_ statusGroup: UInt32?, _ adminGroup: UInt32?) -> RolePolicy {
    RolePolicy(
      daemonUser: HostIdentity.effectiveUser, statusGroup: statusGroup, adminGroup: adminGroup)
  }

  private static func access(_ policy: RolePolicy) -> (mode: UInt32, group: UInt32?) {
    let group = policy.statusGroup ?? policy.adminGroup
    return (group == nil ? 0o600 : 0o660, group)
  }
}
