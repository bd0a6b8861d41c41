import Foundation

/// A capability of a kind of store: it looks whether a file is whole, and changes nothing there.
public protocol FileChecking: Sendable {
  /// What is damaged first, in words that follow a colon; nil where nothing is found in the time that there is.
  ///
  /// - Throws: What reading the file throws otherwise.
  func damage(at url: URL, options: StoreOptions, within limit: Duration) throws -> String?

  /// Whether the path is a mount point by itself: what belongs to the file lies beside its other name, and
  /// programs that use it under both destroy it.
  func isMountPoint(_ url: URL) -> Bool
}
