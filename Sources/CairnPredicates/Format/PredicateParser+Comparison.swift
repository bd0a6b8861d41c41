import Foundation

// Comparisons: `ANY left OP[options] right`.

extension PredicateParser {
  /// A comparison, or whatever expression or parenthesised predicate stands alone.
  mutating func comparison() throws -> Item {
    let position = token.position
    let modifier = acceptModifier()
    let left = try binary(.lowest)
    guard let (type, selector) = try acceptOperator() else {
      if modifier != nil { throw unexpected("a comparison operator expected") }
      return left
    }
    let (leftNode, leftDepth) = try expression(left)
    let options = try acceptOptions()
    let right = try binary(.lowest)
    let (rightNode, rightDepth) = try expression(right)
    let node = ComparisonNode(
      leftNode, type, rightNode, modifier: modifier?.modifier ?? .direct, options: options,
      selector: selector)
    if type == .matches { try checkPattern(rightNode, at: right.position) }
    let result = try item(.predicate(.comparison(node)), above: leftDepth, rightDepth, at: position)
    guard modifier?.isNone == true else { return result }
    return try item(
      .predicate(.compound(.not, [.comparison(node)])), above: result.depth, at: position)
  }

  private mutating func acceptModifier()
    -> (modifier: ComparisonPredicate.Modifier, isNone: Bool)?
  {
    if accept(.any) || accept(.some) { return (.any, false) }
    if accept(.all) { return (.all, false) }
    if accept(.none) { return (.any, true) }
    return nil
  }

  private mutating func acceptOperator() throws
    -> (ComparisonPredicate.Operator, SelectorName?)?
  {
    let token = token
    if case .selector(let name) = token.kind {
      guard limits.allowsMessages else {
        throw failure(
          "comparisons by selector are not allowed here", at: token.position, code: .limit)
      }
      guard name.filter({ $0 == ":" }).count == 1 else {
        throw failure("the selector must take one argument", at: token.position)
      }
      advance()
      return (.customSelector, SelectorName(name))
    }
    guard let type = Self.operatorType(token.kind) else { return nil }
    advance()
    return (type, nil)
  }

  private static func operatorType(
    _ kind: PredicateToken.Kind
  ) -> ComparisonPredicate.Operator? {
    switch kind {
    case .symbol(.equal), .symbol(.equalEqual): return .equalTo
    case .symbol(.notEqual), .symbol(.lessGreater): return .notEqualTo
    case .symbol(.less): return .lessThan
    case .symbol(.greater): return .greaterThan
    case .symbol(.lessEqual), .symbol(.equalLess): return .lessThanOrEqualTo
    case .symbol(.greaterEqual), .symbol(.equalGreater): return .greaterThanOrEqualTo
    case .word(_, .between): return .between
    case .word(_, .in): return .in
    case .word(_, .contains): return .contains
    case .word(_, .beginswith): return .beginsWith
    case .word(_, .endswith): return .endsWith
    case .word(_, .like): return .like
    case .word(_, .matches): return .matches
    default: return nil
    }
  }

  /// `[cd]`, or the word CI.
  private mutating func acceptOptions() throws -> ComparisonPredicate.Options {
    if accept(.ci) || accept(.caseinsensitive) { return .caseInsensitive }
    guard accept(FormatSymbol.openBracket) else { return [] }
    guard case .word(let letters, let word) = token.kind else {
      throw unexpected("comparison options such as cd expected")
    }
    var options: ComparisonPredicate.Options = []
    if word == .ci || word == .caseinsensitive {
      options = .caseInsensitive
    } else {
      for letter in letters {
        switch letter {
        case "c", "C": options.insert(.caseInsensitive)
        case "d", "D": options.insert(.diacriticInsensitive)
        case "n", "N": options.insert(.normalized)
        case "l", "L": options.insert(.localeSensitive)
        case "w", "W": break
        default: throw failure("\(letter) is not a comparison option", at: token.position)
        }
      }
    }
    advance()
    try expect(.closeBracket)
    return options
  }

  private func checkPattern(_ node: ExpressionNode, at position: Int) throws {
    guard case .constant(.string(let pattern)) = node else {
      if limits.checksPatterns {
        throw failure("the pattern of MATCHES must be a string here", at: position, code: .limit)
      }
      return
    }
    if pattern.utf8.count > limits.maximumPatternLength {
      throw failure(
        "the pattern is longer than \(limits.maximumPatternLength) bytes", at: position,
        code: .limit)
    }
    if limits.checksPatterns, let problem = RegularExpressionCost.problem(of: pattern) {
      throw failure(problem, at: position, code: .limit)
    }
  }
}
