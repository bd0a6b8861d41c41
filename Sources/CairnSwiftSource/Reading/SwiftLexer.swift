/// Cuts Swift source into tokens, as far as declarations and edits need them.
struct SwiftLexer {
  struct Failure: Error {
    let offset: Int
    let reason: String
  }

  private let bytes: [UInt8]
  private var position = 0
  private var startsLine = true
  /// Interpolations of the string that is read.
  private var inner: [SwiftToken] = []
  /// The token before, which tells a regular expression from a division.
  private var previous: SwiftToken?

  init(bytes: [UInt8]) { self.bytes = bytes }

  mutating func tokens() throws -> [SwiftToken] {
    var result: [SwiftToken] = []
    // A script may begin with the path of its interpreter.
    if bytes.starts(with: "#!".utf8) { skipLine() }
    while try skipSpace() {
      result.append(try token())
    }
    return result
  }

  private mutating func token() throws -> SwiftToken {
    let start = position
    let first = startsLine
    startsLine = false
    inner = []
    let kind = try next()
    var text = String(decoding: bytes[start..<position], as: UTF8.self)
    if kind == .identifier { text.removeAll { $0 == "`" } }
    let token = SwiftToken(
      kind: kind, text: text, range: start..<position, startsLine: first, inner: inner)
    inner = []
    previous = token
    return token
  }

  private func byte(_ offset: Int = 0) -> UInt8 {
    let index = position + offset
    return index >= 0 && index < bytes.count ? bytes[index] : 0
  }
  private func at(_ text: String, _ offset: Int = 0) -> Bool {
    bytes.dropFirst(position + offset).starts(with: text.utf8)
  }

  private mutating func skipLine() {
    while position < bytes.count, byte() != UInt8(ascii: "\n") { position += 1 }
  }

  /// Passes white space and comments; false at the end.
  private mutating func skipSpace() throws -> Bool {
    while position < bytes.count {
      if byte() == UInt8(ascii: "\n") { startsLine = true }
      if byte() <= 32 {
        position += 1
      } else if at("\u{FEFF}") {
        position += 3
      } else if at("//") {
        skipLine()
      } else if at("/*") {
        try skipBlockComment()
      } else {
        return true
      }
    }
    return false
  }

  private mutating func skipBlockComment() throws {
    let start = position
    var depth = 0
    repeat {
      if at("/*") {
        depth += 1
        position += 2
      } else if at("*/") {
        depth -= 1
        position += 2
      } else if position >= bytes.count {
        throw Failure(offset: start, reason: "this comment has no end")
      } else {
        position += 1
      }
    } while depth > 0
  }

