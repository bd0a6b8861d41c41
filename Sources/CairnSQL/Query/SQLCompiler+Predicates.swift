import CairnModel
import CairnPredicates
import CairnStore
import Foundation

// Predicates as SQL conditions.

extension SQLCompiler {
  /// The condition of a predicate.
  ///
  /// It may be NULL where the predicate is false.
  func condition(_ node: PredicateNode) throws -> SQLFragment {
    switch node {
    case .value(let flag): return dialect.literal(flag)
    case .block: throw SQLUnsupported()
    case .comparison(let comparison): return try condition(comparison)
    case .compound(let type, let members):
      switch type {
      case .not:
        guard let member = members.first else { throw SQLUnsupported() }
        return try isNotTrue(try condition(member))
      case .and: return try compound(Self.flattened(members, .and), " AND ", empty: true)
      case .or: return try compound(Self.flattened(members, .or), " OR ", empty: false)
      }
    }
  }

  /// NULL counts as false in every member, so that AND and OR give what the evaluator gives; a NOT
  /// around them turns the NULL that is left into false first.
  private func compound(
    _ members: [PredicateNode], _ separator: String, empty: Bool
  ) throws -> SQLFragment {
    if members.isEmpty { return dialect.literal(empty) }
    return "(" + .grouped(try members.map { try condition($0) }, by: separator) + ")"
  }

  /// Whether a condition is false or NULL; of one that more rows satisfy than it means, too few are
  /// left.
  private func isNotTrue(_ condition: SQLFragment) throws -> SQLFragment {
    dialect.isNotTrue(try exact(condition))
  }

  /// - Throws: ``SQLUnsupported`` for a condition that more rows satisfy than it means.
  func exact(_ condition: SQLFragment) throws -> SQLFragment {
    if condition.isCoarse { throw SQLUnsupported() }
    return condition
  }

  /// The members of a compound, and of compounds of the same kind in it, which mean the same.
  private static func flattened(
    _ members: [PredicateNode], _ type: CompoundPredicate.LogicalType
  ) -> [PredicateNode] {
    var result: [PredicateNode] = []
    var pending = Array(members.reversed())
    while let node = pending.popLast() {
      if case .compound(type, let inner) = node {
        pending += inner.reversed()
      } else {
        result.append(node)
      }
    }
    return result
  }

  private func condition(_ comparison: ComparisonNode) throws -> SQLFragment {
    if comparison.type == .customSelector { throw SQLUnsupported() }
    switch comparison.modifier {
    case .direct: return try direct(comparison)
    case .any: return try quantified(comparison, isAll: false)
    case .all: return try quantified(comparison, isAll: true)
    }
  }

  // MARK: ANY and ALL

  private func quantified(_ comparison: ComparisonNode, isAll: Bool) throws -> SQLFragment {
    guard case .members(let members, let rest) = try path(comparison.left) else {
      throw SQLUnsupported()
    }
    if rest.contains(where: { $0.hasPrefix("@") }) { throw SQLUnsupported() }
    let select = try select(members) { inner in
      let left: SQLTerm
      if rest.isEmpty {
        left = object(inner.alias, inner.entity)
      } else {
        guard case .term(let term) = try resolve(rest.joined(separator: "."), from: inner) else {
          throw SQLQueryError.severalToManyKeys
        }
        left = term
      }
      var single = comparison
      single.modifier = .direct
      let test = try compare(left, single)
      return (SQLFragment("1"), isAll ? try isNotTrue(test) : test)
    }
    return (isAll ? "NOT EXISTS (" : "EXISTS (") + select + ")"
  }

  private func path(_ node: ExpressionNode) throws -> SQLPathTarget {
    switch node {
    case .keyPath(let path): return try resolve(path, from: root)
    case .keyPathOf(.variable(let name), let path):
      guard let scope = variables[name] else { throw SQLUnsupported() }
      return try resolve(path, from: scope)
    case .keyPathOf(.evaluatedObject, let path): return try resolve(path, from: root)
    case .constant, .evaluatedObject, .variable, .keyPathOf, .function, .element, .cast, .message,
      .setOperation, .subquery, .aggregate, .anyKey, .block, .conditional, .assignment, .fetch:
      throw SQLUnsupported()
    }
  }

  /// The to-many relationship that an expression leads through, if it does.
  private func members(_ node: ExpressionNode) throws -> (SQLMembers, [String])? {
    switch node {
    case .keyPath, .keyPathOf(.variable, _), .keyPathOf(.evaluatedObject, _):
      if case .members(let members, let rest) = try path(node),
        !(rest.first ?? "").hasPrefix("@")
      {
        return (members, rest)
      }
      return nil
    case .constant, .evaluatedObject, .variable, .keyPathOf, .function, .element, .cast, .message,
      .setOperation, .subquery, .aggregate, .anyKey, .block, .conditional, .assignment, .fetch:
      return nil
    }
  }

