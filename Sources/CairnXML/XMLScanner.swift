import Foundation

/// Reads the part of XML that models and data files use, byte by byte: elements, attributes, text,
/// CDATA, comments and processing instructions.
///
/// Safe with foreign files by construction: a document type is skipped and never opened, one that
/// declares anything is refused, so there are no entities to expand; depth and names are bounded.
package struct XMLScanner {
  /// What is well-formed.
  package enum Rules: Sendable {
    /// What XML 1.0 asks for.
    case document
    /// Less than that, as the files of XML stores are written, whose attributes may hold any text: every
    /// character by number, and white space in an attribute as it stands.
    case dataFile
  }

  package enum Event: Equatable {
    case start(name: String, attributes: [String: String])
    case end(name: String)
    /// Character data with references replaced; long texts come in pieces.
    case text(String)
    case endOfDocument
  }

  /// What is wrong with the file, and at which byte.
  package struct Problem: Error {
    package let place: Int
    package let message: String
    /// Whether the file is well-formed as far as it was read, and goes deeper than is read.
    package var isTooDeep = false
  }

  /// How many elements may be inside of each other, the outermost among them.
  package static let deepest = 64

  private let bytes: [UInt8]
  private let rules: Rules
  /// The next byte to be read.
  package private(set) var position = 0
  /// Where the last event began.
  package private(set) var eventStart = 0
  /// How many lines end before a place that was counted up to.
  private var counted = (place: 0, lines: 0)
  private var open: [String] = []
  private var pendingEnd: String?
  private var hadRoot = false

  /// A scanner of a document in UTF-8.
  package init(_ data: Data, _ rules: Rules) {
    bytes = Array(data)
    self.rules = rules
  }

  /// The line of a byte, from 1.
  package func line(at place: Int) -> Int {
    1 + bytes[..<min(place, bytes.count)].count { $0 == UInt8(ascii: "\n") }
  }

  /// The line on which the last event began, counted on from the one before.
  package mutating func eventLine() -> Int {
    counted.lines += bytes[counted.place..<eventStart].count { $0 == UInt8(ascii: "\n") }
    counted.place = eventStart
    return counted.lines + 1
  }

  /// The bytes from one place to another.
  package func slice(_ range: Range<Int>) -> Data { Data(bytes[range]) }

  /// The next event; after ``Event/endOfDocument`` the same again.
  ///
  /// - Throws: ``Problem`` for what is not well-formed, and for another encoding.
  package mutating func next() throws -> Event {
    if position == 0 { try begin() }
    if let name = pendingEnd {
      pendingEnd = nil
      return try close(name)
    }
    while true {
      eventStart = position
      guard position < bytes.count else {
        if let name = open.last { throw problem("the file ends inside the element \(name)") }
        if !hadRoot { throw problem("the file has no element") }
        return .endOfDocument
      }
      if bytes[position] != UInt8(ascii: "<") {
        let text = try characters()
        if !open.isEmpty { return .text(text) }
        if !text.allSatisfy(\.isWhitespace) {
          throw Problem(place: eventStart, message: "there is text outside of all elements")
        }
        continue
      }
      if take("<!--") {
        try comment()
      } else if take("<![CDATA[") {
        if rules == .document, open.isEmpty { throw problem("there is text outside of elements") }
        let start = position
        try skip(through: "]]>", what: "CDATA section")
        return .text(try string(start..<(position - 3)))
      } else if take("<?") {
        try instruction()
      } else if take("<!DOCTYPE") {
        if rules == .document, hadRoot { throw problem("there is a document type after the begin") }
        try documentType()
      } else if take("</") {
        let name = try self.name()
        skipSpace()
        guard take(">") else { throw problem("the end of \(name) is not closed") }
        return try close(name)
      } else if take("<") {
        return try element()
      }
    }
  }

  private mutating func begin() throws {
    if bytes.starts(with: [0xFE, 0xFF]) || bytes.starts(with: [0xFF, 0xFE]) {
      throw Problem(place: 0, message: "the file is not in UTF-8")
    }
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
    if rules == .document, let place = bytes.indices.first(where: isForbidden(at:)) {
      throw Problem(place: place, message: "a character that XML does not have")
    }
  }

  // MARK: Markup

  private mutating func element() throws -> Event {
    if open.isEmpty, hadRoot { throw problem("there is a second outermost element") }
    let name = try self.name()
    var attributes: [String: String] = [:]
    while true {
      let hasSpace = skipSpace()
      if take("/>") {
        pendingEnd = name
        break
      }
      if take(">") { break }
      guard hasSpace || rules == .dataFile else {
        throw problem("there is no space before an attribute of \(name)")
      }
      let key = try self.name()
      skipSpace()
      guard take("=") else { throw problem("attribute \(key) of \(name) has no value") }
      skipSpace()
      guard position < bytes.count, bytes[position] == 0x22 || bytes[position] == 0x27 else {
        throw problem("the value of attribute \(key) is not quoted")
      }
      let quote = bytes[position]
      position += 1
      let start = position
      while position < bytes.count, bytes[position] != quote, bytes[position] != 0x3C {
        position += 1
      }
      guard position < bytes.count, bytes[position] == quote else {
        throw problem("the value of attribute \(key) does not end")
      }
      let value = try attributeValue(start..<position)
      position += 1
      guard attributes.updateValue(value, forKey: key) == nil else {
        throw problem("attribute \(key) is there twice")
      }
    }
    hadRoot = true
    open.append(name)
    if open.count > Self.deepest {
      throw Problem(place: position, message: "elements are nested too deeply", isTooDeep: true)
    }
    return .start(name: name, attributes: attributes)
  }

  private mutating func close(_ name: String) throws -> Event {
    guard let last = open.popLast() else { throw problem("\(name) ends without a beginning") }
    guard last == name else { throw problem("\(last) is ended by \(name)") }
    return .end(name: name)
  }

  private mutating func comment() throws {
    guard rules == .document else { return try skip(through: "-->", what: "comment") }
    try skip(through: "--", what: "comment")
    guard take(">") else { throw problem("there is -- inside a comment") }
  }

  /// The XML declaration must not name another encoding; other instructions mean nothing here.
  private mutating func instruction() throws {
    let start = position
    if rules == .document {
      _ = try name()
      guard skipSpace() || bytes[position...].starts(with: "?>".utf8) else {
        throw problem("the target of a processing instruction is no name")
      }
    }
    try skip(through: "?>", what: "processing instruction")
    let text = try string(start..<(position - 2))
    let target = text.prefix { !$0.isWhitespace }
    guard target == "xml" else { return }
    if rules == .document {
      guard !bytes[..<eventStart].contains(UInt8(ascii: "<")) else {
        throw problem("an XML declaration is not at the begin")
      }
      guard text.wholeMatch(of: Self.declaration) != nil else {
        throw problem("the XML declaration is not one")
      }
    }
    guard let found = text.range(of: "encoding") else { return }
    let value = text[found.upperBound...].drop { " =\"'".contains($0) }.prefix {
      !"\"' ".contains($0)
    }
    if !["utf-8", "utf8", "us-ascii"].contains(value.lowercased()) {
      throw problem("the file is in \(value); only UTF-8 is read")
    }
  }

  /// What stands between the question marks.
  private static var declaration: Regex<Substring> {
    #/
      xml\s+version\s*=\s*(?:"1\.[0-9]+"|'1\.[0-9]+')
      (?:\s+encoding\s*=\s*(?:"[A-Za-z][\w.\-]*"|'[A-Za-z][\w.\-]*'))?
      (?:\s+standalone\s*=\s*(?:"(?:yes|no)"|'(?:yes|no)'))?\s*
    /#
  }

  /// Skips a document type that only names a definition; that is never opened.
  private mutating func documentType() throws {
    var quote: UInt8?
    while position < bytes.count {
      let byte = bytes[position]
      position += 1
      if let open = quote {
        if byte == open { quote = nil }
      } else if byte == 0x22 || byte == 0x27 {
        quote = byte
      } else if byte == UInt8(ascii: "[") {
        throw problem("the document type declares something of its own, which is not allowed")
      } else if byte == UInt8(ascii: ">") {
        return
      }
    }
    throw problem("the document type does not end")
  }

  private mutating func name() throws -> String {
    let start = position
    while position < bytes.count, Self.isNameByte(bytes[position]) { position += 1 }
    guard position > start, position - start <= 512 else {
      throw problem("a name is missing, or too long")
    }
    // A digit, a hyphen or a dot.
    if rules == .document, (0x2D...0x39).contains(bytes[start]) {
      throw Problem(place: start, message: "a name does not begin with a letter")
    }
    return try string(start..<position)
  }

  private static func isNameByte(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x41...0x5A, 0x61...0x7A, 0x30...0x39, 0x2D, 0x2E, 0x3A, 0x5F, 0x80...0xFF: return true
    default: return false
    }
  }

  // MARK: Text

  private mutating func characters() throws -> String {
    let start = position
    while position < bytes.count, bytes[position] != UInt8(ascii: "<") { position += 1 }
    if rules == .document, let end = bytes[start..<position].firstRange(of: "]]>".utf8) {
      throw Problem(place: end.lowerBound, message: "there is ]]> outside of a CDATA section")
    }
    return try replacingReferences(start..<position)
  }

  /// White space that is written as it is counts as spaces in XML, and by number as what it is.
  private mutating func attributeValue(_ range: Range<Int>) throws -> String {
    guard rules == .document, bytes[range].contains(where: { $0 < 0x20 }) else {
      return try replacingReferences(range)
    }
    var (result, start) = ("", range.lowerBound)
    for place in range where bytes[place] < 0x20 {
      // Both bytes of one line end.
      if bytes[place] == 0x0D, place + 1 < range.upperBound, bytes[place + 1] == 0x0A { continue }
      let end = place > start && bytes[place - 1] == 0x0D ? place - 1 : place
      result += try replacingReferences(start..<end) + " "
      start = place + 1
    }
    return result + (try replacingReferences(start..<range.upperBound))
  }

  private func replacingReferences(_ range: Range<Int>) throws -> String {
    var rest = range
    guard let first = bytes[rest].firstIndex(of: UInt8(ascii: "&")) else { return try string(rest) }
    var result = try string(rest.lowerBound..<first)
    rest = first..<rest.upperBound
    while let start = bytes[rest].firstIndex(of: UInt8(ascii: "&")) {
      result += try string(rest.lowerBound..<start)
      guard let end = bytes[start..<rest.upperBound].firstIndex(of: UInt8(ascii: ";")),
        end - start <= 12
      else { throw Problem(place: start, message: "a reference that begins with & does not end") }
      result += try character(for: try string((start + 1)..<end), at: start)
      rest = (end + 1)..<rest.upperBound
    }
    return result + (try string(rest))
  }

  private func character(for reference: String, at place: Int) throws -> String {
    switch reference {
    case "amp": return "&"
    case "lt": return "<"
    case "gt": return ">"
    case "quot": return "\""
    case "apos": return "'"
    default:
      let digits = reference.dropFirst(reference.hasPrefix("#x") ? 2 : 1)
      let number = UInt32(digits, radix: reference.hasPrefix("#x") ? 16 : 10)
      guard reference.hasPrefix("#"), let number, let scalar = Unicode.Scalar(number),
        rules == .dataFile || Self.isCharacter(scalar)
      else {
        throw Problem(place: place, message: "&\(reference); stands for nothing that is known here")
      }
      return String(Character(scalar))
    }
  }

  /// Whether a character begins at a place that XML 1.0 does not have.
  private func isForbidden(at place: Int) -> Bool {
    let byte = bytes[place]
    if byte < 0x20 { return !Self.isSpace(byte) }
    // U+FFFE and U+FFFF.
    return byte == 0xEF && place + 2 < bytes.count && bytes[place + 1] == 0xBF
      && bytes[place + 2] >= 0xBE
  }

  /// Whether XML 1.0 has the character.
  private static func isCharacter(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x09, 0x0A, 0x0D: true
    case 0xFFFE, 0xFFFF: false
    default: scalar.value >= 0x20
    }
  }

  private func string(_ range: Range<Int>) throws -> String {
    guard let text = String(validating: bytes[range], as: UTF8.self) else {
      throw Problem(place: range.lowerBound, message: "this is not UTF-8")
    }
    // Line ends count as one character, however they are spelled.
    return bytes[range].contains(0x0D)
      ? text.replacingOccurrences(of: "\r\n", with: "\n").replacingOccurrences(of: "\r", with: "\n")
      : text
  }

  // MARK: Bytes

  private mutating func take(_ word: StaticString) -> Bool {
    let count = word.utf8CodeUnitCount
    guard position + count <= bytes.count else { return false }
    for index in 0..<count where bytes[position + index] != word.utf8Start[index] { return false }
    position += count
    return true
  }

  private mutating func skip(through word: StaticString, what: String) throws {
    while position < bytes.count {
      if take(word) { return }
      position += 1
    }
    throw Problem(place: eventStart, message: "a \(what) does not end")
  }

  @discardableResult
  private mutating func skipSpace() -> Bool {
    let start = position
    while position < bytes.count, Self.isSpace(bytes[position]) { position += 1 }
    return position > start
  }

  private static func isSpace(_ byte: UInt8) -> Bool {
    byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D
  }

  private func problem(_ message: String) -> Problem { Problem(place: position, message: message) }
}
