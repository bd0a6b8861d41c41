import CairnModel
import CairnPredicates
import CairnSQL

// Texts: by their bytes as they are kept. What options make of a text is known of ASCII alone, of which the server
// finds what memory would find; all other texts are left to memory.

extension PostgreSQLDialect {
  func folded(_ text: SQLTerm, _ options: ComparisonPredicate.Options) throws -> SQLTerm {
    var term = text
    term.folding = options
    return term
  }

  /// Whether a text has characters that options may change in ways the server does not know.
  private func isForMemory(_ text: SQLFragment) -> SQLFragment {
    " OR octet_length(" + text + ") <> char_length(" + text + ")"
  }

  /// A text of ASCII as it is folded.
  private func plain(_ text: SQLFragment, _ options: ComparisonPredicate.Options) -> SQLFragment {
    options.contains(.caseInsensitive) ? "lower(" + text + " \(Self.byBytes))" : text
  }

  /// A condition on a text of ASCII, and all other texts.
  private func coarse(_ test: SQLFragment, _ text: SQLFragment) -> SQLFragment {
    var found = "(" + test + isForMemory(text) + ")"
    found.isCoarse = true
    return found
  }

  func foldedTexts(
    _ a: SQLTerm, _ relation: NumberRelation, _ b: SQLTerm
  ) throws -> SQLFragment {
    if a.parameter != nil, b.parameter == nil { return try foldedTexts(b, relation.flipped, a) }
    // Two columns are both kept in memory's way only.
    guard b.parameter != nil else { throw SQLUnsupported() }
    let text = plain(a.fragment, a.folding)
    let constant = b.fragment + " \(Self.byBytes)"
    return coarse(relation.compare(text, constant, isConstant: true), a.fragment)
  }

  func foldedList(_ term: SQLTerm, _ list: SQLFragment) -> SQLFragment {
    coarse(plain(term.fragment, term.folding) + list, term.fragment)
  }

  // MARK: String operators

  func text(
    _ left: SQLTerm, _ type: ComparisonPredicate.Operator, _ right: SQLTerm,
    _ options: ComparisonPredicate.Options
  ) throws -> SQLFragment {
    // `IN` looks for its left side in the right one.
    let (text, pattern) = type == .in ? (right, left) : (left, right)
    guard case .string(let constant)? = pattern.parameter else {
      guard pattern.parameter == nil, !StringFolding.changes(options) else {
        throw SQLUnsupported()
      }
      return try compared(text.fragment, type, pattern.fragment)
    }
    guard StringFolding.changes(options) else {
      return try compared(text.fragment, type, constant)
    }
    // Likewise for two constants: nothing of a row decides.
    guard text.parameter == nil else { throw SQLUnsupported() }
    let folded = StringFolding.fold(constant, options: options)
    let test: SQLFragment
    switch type {
    case .like: test = try like(plain(text.fragment, options), folded)
    case .matches: return candidates(text.fragment)
    default: test = try compared(plain(text.fragment, options), type, folded)
    }
    return coarse(test, text.fragment)
  }

  /// All texts, since memory alone knows the regular expressions of predicates.
  private func candidates(_ text: SQLFragment) -> SQLFragment {
    var found = text + " IS NOT NULL"
    found.isCoarse = true
    return found
  }

  /// A text with a constant.
  private func compared(
    _ text: SQLFragment, _ type: ComparisonPredicate.Operator, _ pattern: String
  ) throws -> SQLFragment {
    let parameter = SQLFragment.parameter(.string(pattern))
    if type == .like { return try like(text, pattern) }
    if type == .matches { return candidates(text) }
    if pattern.isEmpty { return text + " IS NOT NULL" }
    // In what is kept, these may be half of another character, which the others never are; see `StoredText`.
    let isOwnCharacter = pattern.unicodeScalars.first.map { $0.value > 2 } ?? true
    var found: SQLFragment
    switch type {
    case .beginsWith: return range(text, pattern)
    case .endsWith: found = "right(" + text + ", char_length(" + parameter + ")) = " + parameter
    case .contains, .in: found = "strpos(" + text + ", " + parameter + ") > 0"
    default: throw SQLUnsupported()
    }
    found.isCoarse = !isOwnCharacter
    return found
  }

  /// A text with another one.
  private func compared(
    _ text: SQLFragment, _ type: ComparisonPredicate.Operator, _ other: SQLFragment
  ) throws -> SQLFragment {
    var found: SQLFragment
    switch type {
    case .beginsWith: return "starts_with(" + text + ", " + other + ")"
    case .endsWith: found = "right(" + text + ", char_length(" + other + ")) = " + other
    case .contains, .in: found = "strpos(" + text + ", " + other + ") > 0"
    default: throw SQLUnsupported()
    }
    // Of what is kept, a piece may begin within a character.
    found.isCoarse = true
    return found
  }

  /// All texts with a prefix are next to each other in the order of bytes, as they are in an index.
  private func range(_ text: SQLFragment, _ prefix: String) -> SQLFragment {
    var found = "(" + text + " >= " + .parameter(.string(prefix)) + " \(Self.byBytes)"
    if let end = TextRange.successor(of: prefix) {
      found = found + " AND " + text + " < " + .parameter(.string(end)) + " \(Self.byBytes)"
    }
    return found + ")"
  }

  // MARK: LIKE

  /// One character as it is kept.
  private static let character = "(?:[^\\u0001]|\\u0001[\\u0001\\u0002])"

  /// The pattern of `LIKE` as one of the server's regular expressions, which has no other signs in it.
  private func like(_ text: SQLFragment, _ pattern: String) throws -> SQLFragment {
    var expression = "^"
    var prefix: String? = ""
    var isEscaped = false
    func literal(_ scalar: Unicode.Scalar) throws {
      // Backslash and letter would mean something else, which the signs of ASCII do not.
      guard scalar.value > 2 else { throw SQLUnsupported() }
      let isSign = scalar.isASCII && !scalar.properties.isAlphabetic && !("0"..."9" ~= scalar)
      if isSign { expression += "\\" }
      expression.unicodeScalars.append(scalar)
      prefix?.unicodeScalars.append(scalar)
    }
    var fixed = ""
    for scalar in pattern.unicodeScalars {
      if isEscaped {
        try literal(scalar)
        isEscaped = false
      } else if scalar == "\\" {
        isEscaped = true
      } else if scalar == "?" || scalar == "*" {
        expression += Self.character + (scalar == "*" ? "*" : "")
        fixed = prefix ?? fixed
        prefix = nil
      } else {
        try literal(scalar)
      }
    }
    if isEscaped { try literal("\\") }
    let start = prefix ?? fixed
    let test = text + " ~ " + .parameter(.string(expression + "$"))
    return start.isEmpty ? test : "(" + range(text, start) + " AND " + test + ")"
  }
}
