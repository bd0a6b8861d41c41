import Foundation

// Strings and numbers in format strings.

extension PredicateLexer {
  /// A quoted text with its escapes replaced.
  mutating func quoted(by quote: Unicode.Scalar) throws -> String {
    let start = position
    position += 1
    var result = String.UnicodeScalarView()
    while let scalar = current {
      position += 1
      if scalar == quote { return String(result) }
      if scalar == "\\" {
        result.append(try escape())
      } else {
        result.append(scalar)
      }
    }
    throw failure("the string is not terminated", at: start)
  }

  /// The scalar of an escape; the backslash is already read.
  private mutating func escape() throws -> Unicode.Scalar {
    let start = position - 1
    guard let scalar = current else { throw failure("the string is not terminated", at: start) }
    position += 1
    switch scalar {
    case "\\", "'", "\"": return scalar
    case "n": return "\n"
    case "t": return "\t"
    case "r": return "\r"
    case "x": return try checked(digits(16, 2...2, start), start)
    case "u": return try unicodeEscape(start)
    case "0"..."7":
      position -= 1
      return try checked(digits(8, 1...3, start), start)
    default:
      throw failure("\\\(Character(scalar)) is not an escape", at: start)
    }
  }

  /// `\uHHHH`, or two of them that make a surrogate pair.
  private mutating func unicodeEscape(_ start: Int) throws -> Unicode.Scalar {
    let first = try digits(16, 4...4, start)
    guard (0xD800...0xDBFF).contains(first) else { return try checked(first, start) }
    guard current == "\\", peek(1) == "u" else {
      throw failure("half a surrogate pair is not a character", at: start)
    }
    position += 2
    let second = try digits(16, 4...4, start)
    guard (0xDC00...0xDFFF).contains(second) else {
      throw failure("half a surrogate pair is not a character", at: start)
    }
    return try checked(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00), start)
  }

  private func checked(_ value: UInt32, _ start: Int) throws -> Unicode.Scalar {
    guard let scalar = Unicode.Scalar(value) else {
      throw failure("half a surrogate pair is not a character", at: start)
    }
    return scalar
  }

  private mutating func digits(
    _ radix: UInt32, _ count: ClosedRange<Int>, _ start: Int
  ) throws -> UInt32 {
    var value: UInt32 = 0
    var read = 0
    while read < count.upperBound, let digit = Self.digit(current, radix) {
      value = value * radix + digit
      position += 1
      read += 1
    }
    guard read >= count.lowerBound else {
      throw failure("the escape needs \(count.lowerBound) digits", at: start)
    }
    return value
  }

  private static func digit(_ scalar: Unicode.Scalar?, _ radix: UInt32) -> UInt32? {
    guard let scalar, scalar.isASCII else { return nil }
    guard let value = Character(scalar).hexDigitValue, value < radix else { return nil }
    return UInt32(value)
  }

  /// A number without sign.
  mutating func number() throws -> PredicateToken.Kind {
    let start = position
    let result = try radixNumber(start) ?? decimalNumber(start)
    if let scalar = current, FormatWord.isIdentifierPart(scalar) {
      throw failure("a name must not start with a digit", at: start)
    }
    return result
  }

  /// `0x…`, `0o…`, `0b…`; nil for other numbers.
  private mutating func radixNumber(_ start: Int) throws -> PredicateToken.Kind? {
    guard current == "0", let mark = peek(1) else { return nil }
    let radix: UInt32
    switch mark {
    case "x", "X": radix = 16
    case "o", "O": radix = 8
    case "b", "B": radix = 2
    default: return nil
    }
    position += 2
    var value: UInt64 = 0
    var read = 0
    while let digit = Self.digit(current, radix) {
      let (shifted, high) = value.multipliedReportingOverflow(by: UInt64(radix))
      guard !high else { throw failure("the number is too large", at: start) }
      value = shifted + UInt64(digit)
      position += 1
      read += 1
    }
    if read == 0 { throw failure("the number has no digits", at: start) }
    return .integer(value)
  }

  private mutating func decimalNumber(_ start: Int) throws -> PredicateToken.Kind {
    var text = takeDigits()
    var isWhole = true
    if current == ".", let next = peek(1), Self.digit(next, 10) != nil {
      isWhole = false
      position += 1
      text += "." + takeDigits()
    }
    if current == "e" || current == "E" {
      let signed = peek(1) == "+" || peek(1) == "-"
      if Self.digit(peek(signed ? 2 : 1), 10) != nil {
        isWhole = false
        text += "e"
        position += 1
        if signed, let sign = current {
          text.unicodeScalars.append(sign)
          position += 1
        }
        text += takeDigits()
      }
    }
    if isWhole, let integer = UInt64(text) { return .integer(integer) }
    if isWhole, text.utf8.count <= 38, let decimal = Decimal(string: text) {
      return .decimal(decimal)
    }
    guard let double = Double(text), double.isFinite else {
      throw failure("the number is too large", at: start)
    }
    return .double(double)
  }

  private mutating func takeDigits() -> String {
    var digits = ""
    while let scalar = current, ("0"..."9").contains(scalar) {
      digits.unicodeScalars.append(scalar)
      position += 1
    }
    return digits
  }
}
