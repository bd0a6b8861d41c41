// Who may do what, decided from the kernel's word alone.
import CairnControl
import CairnPlatform

/// Gives each caller a role by user and groups, as they were when it connected.
struct RolePolicy: Sendable, Hashable {
  /// The daemon's own user, an owner besides root.
  let daemonUser: UInt32
  let statusGroup: UInt32?
  let adminGroup: UInt32?
  /// The process that started this daemon and drives it through a self-test: an owner, if it has the daemon's own
  /// user; nil for a daemon that serves people.
  ///
  /// The policy gives the kernel's stand-in user (see below) no role, and knows the self-test of that user by this
  /// process alone.
  var driver: Int32?

  /// The kernel's stand-in for users that this user namespace does not know.
  static let overflowUser: UInt32 = 65534

  func role(of caller: PeerCredentials) -> ControlRole {
    if let driver, driver > 1, caller.process == driver, caller.user == daemonUser {
      return .owner
    }
    if caller.user == Self.overflowUser { return .none }
    if caller.user == 0 || caller.user == daemonUser { return .owner }
    if let adminGroup, caller.groups.contains(adminGroup) { return .control }
    if let statusGroup, caller.groups.contains(statusGroup) { return .status }
    return .none
  }
}
