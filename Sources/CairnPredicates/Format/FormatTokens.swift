import Synchronization

/// The words of the format strings that were read lately: a program makes its predicates of the
/// same few texts, over and over.
enum FormatTokens {
  /// Longer texts are made by programs rather than written, and seldom come again.
  private static let longestText = 512
  private static let maximumCount = 128

  /// Mutable state: the words of each text, inside the mutex.
  private static let known = Mutex<[String: [PredicateToken]]>([:])

  /// All words of a text, the last being `end`.
  ///
  /// - Throws: ``PredicateFormatError``.
  static func of(_ text: String) throws -> [PredicateToken] {
    if let tokens = known.withLock({ $0[text] }) { return tokens }
    let tokens = try PredicateLexer.tokens(of: text)
    if text.utf8.count <= longestText {
      known.withLock { known in
        if known.count >= maximumCount { known.removeAll() }
        known[text] = tokens
      }
    }
    return tokens
  }
}
