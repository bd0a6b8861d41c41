import Foundation

// Values that contain no operators: literals, names, calls, parentheses.

extension PredicateParser {
  mutating func atom() throws -> Item {
    let token = token
    let position = token.position
    switch token.kind {
    case .string(let text): return try constant(.string(text), at: position)
    case .integer(let number):
      if let small = Int64(exactly: number) { return try constant(.integer(small), at: position) }
      return try constant(.decimal(Decimal(number)), at: position)
    case .decimal(let number): return try constant(.decimal(number), at: position)
    case .double(let number): return try constant(.double(number), at: position)
    case .specifier(let specifier):
      advance()
      if specifier == .object, let node = arguments.takePredicate() {
        return try item(.predicate(node), at: position)
      }
      let node = try withArguments(at: position) { try $0.expression(specifier) }
      return try item(.expression(node), at: position)
    case .variable(let name): return try variable(name, at: position)
    case .collectionOperator(let name):
      advance()
      return try item(.expression(.keyPath(name)), at: position)
    case .selector(let name):
      advance()
      guard self.token.kind == .symbol(.open) else {
        throw failure("a value expected, not the selector \(name)", at: position)
      }
      return try call(name, at: position)
    case .word(let name, nil):
      advance()
      if self.token.kind == .symbol(.open) { return try call(name, at: position) }
      return try item(.expression(.keyPath(name)), at: position)
    case .word(let name, let word?): return try reserved(word, name, at: position)
    case .symbol(.open):
      advance()
      var inner = try nested { try $0.disjunction() }
      try expect(.close)
      inner.position = position
      return inner
    case .symbol(.openBrace): return try aggregate(at: position)
    case .symbol, .end: throw unexpected("a value expected")
    }
  }

  private mutating func constant(_ value: PredicateValue, at position: Int) throws -> Item {
    advance()
    return try item(.expression(.constant(value)), at: position)
  }

  /// `$name`, or `$name := value`.
  private mutating func variable(_ name: String, at position: Int) throws -> Item {
    advance()
    guard accept(FormatSymbol.assign) else {
      return try item(.expression(.variable(name)), at: position)
    }
    let (node, depth) = try expression(nested { try $0.binary(.lowest) })
    return try item(.expression(.assignment(name, node)), above: depth, at: position)
  }

  private mutating func reserved(
    _ word: FormatWord, _ name: String, at position: Int
  ) throws -> Item {
    switch word {
    case .true, .yes: return try constant(.boolean(true), at: position)
    case .false, .no: return try constant(.boolean(false), at: position)
    case .null, .nil: return try constant(.null, at: position)
    case .self:
      advance()
      return try item(.expression(.evaluatedObject), at: position)
    case .anykey:
      advance()
      return try item(.expression(.anyKey), at: position)
    case .truepredicate:
      advance()
      return try item(.predicate(.value(true)), at: position)
    case .falsepredicate:
      advance()
      return try item(.predicate(.value(false)), at: position)
    case .subquery: return try subquery(at: position)
    case .ternary: return try ternary(at: position)
    case .cast: return try cast(at: position)
    case .function: return try message(at: position)
    case .fetch: return try fetch(at: position)
    case .and, .or, .in, .not, .all, .any, .some, .none, .like, .caseinsensitive, .ci, .matches,
      .contains, .beginswith, .endswith, .between, .first, .last, .size, .union, .intersect,
      .minus:
      throw failure(
        "\(name) is a reserved word; write #\(name) or %K for a key of this name", at: position)
    }
  }

  /// Expressions with commas between them, up to the closing sign.
  private mutating func list(
    closedBy close: FormatSymbol
  ) throws -> (nodes: [ExpressionNode], depth: Int) {
    var nodes: [ExpressionNode] = []
    var depth = 0
    if accept(close) { return (nodes, depth) }
    repeat {
      let (node, nodeDepth) = try argument()
      nodes.append(node)
      depth = max(depth, nodeDepth)
    } while accept(FormatSymbol.comma)
    try expect(close)
    return (nodes, depth)
  }

