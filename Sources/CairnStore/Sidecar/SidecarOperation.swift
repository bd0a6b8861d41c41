import Foundation

/// The place of one entry in a store's sidecar.
public struct SidecarKey: Sendable, Hashable {
  /// The name of the map: lower-case letters, digits and underscores.
  public let map: String
  public let key: Data
  public init(map: String, key: Data) {
    self.map = map
    self.key = key
  }

  // The map's name would cost as much again: few keys are in more than one map.
  public func hash(into hasher: inout Hasher) { hasher.combine(key) }

  /// The key of a ``SidecarOperation/putAtTransaction(map:_:)``.
  public init(map: String, transaction number: Int64) {
    self.init(map: map, key: withUnsafeBytes(of: number.bigEndian) { Data($0) })
  }
}

/// A change to a store's sidecar: ordered key-value maps that live in the store's database and
/// commit with its rows, for bookkeeping such as that of sync.
public enum SidecarOperation: Sendable {
  case put(SidecarKey, Data)
  case remove(SidecarKey)
  /// The save succeeds only if the entry has exactly this value now (nil: is absent).
  case require(SidecarKey, Data?)
  /// Puts an entry under the number of the history transaction that the save writes, as 8 big-endian
  /// bytes; nothing where the save writes none.
  case putAtTransaction(map: String, Data)
}
