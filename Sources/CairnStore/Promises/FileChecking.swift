import Foundation

/// An optional promise of a kind of store: it looks whether a file is whole, and changes nothing there.
public protocol FileChecking: Sendable {
  /// What is damaged first, in words that follow a colon; nil where nothing is found in the time that there is.
  ///
  /// - Throws: What reading the file throws otherwise.
  func damage(at url: URL, options: StoreOptions, within limit: Duration) throws -> String?
}