  // MARK: Direct comparisons

  private func direct(_ comparison: ComparisonNode) throws -> SQLFragment {
    if case .constant(.null) = comparison.right, comparison.type.needsRightSide {
      throw SQLQueryError.missingRightSide
    }
    switch comparison.type {
    case .contains:
      if let (members, rest) = try members(comparison.left) {
        return try contains(members, rest, comparison.right)
      }
    case .in:
      if let (members, rest) = try members(comparison.right) {
        return try contains(members, rest, comparison.left)
      }
    case .lessThan, .lessThanOrEqualTo, .greaterThan, .greaterThanOrEqualTo, .equalTo, .notEqualTo,
      .matches, .like, .beginsWith, .endsWith, .customSelector, .between:
      break
    }
    if case .constant(let value) = comparison.left {
      if case .in = comparison.type { return try constantIn(value, comparison) }
      if let flipped = flipped(comparison) { return try direct(flipped) }
    }
    return try compare(try term(comparison.left), comparison)
  }

  /// `constant IN expression`: only text in text is left, the rest went before.
  private func constantIn(
    _ value: PredicateValue, _ comparison: ComparisonNode
  ) throws -> SQLFragment {
    guard case .string = value else { throw SQLUnsupported() }
    return try compare(try constant(value), comparison)
  }

  /// The same comparison with the constant on the right.
  private func flipped(_ comparison: ComparisonNode) -> ComparisonNode? {
    if case .constant = comparison.right { return nil }
    var result = comparison
    (result.left, result.right) = (comparison.right, comparison.left)
    switch comparison.type {
    case .equalTo, .notEqualTo: return result
    case .lessThan: result.type = .greaterThan
    case .lessThanOrEqualTo: result.type = .greaterThanOrEqualTo
    case .greaterThan: result.type = .lessThan
    case .greaterThanOrEqualTo: result.type = .lessThanOrEqualTo
    case .matches, .like, .beginsWith, .endsWith, .in, .customSelector, .contains, .between:
      return nil
    }
    return result
  }

  /// Whether some member (or a value of it) equals a value.
  private func contains(
    _ members: SQLMembers, _ rest: [String], _ value: ExpressionNode
  ) throws -> SQLFragment {
    let select = try select(members) { inner in
      let left: SQLTerm
      if rest.isEmpty {
        left = object(inner.alias, inner.entity)
      } else {
        guard case .term(let term) = try resolve(rest.joined(separator: "."), from: inner) else {
          throw SQLQueryError.severalToManyKeys
        }
        left = term
      }
      return (SQLFragment("1"), try compare(left, ComparisonNode(value, .equalTo, value)))
    }
    return "EXISTS (" + select + ")"
  }

  /// Compares a term with the right side of a comparison.
  func compare(_ left: SQLTerm, _ comparison: ComparisonNode) throws -> SQLFragment {
    switch comparison.type {
    case .equalTo, .notEqualTo: return try equality(left, comparison)
    case .lessThan: return try ordered(left, .less, comparison)
    case .lessThanOrEqualTo: return try ordered(left, .lessOrEqual, comparison)
    case .greaterThan: return try ordered(left, .greater, comparison)
    case .greaterThanOrEqualTo: return try ordered(left, .greaterOrEqual, comparison)
    case .between: return try between(left, comparison)
    case .in: return try membership(left, comparison)
    case .matches, .like, .beginsWith, .endsWith, .contains: return try text(left, comparison)
    case .customSelector: throw SQLUnsupported()
    }
  }

  private func right(_ node: ExpressionNode, for kind: SQLKind) throws -> SQLTerm {
    if case .constant(let value) = node { return try constant(value, for: kind) }
    let term = try term(node)
    guard term.kind == .null || kind == .null || term.kind.isComparable(to: kind) else {
      throw SQLUnsupported()
    }
    return term
  }

  private func equality(_ left: SQLTerm, _ comparison: ComparisonNode) throws -> SQLFragment {
    let right = try right(comparison.right, for: left.kind)
    let isEqual = comparison.type == .equalTo
    if right.kind == .null { return isEqual ? left.isNull : left.isNotNull }
    if left.kind == .null { return isEqual ? right.isNull : right.isNotNull }
    let (a, b) = try folded(left, right, comparison.options)
    return try dialect.equality(a, b, isEqual: isEqual)
  }

  private func folded(
    _ left: SQLTerm, _ right: SQLTerm, _ options: ComparisonPredicate.Options
  ) throws -> (SQLTerm, SQLTerm) {
    guard left.kind == .string, StringFolding.changes(options) else { return (left, right) }
    func fold(_ term: SQLTerm) throws -> SQLTerm {
      if case .string(let text)? = term.parameter {
        return try dialect.constant(.string(StringFolding.fold(text, options: options)), .string)
      }
      return try dialect.folded(term, options)
    }
    return (try fold(left), try fold(right))
  }

