// Who may do what.

/// What a caller is allowed; each role includes the ones before it.
public enum ControlRole: Int, Sendable, Hashable, Comparable, CaseIterable {
  /// No method at all, not even introspection.
  case none
  /// May look.
  case status
  /// May change data and drive sync.
  case control
  /// May do everything: root and the daemon's own user.
  case owner

  public static func < (left: ControlRole, right: ControlRole) -> Bool {
    left.rawValue < right.rawValue
  }
}
