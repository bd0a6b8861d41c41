// A sentence with commands in it.

/// Words and commands in their order; the protocol writes commands between backticks.
struct Phrase: Sendable, Hashable {
  struct Part: Sendable, Hashable {
    let words: String
    let isCommand: Bool
  }

  let parts: [Part]

  /// The text with a large letter at its beginning; hints of the command line have none.
  static func capitalised(_ text: String) -> String {
    text.prefix(1).uppercased() + text.dropFirst()
  }

  /// The text with a full stop at its end, where it has none.
  static func sentence(_ text: String) -> String { text.hasSuffix(".") ? text : text + "." }

  init(_ text: String) {
    let pieces = text.split(separator: "`", omittingEmptySubsequences: false)
    // A backtick without a partner is one of the words.
    guard pieces.count % 2 == 1 else {
      parts = [Part(words: text, isCommand: false)]
      return
    }
    parts = pieces.enumerated().filter { !$0.element.isEmpty }.map {
      Part(words: String($0.element), isCommand: $0.offset % 2 == 1)
    }
  }
}