  private func ordered(
    _ left: SQLTerm, _ sign: SQLSign, _ comparison: ComparisonNode
  ) throws -> SQLFragment {
    let right = try right(comparison.right, for: left.kind)
    if right.kind == .null || left.kind == .null { return dialect.literal(false) }
    guard left.kind.isOrdered, right.kind.isOrdered else { throw SQLUnsupported() }
    let (a, b) = try folded(left, right, comparison.options)
    return try dialect.order(a, sign, b)
  }

  private func between(_ left: SQLTerm, _ comparison: ComparisonNode) throws -> SQLFragment {
    let bounds: [ExpressionNode]
    switch comparison.right {
    case .aggregate(let members): bounds = members
    case .constant(.array(let members)): bounds = members.map { .constant($0) }
    case .constant, .evaluatedObject, .variable, .keyPath, .keyPathOf, .function, .element, .cast,
      .message, .setOperation, .subquery, .anyKey, .block, .conditional, .assignment, .fetch:
      throw SQLUnsupported()
    }
    guard bounds.count == 2 else { throw SQLUnsupported() }
    var low = comparison
    low.right = bounds[0]
    var high = comparison
    high.right = bounds[1]
    return "(" + (try ordered(left, .greaterOrEqual, low)) + " AND "
      + (try ordered(left, .lessOrEqual, high)) + ")"
  }

  private func membership(_ left: SQLTerm, _ comparison: ComparisonNode) throws -> SQLFragment {
    let isPlain = !StringFolding.changes(comparison.options)
    if !isPlain, left.kind == .string, let values = comparison.right.constantMembers {
      return try membership(
        try dialect.folded(left, comparison.options),
        in: values.map { $0.folded(options: comparison.options) })
    }
    switch comparison.right {
    case .constant(.array(let members)) where isPlain:
      return try membership(left, in: members)
    case .constant(.set(let members)) where isPlain:
      return try membership(left, in: Array(members))
    case .aggregate(let members) where isPlain:
      let values = members.compactMap { node -> PredicateValue? in
        if case .constant(let value) = node { return value }
        return nil
      }
      if values.count == members.count { return try membership(left, in: values) }
      let tests = try members.map {
        try compare(left, ComparisonNode($0, .equalTo, $0))
      }
      return "(" + .joined(tests, by: " OR ") + ")"
    case .constant, .aggregate, .evaluatedObject, .variable, .keyPath, .keyPathOf, .function,
      .element, .cast, .message, .setOperation, .subquery, .anyKey, .block, .conditional,
      .assignment, .fetch:
      return try text(left, comparison)
    }
  }

  /// The string operators.
  private func text(_ left: SQLTerm, _ comparison: ComparisonNode) throws -> SQLFragment {
    guard left.kind == .string else { throw SQLUnsupported() }
    let right: SQLTerm
    if case .constant(let value) = comparison.right {
      guard case .string(let pattern) = value else { throw SQLUnsupported() }
      // A pattern that is no regular expression is an error, not a row that does not match.
      if comparison.type == .matches {
        _ = try PredicateEvaluator.evaluate(
          .comparison(
            ComparisonNode(.constant(.string("")), .matches, .constant(.string(pattern)))),
          with: nil, bindings: nil)
      }
      right = try constant(value)
    } else {
      right = try term(comparison.right)
      guard right.kind == .string else { throw SQLUnsupported() }
    }
    return try dialect.text(left, comparison.type, right, comparison.options)
  }
}

extension ComparisonPredicate.Operator {
  /// Whether nil on the right makes no sense to Core Data.
  fileprivate var needsRightSide: Bool {
    switch self {
    case .in, .contains, .beginsWith, .endsWith, .like, .matches: return true
    case .lessThan, .lessThanOrEqualTo, .greaterThan, .greaterThanOrEqualTo, .equalTo, .notEqualTo,
      .customSelector, .between:
      return false
    }
  }
}

extension ExpressionNode {
  /// The members of a list of constants; nil for everything else.
  fileprivate var constantMembers: [PredicateValue]? {
    switch self {
    case .constant(.array(let members)): return members
    case .constant(.set(let members)): return Array(members)
    case .aggregate(let nodes):
      let values = nodes.compactMap { node -> PredicateValue? in
        if case .constant(let value) = node { return value }
        return nil
      }
      return values.count == nodes.count ? values : nil
    case .constant, .evaluatedObject, .variable, .keyPath, .keyPathOf, .function, .element, .cast,
      .message, .setOperation, .subquery, .anyKey, .block, .conditional, .assignment, .fetch:
      return nil
    }
  }
}

extension PredicateValue {
  fileprivate func folded(options: ComparisonPredicate.Options) -> PredicateValue {
    if case .string(let text) = self { return .string(StringFolding.fold(text, options: options)) }
    return self
  }
}
