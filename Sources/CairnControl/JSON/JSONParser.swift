// Reads JSON strictly: RFC 8259, no duplicate keys, no lone surrogates, limits first.

/// A strict parser for untrusted bytes.
///
/// It never recurses deeper than the limit.
public struct JSONParser {
  private let bytes: ByteView
  private let limits: JSONLimits
  private var position = 0
  private var valueCount = 0
  /// Members of the last object: rows that follow one another are alike.
  private var likelyMemberCount = 0

  /// Parses one document; nothing but white space may follow it.
  ///
  /// - Throws: ``JSONProblem`` with the offset of the first byte that does not fit.
  public static func parse(_ bytes: some Sequence<UInt8>, limits: JSONLimits = .message) throws
    -> JSONValue
  {
    let result = try bytes.withContiguousStorageIfAvailable { try parse(ByteView($0), limits) }
    if let result { return result }
    return try Array(bytes).withUnsafeBufferPointer { try parse(ByteView($0), limits) }
  }

  /// Parses the UTF-8 form of `text`.
  public static func parse(_ text: String, limits: JSONLimits = .message) throws -> JSONValue {
    try parse(Array(text.utf8), limits: limits)
  }

  private static func parse(_ bytes: ByteView, _ limits: JSONLimits) throws -> JSONValue {
    guard bytes.count <= limits.byteCount else {
      throw JSONProblem(offset: limits.byteCount, reason: "more than \(limits.byteCount) bytes")
    }
    var parser = JSONParser(bytes: bytes, limits: limits)
    let value = try parser.value(depth: 0)
    parser.skipSpace()
    guard parser.position == bytes.count else { throw parser.problem("text after the document") }
    return value
  }

  private init(bytes: ByteView, limits: JSONLimits) {
    self.bytes = bytes
    self.limits = limits
  }

  private func problem(_ reason: String) -> JSONProblem {
    JSONProblem(offset: position, reason: reason)
  }

  private var current: UInt8? { position < bytes.count ? bytes[position] : nil }

  private mutating func skipSpace() {
    while let byte = current, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 {
      position += 1
    }
  }

  private mutating func value(depth: Int) throws -> JSONValue {
    guard depth <= limits.depth else { throw problem("nested deeper than \(limits.depth)") }
    valueCount += 1
    guard valueCount <= limits.valueCount else { throw problem("too many values") }
    skipSpace()
    guard let byte = current else { throw problem("the document ends too early") }
    switch byte {
    case UInt8(ascii: "{"): return try object(depth: depth)
    case UInt8(ascii: "["): return try array(depth: depth)
    case UInt8(ascii: "\""): return .string(try string())
    case UInt8(ascii: "t"): return try word("true", .bool(true))
    case UInt8(ascii: "f"): return try word("false", .bool(false))
    case UInt8(ascii: "n"): return try word("null", .null)
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return try number()
    default: throw problem("no JSON value begins like this")
    }
  }

  private mutating func word(_ text: StaticString, _ value: JSONValue) throws -> JSONValue {
    let count = text.utf8CodeUnitCount
    guard position + count <= bytes.count else { throw problem("unknown word") }
    for index in 0..<count where bytes[position + index] != text.utf8Start[index] {
      throw problem("unknown word")
    }
    position += count
    return value
  }

  private mutating func object(depth: Int) throws -> JSONValue {
    position += 1
    skipSpace()
    if current == UInt8(ascii: "}") {
      position += 1
      return .object([:])
    }
    var members: [String: JSONValue] = [:]
    members.reserveCapacity(min(likelyMemberCount, 64))
    while true {
      skipSpace()
      guard current == UInt8(ascii: "\"") else { throw problem("a key in quotes is missing") }
      let start = position
      let key = try string()
      skipSpace()
      guard current == UInt8(ascii: ":") else { throw problem("a colon is missing") }
      position += 1
      let value = try value(depth: depth + 1)
      guard members.updateValue(value, forKey: key) == nil else {
        throw JSONProblem(offset: start, reason: "the key \"\(key.prefix(64))\" comes twice")
      }
      guard members.count <= limits.memberCount else { throw problem("too many members") }
      skipSpace()
      switch current {
      case UInt8(ascii: ","): position += 1
      case UInt8(ascii: "}"):
        position += 1
        likelyMemberCount = members.count
        return .object(members)
      default: throw problem("a comma or a closing brace is missing")
      }
    }
  }

  private mutating func array(depth: Int) throws -> JSONValue {
    var elements: [JSONValue] = []
    position += 1
    skipSpace()
    if current == UInt8(ascii: "]") {
      position += 1
      return .array(elements)
    }
    while true {
      elements.append(try value(depth: depth + 1))
      skipSpace()
      switch current {
      case UInt8(ascii: ","): position += 1
      case UInt8(ascii: "]"):
        position += 1
        return .array(elements)
      default: throw problem("a comma or a closing bracket is missing")
      }
    }
  }

