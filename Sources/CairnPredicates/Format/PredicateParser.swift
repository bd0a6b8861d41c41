import Foundation

/// Parses format strings.
///
/// One recursive descent serves predicates and expressions: every rule returns an item that knows
/// which of the two it is, so nothing is ever read twice.
package struct PredicateParser {
  /// What a rule has read.
  enum Content {
    case predicate(PredicateNode)
    case expression(ExpressionNode)
  }

  /// What a rule has read, how deep its tree is and where it began.
  struct Item {
    var content: Content
    var depth: Int
    var position: Int
  }

  let text: String
  let limits: PredicateLimits
  private let tokens: [PredicateToken]
  private var index = 0
  private var nesting = 0
  private var nodeCount = 0
  var arguments: FormatArguments

  /// The tree of a predicate.
  ///
  /// - Parameter arguments: nil forbids specifiers.
  /// - Throws: ``PredicateFormatError``.
  package static func predicate(
    _ text: String, arguments: [Any?]?, limits: PredicateLimits
  ) throws -> PredicateNode {
    var parser = try PredicateParser(text, arguments, limits)
    let item = try parser.disjunction()
    try parser.expectEnd()
    return try parser.predicate(item).0
  }

  /// The tree of an expression.
  ///
  /// - Parameter arguments: nil forbids specifiers.
  /// - Throws: ``PredicateFormatError``.
  package static func expression(
    _ text: String, arguments: [Any?]?, limits: PredicateLimits
  ) throws -> ExpressionNode {
    var parser = try PredicateParser(text, arguments, limits)
    let item = try parser.disjunction()
    try parser.expectEnd()
    return try parser.expression(item).0
  }

  private init(_ text: String, _ arguments: [Any?]?, _ limits: PredicateLimits) throws {
    self.text = text
    self.limits = limits
    self.arguments = FormatArguments(arguments)
    guard text.utf8.count <= limits.maximumLength else {
      throw PredicateFormatError(
        code: .limit, text: String(text.prefix(64)) + "…", position: 0,
        reason: "the text is longer than \(limits.maximumLength) bytes")
    }
    // What came over a wire is not worth remembering.
    tokens = try arguments == nil ? PredicateLexer.tokens(of: text) : FormatTokens.of(text)
  }

  // MARK: Words

  var token: PredicateToken { tokens[index] }

  mutating func advance() {
    if index < tokens.count - 1 { index += 1 }
  }

  /// Reads a sign if it comes next.
  mutating func accept(_ symbol: FormatSymbol) -> Bool {
    guard token.kind == .symbol(symbol) else { return false }
    advance()
    return true
  }

  /// Reads a reserved word if it comes next.
  mutating func accept(_ word: FormatWord) -> Bool {
    guard nextWord == word else { return false }
    advance()
    return true
  }

  /// The reserved word that comes next, if one does.
  var nextWord: FormatWord? {
    guard case .word(_, let word) = token.kind else { return nil }
    return word
  }

  mutating func expect(_ symbol: FormatSymbol) throws {
    guard accept(symbol) else { throw unexpected("'\(symbol.rawValue)' expected") }
  }

  private func expectEnd() throws {
    guard token.kind == .end else { throw unexpected("this does not continue the predicate") }
  }

  // MARK: Errors and limits

  func unexpected(_ reason: String) -> PredicateFormatError {
    if token.kind == .end {
      return failure("\(reason), but the text ends", at: token.position)
    }
    return failure(reason, at: token.position)
  }

  func failure(
    _ reason: String, at position: Int, code: PredicateFormatError.Code = .syntax
  ) -> PredicateFormatError {
    PredicateFormatError(code: code, text: text, position: position, reason: reason)
  }

  /// Runs a rule one level deeper.
  mutating func nested(_ rule: (inout PredicateParser) throws -> Item) throws -> Item {
    nesting += 1
    defer { nesting -= 1 }
    guard nesting <= limits.maximumDepth else { throw tooDeep(at: token.position) }
    return try rule(&self)
  }

  private func tooDeep(at position: Int) -> PredicateFormatError {
    failure(
      "the predicate is nested deeper than \(limits.maximumDepth) levels", at: position,
      code: .limit)
  }

  /// An item of a new tree node above the given depths.
  mutating func item(
    _ content: Content, above depths: Int..., at position: Int
  ) throws -> Item {
    nodeCount += 1
    guard nodeCount <= limits.maximumNodes else {
      throw failure(
        "the predicate has more than \(limits.maximumNodes) parts", at: position, code: .limit)
    }
    let depth = (depths.max() ?? 0) + 1
    guard depth <= limits.maximumDepth else { throw tooDeep(at: position) }
    return Item(content: content, depth: depth, position: position)
  }

  /// The item's predicate and depth.
  func predicate(_ item: Item) throws -> (PredicateNode, Int) {
    guard case .predicate(let node) = item.content else {
      throw failure("an expression alone is not a predicate", at: item.position)
    }
    return (node, item.depth)
  }

  /// The item's expression and depth.
  func expression(_ item: Item) throws -> (ExpressionNode, Int) {
    guard case .expression(let node) = item.content else {
      throw failure("a predicate cannot be used as a value", at: item.position)
    }
    return (node, item.depth)
  }

  // MARK: Predicates

  /// `and { OR and }`; also any expression.
  mutating func disjunction() throws -> Item {
    try chain(.or, { $0.accept(FormatWord.or) || $0.accept(.orOr) }, { try $0.conjunction() })
  }

  /// `not { AND not }`.
  private mutating func conjunction() throws -> Item {
    try chain(.and, { $0.accept(FormatWord.and) || $0.accept(.andAnd) }, { try $0.negation() })
  }

  private mutating func chain(
    _ type: CompoundPredicate.LogicalType, _ joins: (inout PredicateParser) -> Bool,
    _ member: (inout PredicateParser) throws -> Item
  ) throws -> Item {
    let first = try member(&self)
    guard joins(&self) else { return first }
    var (node, depth) = try predicate(first)
    var members = [node]
    repeat {
      let memberDepth: Int
      (node, memberDepth) = try predicate(try member(&self))
      members.append(node)
      depth = max(depth, memberDepth)
    } while joins(&self)
    return try item(.predicate(.compound(type, members)), above: depth, at: first.position)
  }

  /// `NOT not`, or a comparison.
  private mutating func negation() throws -> Item {
    let position = token.position
    guard accept(FormatWord.not) || acceptNotSign() else { return try comparison() }
    let (node, depth) = try predicate(nested { try $0.negation() })
    return try item(.predicate(.compound(.not, [node])), above: depth, at: position)
  }

  private mutating func acceptNotSign() -> Bool { accept(FormatSymbol.not) }
}