  private static func isNameStart(_ byte: UInt8) -> Bool {
    byte >= 128 || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "$")
      || (byte | 32 >= UInt8(ascii: "a") && byte | 32 <= UInt8(ascii: "z"))
  }
  private static func isDigit(_ byte: UInt8) -> Bool {
    byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9")
  }

  private mutating func next() throws -> SwiftToken.Kind {
    let first = byte()
    if first == UInt8(ascii: "`") {
      let start = position
      repeat { position += 1 } while byte() != UInt8(ascii: "`") && byte() >= 32
      guard byte() == UInt8(ascii: "`") else {
        throw Failure(offset: start, reason: "this name has no closing back-tick")
      }
      position += 1
      return .identifier
    }
    if Self.isNameStart(first) {
      while Self.isNameStart(byte()) || Self.isDigit(byte()) { position += 1 }
      return .identifier
    }
    if Self.isDigit(first) {
      while Self.isNameStart(byte()) || Self.isDigit(byte())
        || (byte() == UInt8(ascii: ".") && Self.isDigit(byte(1)))
      {
        position += 1
      }
      return .number
    }
    if first == UInt8(ascii: "\"") { return try string(sharps: 0) }
    if first == UInt8(ascii: "#") { return try sharp() }
    if first == UInt8(ascii: "/"), let end = endOfExpression() {
      position = end
      return .string
    }
    if at("->") {
      position += 2
      return .symbol
    }
    position += 1
    return .symbol
  }

  /// `#"raw"#`, `#/regex/#` or `#word`.
  private mutating func sharp() throws -> SwiftToken.Kind {
    var count = 0
    while byte(count) == UInt8(ascii: "#") { count += 1 }
    if byte(count) == UInt8(ascii: "\"") {
      position += count
      return try string(sharps: count)
    }
    if byte(count) == UInt8(ascii: "/") {
      let start = position
      position += count + 1
      let end = "/" + String(repeating: "#", count: count)
      while position < bytes.count, !at(end) {
        position += byte() == UInt8(ascii: "\\") ? 2 : 1
      }
      guard position < bytes.count else {
        throw Failure(offset: start, reason: "this regular expression has no end")
      }
      position += end.utf8.count
      return .string
    }
    position += 1
    while Self.isNameStart(byte()) || Self.isDigit(byte()) { position += 1 }
    return .pound
  }

  /// A string whose opening quote is here; interpolations may hold strings themselves.
  private mutating func string(sharps: Int) throws -> SwiftToken.Kind {
    let start = position
    let isLong = at("\"\"\"") && !(sharps > 0 && endsOnLine(sharps))
    let quote = (isLong ? "\"\"\"" : "\"") + String(repeating: "#", count: sharps)
    let escape = "\\" + String(repeating: "#", count: sharps)
    position += isLong ? 3 : 1
    while true {
      if position >= bytes.count || (!isLong && byte() == UInt8(ascii: "\n")) {
        throw Failure(offset: start, reason: "this string has no end")
      }
      if at(quote) {
        position += quote.utf8.count
        return .string
      }
      if at(escape) {
        position += escape.utf8.count
        if byte() == UInt8(ascii: "(") {
          try interpolation()
        } else if position < bytes.count {
          position += 1
        }
      } else {
        position += 1
      }
    }
  }

  /// Whether a raw string that begins with three quotes has its end on the same line: `#""""#` is
  /// two quotes.
  private func endsOnLine(_ sharps: Int) -> Bool {
    let end = "\"" + String(repeating: "#", count: sharps)
    var offset = 2
    while position + offset < bytes.count, byte(offset) != 10, byte(offset) != 13 {
      if at(end, offset) { return true }
      offset += 1
    }
    return false
  }

  private mutating func interpolation() throws {
    let start = position
    var depth = 0
    var tokens = inner
    repeat {
      guard try skipSpace() else {
        throw Failure(offset: start, reason: "this interpolation has no end")
      }
      let token = try token()
      if token.isSymbol("(") { depth += 1 }
      if token.isSymbol(")") { depth -= 1 }
      tokens.append(token)
    } while depth > 0
    inner = tokens
  }

  /// The end of the regular expression that begins with the slash here; nil for an operator.
  ///
  /// As the compiler decides it: where a value may begin, on one line, without a space behind the
  /// first slash or before the last, and with every bracket opened before it is closed.
  private func endOfExpression() -> Int? {
    guard beginsValue, byte(1) > 32, byte(1) != UInt8(ascii: "/"), byte(1) != UInt8(ascii: "*")
    else { return nil }
    var index = position + 1
    var depth = 0
    while index < bytes.count, bytes[index] != 10, bytes[index] != 13 {
      switch bytes[index] {
      case UInt8(ascii: "\\"): index += 1
      case UInt8(ascii: "("): depth += 1
      case UInt8(ascii: ")"):
        depth -= 1
        if depth < 0 { return nil }
      case UInt8(ascii: "/"): return bytes[index - 1] > 32 ? index + 1 : nil
      default: break
      }
      index += 1
    }
    return nil
  }

  /// Whether a value, rather than an operator behind one, may stand here.
  private var beginsValue: Bool {
    guard let previous else { return true }
    switch previous.kind {
    case .number, .string, .pound: return false
    case .identifier:
      return ["return", "in", "case", "where", "if", "while", "try", "await", "else"]
        .contains(previous.text)
    case .symbol:
      return ["(", ",", "=", "[", "{", ":", ";", "&", "|"].contains(previous.text)
    }
  }
}
