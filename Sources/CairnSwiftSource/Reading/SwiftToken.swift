/// A piece of Swift source, without the white space and comments around it.
package struct SwiftToken: Equatable {
  package enum Kind: Equatable {
    case identifier
    case number
    case string
    /// `#keyPath`, `#if`, `#selector`: the text is with the sharp.
    case pound
    /// One character of punctuation or of an operator, or `->`.
    case symbol
  }

  package let kind: Kind
  /// Without back-ticks.
  package let text: String
  /// Offsets in the file's bytes.
  package let range: Range<Int>
  /// Whether it is the first on its line.
  package let startsLine: Bool
  /// The tokens of a string's interpolations, brackets included.
  package var inner: [SwiftToken] = []

  package func isSymbol(_ text: String) -> Bool { kind == .symbol && self.text == text }
  package func isWord(_ text: String) -> Bool { kind == .identifier && self.text == text }
}

/// A place in a source file that cannot be read or edited, and why.
package struct SourceProblem: Error, Equatable, CustomStringConvertible {
  package let path: String
  package let line: Int
  package let column: Int
  package let reason: String

  package init(path: String, line: Int, column: Int, reason: String) {
    self.path = path
    self.line = line
    self.column = column
    self.reason = reason
  }

  package var description: String { "\(path):\(line):\(column): \(reason)" }
}
