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

  init(_ settings: ControlServer.Settings, makesSocket: Bool) {
    socket = makesSocket ? settings.path : nil
    policy = Mutex(Self.policy(settings.statusGroup, settings.adminGroup))
  }

  func role(of caller: PeerCredentials) -> ControlRole {
    policy.withLock { $0.role(of: caller) }
  }

  /// Mode and group of the socket file.
  var access: (mode: UInt32, group: UInt32?) { policy.withLock { Self.access($0) } }

  /// Gives roles, and the socket file where it is ours, to other groups; open connections included.
  ///
  /// - Throws: ``CairnPlatform/PlatformError`` when the file cannot be given away; roles are as before.
  func set(_ section: ControlSection) throws {
    let new = Self.policy(section.statusGroup, section.adminGroup)
    guard new != policy.withLock({ $0 }) else { return }
    if let socket {
      let access = Self.access(new)
      try UnixListener.give(socket, mode: access.mode, group: access.group)
    }
    policy.withLock { $0 = new }
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
