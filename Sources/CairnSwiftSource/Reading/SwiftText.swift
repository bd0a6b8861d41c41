/// A source file as bytes and tokens.
package struct SwiftText {
  package let path: String
  package let bytes: [UInt8]
  package let tokens: [SwiftToken]

  /// - Throws: ``SourceProblem`` for text that is no Swift: a literal or comment without an end.
  package init(path: String, bytes: [UInt8]) throws {
    self.path = path
    self.bytes = bytes
    var lexer = SwiftLexer(bytes: bytes)
    do {
      tokens = try lexer.tokens()
    } catch let error as SwiftLexer.Failure {
      let place = Self.place(of: error.offset, in: bytes)
      throw SourceProblem(
        path: path, line: place.line, column: place.column, reason: error.reason)
    }
  }

  /// A part of a file: the tokens of its interpolations.
  init(_ whole: SwiftText, tokens: [SwiftToken]) {
    path = whole.path
    bytes = whole.bytes
    self.tokens = tokens
  }

  package func text(_ range: Range<Int>) -> String {
    String(decoding: bytes[range], as: UTF8.self)
  }

  /// The last component of the path.
  package var name: String { path.split(separator: "/").last.map(String.init) ?? path }

  /// Line and column, from 1, of a byte.
  package static func place(of offset: Int, in bytes: [UInt8]) -> (line: Int, column: Int) {
    var line = 1
    var start = 0
    for index in 0..<min(offset, bytes.count) where bytes[index] == UInt8(ascii: "\n") {
      line += 1
      start = index + 1
    }
    return (line, offset - start + 1)
  }

  package func line(of offset: Int) -> Int { Self.place(of: offset, in: bytes).line }

  package func problem(at offset: Int, _ reason: String) -> SourceProblem {
    let place = Self.place(of: offset, in: bytes)
    return SourceProblem(path: path, line: place.line, column: place.column, reason: reason)
  }

  /// The index of the token that closes the bracket at `open`, nil when there is none.
  package func closing(_ open: Int) -> Int? {
    let pairs = ["(": ")", "[": "]", "{": "}"]
    guard let close = pairs[tokens[open].text] else { return nil }
    var depth = 0
    for index in open..<tokens.count where tokens[index].kind == .symbol {
      if tokens[index].text == tokens[open].text { depth += 1 }
      if tokens[index].text == close {
        depth -= 1
        if depth == 0 { return index }
      }
    }
    return nil
  }

  /// Where the line begins that a byte is on.
  package func lineStart(_ offset: Int) -> Int {
    var start = offset
    while start > 0, bytes[start - 1] != UInt8(ascii: "\n") { start -= 1 }
    return start
  }

  /// The end of the line that a byte is on, without its line feed.
  package func endOfLine(_ offset: Int) -> Int {
    var end = offset
    while end < bytes.count, bytes[end] != UInt8(ascii: "\n") { end += 1 }
    return end
  }
}
