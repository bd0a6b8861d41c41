/// Builds one symbol of the Swift ABI (`$s…`): identifiers, their words and substitutions.
///
/// Source: the compiler's `docs/ABI/Mangling.rst`.
struct SymbolText {
  private(set) var text = "$s"
  /// Numbers of what was mentioned before: identifiers and types, in order.
  private var known: [String: Int] = [:]
  private var words: [[UInt8]] = []
  /// The substitution that the text ends with, if it does.
  private var last: (start: Int, end: Int, count: Int, letter: Character, isStandard: Bool)?

  mutating func append(_ operation: String) { text += operation }

  // MARK: Substitutions

  /// Remembers a type or identifier under the next number.
  mutating func remember(_ key: String) { known[key] = known.count }

  /// Refers to something mentioned before; false when it was not.
  mutating func appendKnown(_ key: String) -> Bool {
    guard let number = known[key] else { return false }
    guard number < 26 else {
      let rest = number - 26
      text += "A" + (rest == 0 ? "_" : "\(rest - 1)_")
      return true
    }
    let letter = Character(UnicodeScalar(UInt8(ascii: "A") + UInt8(number)))
    if !merge(letter, isStandard: false) { text += "A\(letter)" }
    return true
  }

  /// One of the standard library's types that have a letter.
  mutating func appendStandard(_ letter: Character) {
    if !merge(letter, isStandard: true) { text += "S\(letter)" }
  }

  /// Joins a substitution with the one that the text ends with: `AC` and `AD` are `AcD`, `Si` twice
  /// is `S2i`.
  private mutating func merge(_ letter: Character, isStandard: Bool) -> Bool {
    let size = text.utf8.count
    guard let previous = last, previous.end == size, previous.isStandard == isStandard else {
      last = (size + 1, size + 2, 1, letter, isStandard)
      return false
    }
    if previous.letter != letter, !isStandard {
      text.removeLast()
      text += previous.letter.lowercased() + String(letter)
      last = (size, size + 1, 1, letter, false)
      return true
    }
    if previous.letter == letter {
      text.removeLast(size - previous.start)
      text += "\(previous.count + 1)\(letter)"
      last = (previous.start, text.utf8.count, previous.count + 1, letter, isStandard)
      return true
    }
    last = (size + 1, size + 2, 1, letter, isStandard)
    return false
  }

  // MARK: Identifiers

  /// An identifier as part of a name: its number when it was mentioned, else its letters.
  mutating func appendIdentifier(_ name: String) {
    let key = "identifier " + name
    if appendKnown(key) { return }
    remember(key)
    if name.utf8.allSatisfy({ $0 < 128 }) {
      appendLetters(name)
    } else {
      let code = Punycode.encode(name)
      let needsMark = code.first.map { $0.isNumber || $0 == "_" } ?? false
      text += "00\(code.utf8.count)" + (needsMark ? "_" : "") + code
    }
  }

  private static func isUpper(_ byte: UInt8) -> Bool { byte >= 65 && byte <= 90 }
  private static func isDigit(_ byte: UInt8) -> Bool { byte >= 48 && byte <= 57 }

  /// The length and the letters, words that occurred before as their letter.
  private mutating func appendLetters(_ name: String) {
    let letters = Array(name.utf8)
    var replaced: [(start: Int, word: Int)] = []
    var start: Int?
    for position in 0...letters.count {
      let here = position < letters.count ? letters[position] : 0
      if let begin = start {
        let before = letters[position - 1]
        if here == 95 || here == 0 || (!Self.isUpper(before) && Self.isUpper(here)) {
          let word = Array(letters[begin..<position])
          if let number = words.firstIndex(of: word) {
            replaced.append((begin, number))
          } else if word.count >= 2, words.count < 26 {
            words.append(word)
          }
          start = nil
        }
      }
      if start == nil, here != 0, here != 95, !Self.isDigit(here) { start = position }
    }
    if !replaced.isEmpty { text += "0" }
    var position = 0
    for (number, replacement) in replaced.enumerated() {
      appendPlain(letters[position..<replacement.start])
      position = replacement.start + words[replacement.word].count
      let letter = UInt8(replacement.word) + (number == replaced.count - 1 ? 65 : 97)
      text.append(Character(UnicodeScalar(letter)))
    }
    if position < letters.count {
      appendPlain(letters[position...])
    } else if !replaced.isEmpty {
      text += "0"
    }
  }

  private mutating func appendPlain(_ letters: ArraySlice<UInt8>) {
    guard !letters.isEmpty else { return }
    text += "\(letters.count)" + String(decoding: letters, as: UTF8.self)
  }
}