  private mutating func number() throws -> JSONValue {
    let start = position
    if current == UInt8(ascii: "-") { position += 1 }
    let first = current
    let wholeDigits = skipDigits()
    guard wholeDigits > 0 else { throw problem("a digit is missing") }
    if first == UInt8(ascii: "0"), wholeDigits > 1 {
      throw JSONProblem(offset: start, reason: "a number begins with 0")
    }
    var isWhole = true
    if current == UInt8(ascii: ".") {
      isWhole = false
      position += 1
      guard skipDigits() > 0 else { throw problem("a digit is missing") }
    }
    if current == UInt8(ascii: "e") || current == UInt8(ascii: "E") {
      isWhole = false
      position += 1
      if current == UInt8(ascii: "+") || current == UInt8(ascii: "-") { position += 1 }
      guard skipDigits() > 0 else { throw problem("a digit is missing") }
    }
    guard position - start <= 1024 else {
      throw JSONProblem(offset: start, reason: "a number with too many digits")
    }
    let digits = bytes.part(start..<position)
    if let value = JSONNumber.short(digits, isWhole: isWhole) { return value }
    let text = String(decoding: digits, as: UTF8.self)
    if isWhole, text != "-0", let value = Int64(text) { return .integer(value) }
    guard let value = Double(text), value.isFinite else {
      throw JSONProblem(offset: start, reason: "a number out of range")
    }
    return .number(value)
  }

  private mutating func skipDigits() -> Int {
    let start = position
    while let byte = current, byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") { position += 1 }
    return position - start
  }

  private mutating func string() throws -> String {
    position += 1
    let start = position
    var allBits: UInt8 = 0
    while let byte = current, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\"), byte >= 0x20 {
      allBits |= byte
      position += 1
    }
    guard let stop = current else { throw problem("a string does not end") }
    if stop == UInt8(ascii: "\"") {
      defer { position += 1 }
      let plain = bytes.part(start..<position)
      // ASCII is valid as it is, and most of what rows hold.
      if allBits < 0x80 { return String(decoding: plain, as: UTF8.self) }
      return try text(plain, startingAt: start)
    }
    var collected = Array(bytes.part(start..<position))
    while true {
      guard let byte = current else { throw problem("a string does not end") }
      switch byte {
      case UInt8(ascii: "\""):
        position += 1
        return try text(collected, startingAt: start)
      case UInt8(ascii: "\\"):
        try escape(into: &collected)
      case 0..<0x20:
        throw problem("a control character in a string")
      default:
        collected.append(byte)
        position += 1
      }
    }
  }

  private func text(_ collected: some Collection<UInt8>, startingAt start: Int) throws -> String {
    guard let text = String(validating: collected, as: UTF8.self) else {
      throw JSONProblem(offset: start, reason: "a string is not UTF-8")
    }
    return text
  }

  private mutating func escape(into collected: inout [UInt8]) throws {
    position += 1
    guard let byte = current else { throw problem("a string does not end") }
    position += 1
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): collected.append(byte)
    case UInt8(ascii: "b"): collected.append(0x08)
    case UInt8(ascii: "f"): collected.append(0x0C)
    case UInt8(ascii: "n"): collected.append(0x0A)
    case UInt8(ascii: "r"): collected.append(0x0D)
    case UInt8(ascii: "t"): collected.append(0x09)
    case UInt8(ascii: "u"):
      let scalar = try escapedScalar()
      collected.append(contentsOf: Array(String(Character(scalar)).utf8))
    default: throw problem("an unknown escape")
    }
  }

  private mutating func escapedScalar() throws -> Unicode.Scalar {
    let high = try hexadecimal()
    if let scalar = Unicode.Scalar(high) { return scalar }
    guard (0xD800..<0xDC00).contains(high), current == UInt8(ascii: "\\") else {
      throw problem("half of a surrogate pair")
    }
    position += 1
    guard current == UInt8(ascii: "u") else { throw problem("half of a surrogate pair") }
    position += 1
    let low = try hexadecimal()
    guard (0xDC00..<0xE000).contains(low),
      let scalar = Unicode.Scalar(0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00))
    else { throw problem("half of a surrogate pair") }
    return scalar
  }

  private mutating func hexadecimal() throws -> UInt32 {
    var value: UInt32 = 0
    for _ in 0..<4 {
      guard let byte = current, let digit = Character(Unicode.Scalar(byte)).hexDigitValue else {
        throw problem("four hexadecimal digits are missing")
      }
      value = value << 4 | UInt32(digit)
      position += 1
    }
    return value
  }
}
