/// Why several values of an object changed at once.
///
/// Source: `NSSnapshotEventType`.
public struct SnapshotEventType: OptionSet, Sendable {
  public let rawValue: UInt
  public init(rawValue: UInt) { self.rawValue = rawValue }

  public static let undoInsertion = SnapshotEventType(rawValue: 2)
  public static let undoDeletion = SnapshotEventType(rawValue: 4)
  public static let undoUpdate = SnapshotEventType(rawValue: 8)
  public static let rollback = SnapshotEventType(rawValue: 16)
  public static let refresh = SnapshotEventType(rawValue: 32)
  public static let mergePolicy = SnapshotEventType(rawValue: 64)
}

/// How a set is changed.
///
/// Source: `NSKeyValueSetMutationKind`, which Foundation on Linux lacks.
public enum KeyValueSetMutationKind: UInt, Sendable {
  case union = 1
  case minus = 2
  case intersect = 3
  case set = 4
}
