import Foundation

/// Splits a format string into words.
///
/// Strings and numbers are in `PredicateLexer+Literals.swift`.
struct PredicateLexer {
  let text: String
  let scalars: [Unicode.Scalar]
  var position = 0

  init(_ text: String) {
    self.text = text
    scalars = Array(text.unicodeScalars)
  }

  /// All words of a text, the last being `end`.
  ///
  /// - Throws: ``PredicateFormatError``.
  static func tokens(of text: String) throws -> [PredicateToken] {
    var lexer = PredicateLexer(text)
    var tokens: [PredicateToken] = []
    repeat {
      tokens.append(try lexer.next())
    } while tokens.last?.kind != .end
    return tokens
  }

  var current: Unicode.Scalar? { position < scalars.count ? scalars[position] : nil }

  func peek(_ offset: Int) -> Unicode.Scalar? {
    position + offset < scalars.count ? scalars[position + offset] : nil
  }

  func failure(_ reason: String, at place: Int) -> PredicateFormatError {
    PredicateFormatError(code: .syntax, text: text, position: place, reason: reason)
  }

  private mutating func next() throws -> PredicateToken {
    while let scalar = current, scalar.properties.isWhitespace { position += 1 }
    let start = position
    guard let scalar = current else { return PredicateToken(kind: .end, position: start) }
    return PredicateToken(kind: try kind(startingWith: scalar), position: start)
  }

  private mutating func kind(startingWith scalar: Unicode.Scalar) throws -> PredicateToken.Kind {
    switch scalar {
    case "'", "\"": return .string(try quoted(by: scalar))
    case "0"..."9": return try number()
    case "%" where peek(1) == "%":
      position += 2
      return .symbol(.modulus)
    case "%": return .specifier(try specifier())
    case "$":
      position += 1
      return .variable(try identifier(after: "$"))
    case "#":
      position += 1
      return .word(try identifier(after: "#"), nil)
    case "@":
      position += 1
      return .collectionOperator("@" + (try identifier(after: "@")))
    default: break
    }
    if FormatWord.isIdentifierStart(scalar) { return word() }
    return .symbol(try symbol())
  }

  private mutating func identifier(after sign: String) throws -> String {
    guard let scalar = current, FormatWord.isIdentifierStart(scalar) else {
      throw failure("a name must follow \(sign)", at: position)
    }
    return plainWord()
  }

  private mutating func plainWord() -> String {
    var word = String.UnicodeScalarView()
    while let scalar = current, FormatWord.isIdentifierPart(scalar) {
      word.append(scalar)
      position += 1
    }
    return String(word)
  }

  /// A word, or several with colons: a selector.
  private mutating func word() -> PredicateToken.Kind {
    let first = plainWord()
    guard current == ":", peek(1) != "=" else {
      return .word(first, FormatWord(reserved: first))
    }
    position += 1
    var selector = first + ":"
    while let scalar = current, FormatWord.isIdentifierStart(scalar) {
      let before = position
      let part = plainWord()
      guard current == ":" else {
        position = before
        break
      }
      position += 1
      selector += part + ":"
    }
    return .selector(selector)
  }

  private mutating func symbol() throws -> FormatSymbol {
    var two = String.UnicodeScalarView()
    if let first = current, let second = peek(1) {
      two.append(first)
      two.append(second)
      if let symbol = FormatSymbol(rawValue: String(two)) {
        position += 2
        return symbol
      }
    }
    if let first = current, let symbol = FormatSymbol(rawValue: String(Character(first))) {
      position += 1
      return symbol
    }
    let sign = current.map { String(Character($0)) } ?? ""
    throw failure("the sign \(sign) has no meaning here", at: position)
  }

  /// `%@`, `%K` and the numeric directives of C.
  private mutating func specifier() throws -> FormatSpecifier {
    let start = position
    position += 1
    while let scalar = current, "hlqLztj".unicodeScalars.contains(scalar) { position += 1 }
    let modified = position > start + 1
    guard let directive = current else { throw failure("the % directive is unfinished", at: start) }
    position += 1
    switch directive {
    case "@" where !modified: return .object
    case "K" where !modified: return .keyPath
    case "d", "D", "i", "u", "U", "x", "X", "o", "O": return .integer
    case "f", "F", "e", "E", "g", "G", "a", "A": return .double
    case "c", "C": return .character
    case "s", "S": return .string
    default:
      throw failure("%\(Character(directive)) is not a directive", at: start)
    }
  }
}