  private mutating func argument() throws -> (ExpressionNode, Int) {
    try expression(nested { try $0.binary(.lowest) })
  }

  /// `{a, b}`.
  private mutating func aggregate(at position: Int) throws -> Item {
    advance()
    let (nodes, depth) = try list(closedBy: .closeBrace)
    return try item(.expression(.aggregate(nodes)), above: depth, at: position)
  }

  /// `name(arguments)`.
  private mutating func call(_ name: String, at position: Int) throws -> Item {
    try expect(.open)
    let (nodes, depth) = try list(closedBy: .close)
    guard let node = ExpressionNode.call(name, nodes) else {
      throw failure(
        "there is no function \(name) with \(nodes.count) arguments", at: position)
    }
    if case .function(let function, _) = node { try checkAllowed(function, at: position) }
    return try item(.expression(node), above: depth, at: position)
  }

  /// `SUBQUERY(collection, $variable, predicate)`.
  private mutating func subquery(at position: Int) throws -> Item {
    advance()
    try expect(.open)
    let (collection, depth) = try argument()
    try expect(.comma)
    guard case .variable(let name) = token.kind else { throw unexpected("a $variable expected") }
    advance()
    try expect(.comma)
    let (condition, conditionDepth) = try predicate(nested { try $0.disjunction() })
    try expect(.close)
    return try item(
      .expression(.subquery(collection, variable: name, condition)), above: depth,
      conditionDepth, at: position)
  }

  /// `TERNARY(predicate, then, else)`.
  private mutating func ternary(at position: Int) throws -> Item {
    advance()
    try expect(.open)
    let (condition, conditionDepth) = try predicate(nested { try $0.disjunction() })
    try expect(.comma)
    let (first, firstDepth) = try argument()
    try expect(.comma)
    let (second, secondDepth) = try argument()
    try expect(.close)
    return try item(
      .expression(.conditional(condition, first, second)), above: conditionDepth, firstDepth,
      secondDepth, at: position)
  }

  /// `CAST(value, "Class")`.
  private mutating func cast(at position: Int) throws -> Item {
    advance()
    try expect(.open)
    let (node, depth) = try argument()
    try expect(.comma)
    let typePosition = token.position
    guard case .constant(.string(let type)) = try argument().0 else {
      throw failure("the name of a class in quotes expected", at: typePosition)
    }
    try expect(.close)
    return try item(.expression(.casting(node, to: type)), above: depth, at: position)
  }

  /// `FUNCTION(target, "selector:", arguments…)`.
  private mutating func message(at position: Int) throws -> Item {
    advance()
    try expect(.open)
    let (target, depth) = try argument()
    try expect(.comma)
    let namePosition = token.position
    guard case .constant(.string(let name)) = try argument().0, !name.isEmpty else {
      throw failure("the name of a method in quotes expected", at: namePosition)
    }
    var nodes: [ExpressionNode] = []
    var argumentsDepth = 0
    if accept(FormatSymbol.comma) {
      (nodes, argumentsDepth) = try list(closedBy: .close)
    } else {
      try expect(.close)
    }
    let node = ExpressionNode.message(to: target, SelectorName(name), nodes)
    if case .message = node, !limits.allowsMessages {
      throw failure("FUNCTION is not allowed here", at: position, code: .limit)
    }
    return try item(.expression(node), above: depth, argumentsDepth, at: position)
  }

  /// `FETCH(request, context, YES)`.
  private mutating func fetch(at position: Int) throws -> Item {
    guard limits.allowsFetches else {
      throw failure("FETCH is not allowed here", at: position, code: .limit)
    }
    advance()
    try expect(.open)
    let (request, requestDepth) = try argument()
    try expect(.comma)
    let (context, contextDepth) = try argument()
    try expect(.comma)
    let flagPosition = token.position
    guard case .constant(let flag) = try argument().0, flag.kind == .number else {
      throw failure("YES or NO expected", at: flagPosition)
    }
    try expect(.close)
    return try item(
      .expression(.fetch(request, context, countOnly: flag.isTrue)), above: requestDepth,
      contextDepth, at: position)
  }
}
