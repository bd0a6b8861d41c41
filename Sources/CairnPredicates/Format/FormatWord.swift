/// The reserved words of the format language, without regard to case.
enum FormatWord: String, CaseIterable, Sendable {
  case and, or, `in`, not, all, any, some, none, like, caseinsensitive, ci, matches, contains
  case beginswith, endswith, between, null, `nil`, `self`, `true`, yes, `false`, no, first, last
  case size, anykey, subquery, fetch, cast, function, ternary, truepredicate, falsepredicate
  case union, intersect, minus

  /// The reserved word that a text is, if it is one.
  init?(reserved text: String) {
    guard text.utf8.count <= 15, text.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
    self.init(rawValue: text.lowercased())
  }

  /// Whether a text can stand unquoted as one step of a key path, given a `#` if it is reserved.
  static func isIdentifier(_ text: some StringProtocol) -> Bool {
    guard let first = text.unicodeScalars.first, isIdentifierStart(first) else { return false }
    return text.unicodeScalars.allSatisfy(isIdentifierPart)
  }

  static func isIdentifierStart(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar {
    case "a"..."z", "A"..."Z", "_": return true
    default: return scalar.value >= 0x80 && scalar.properties.isXIDStart
    }
  }

  static func isIdentifierPart(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar {
    case "a"..."z", "A"..."Z", "_", "0"..."9": return true
    default: return scalar.value >= 0x80 && scalar.properties.isXIDContinue
    }
  }
}
