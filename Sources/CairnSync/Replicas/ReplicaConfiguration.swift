import Foundation

/// A replica as it is configured.
public struct ReplicaConfiguration: Sendable, Hashable {
  /// Names the replica in commands, status and history.
  public var name: String
  /// The registered store type, such as `SQLite`.
  public var type: String
  public var url: URL
  public var direction: SyncDirection
  /// Whether a replica of an older model may be migrated.
  public var migrates: Bool
  /// Seconds to wait for a lock that another process holds on the store.
  public var timeout: TimeInterval

  public init(
    name: String, type: String = "SQLite", url: URL, direction: SyncDirection = .both,
    migrates: Bool = true, timeout: TimeInterval = 10
  ) {
    self.name = name
    self.type = type
    self.url = url
    self.direction = direction
    self.migrates = migrates
    self.timeout = timeout
  }
}
