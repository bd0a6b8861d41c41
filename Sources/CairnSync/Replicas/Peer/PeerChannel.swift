import Foundation

/// The way to a daemon that applies change sets for itself, such as the byte stream of a process that reaches its
/// machine.
protocol PeerChannel: Sendable {
  /// Sends a question, and waits for the answer to it.
  ///
  /// Whether a question that failed was heard is not known: each may be asked once more.
  func ask(_ question: Data) throws -> Data
}
