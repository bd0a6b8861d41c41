// Who may do what, decided from the kernel's word alone.
import CairnControl
import CairnPlatform

/// Gives each caller a role by user and groups, as they were when it connected.
struct RolePolicy: Sendable, Hashable {
  /// The daemon's own user, an owner besides root.
  let daemonUser: UInt32
  let statusGroup: UInt32?
  let adminGroup: UInt32?
  /// The process that drives this one, an owner whoever its user is; nil for a daemon that serves people.
  ///
  /// A self-test of the user `nobody` has no other way to be known.
  var driver: Int32?

  /// The kernel's stand-in for users that this user namespace does not know.
  static let overflowUser: UInt32 = 65534

  func role(of caller: PeerCredentials) -> ControlRole {
    if let driver, driver > 1, caller.process == driver { return .owner }
    if caller.user == Self.overflowUser { return .none }
    if caller.user == 0 || caller.user == daemonUser { return .owner }
    if let adminGroup, caller.groups.contains(adminGroup) { return .control }
    if let statusGroup, caller.groups.contains(statusGroup) { return .status }
    return .none
  }
}
