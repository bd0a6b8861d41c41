import Foundation

// What the operators of Swift predicates mean.

extension PredicateExpressions.Conjunction: TranslatableExpression {
  func meaning(in translation: inout PredicateTranslation) throws -> PredicateTranslation.Meaning {
    .predicate(
      joined(.and, try translation.predicate(lhs), try translation.predicate(rhs)))
  }
}

extension PredicateExpressions.Disjunction: TranslatableExpression {
  func meaning(in translation: inout PredicateTranslation) throws -> PredicateTranslation.Meaning {
    .predicate(
      joined(.or, try translation.predicate(lhs), try translation.predicate(rhs)))
  }
}

/// Chains of one operator become one compound.
private func joined(
  _ type: CompoundPredicate.LogicalType, _ left: PredicateNode, _ right: PredicateNode
) -> PredicateNode {
  if case .compound(type, let members) = left { return .compound(type, members + [right]) }
  return .compound(type, [left, right])
}

extension PredicateExpressions.Negation: TranslatableExpression {
  func meaning(in translation: inout PredicateTranslation) throws -> PredicateTranslation.Meaning {
    .predicate(.compound(.not, [try translation.predicate(wrapped)]))
  }
}

extension PredicateExpressions.Equal: TranslatableExpression {
  func meaning(in translation: inout PredicateTranslation) throws -> PredicateTranslation.Meaning {
    .predicate(try equality(lhs, rhs, .equalTo, &translation))
  }
}

extension PredicateExpressions.NotEqual: TranslatableExpression {
  func meaning(in translation: inout PredicateTranslation) throws -> PredicateTranslation.Meaning {
    .predicate(try equality(lhs, rhs, .notEqualTo, &translation))
  }
}

private func equality(
  _ lhs: Any, _ rhs: Any, _ type: ComparisonPredicate.Operator,
  _ translation: inout PredicateTranslation
) throws -> PredicateNode {
  let left = try translation.value(lhs)
  let right = try translation.value(rhs)
  if type == .equalTo {
    if case .constant(.boolean(true)) = right, case .conditional = left {
      return PredicateTranslation.truth(of: left)
    }
    if case .constant(.boolean(true)) = left, case .conditional = right {
      return PredicateTranslation.truth(of: right)
    }
  } else if case .constant(.null) = right, case .conditional = left {
    return PredicateTranslation.isPresent(left)
  }
  return .comparison(ComparisonNode(left, type, right))
}

extension PredicateExpressions.Comparison: TranslatableExpression {
  func meaning(in translation: inout PredicateTranslation) throws -> PredicateTranslation.Meaning {
    let type: ComparisonPredicate.Operator
    switch op {
    case .lessThan: type = .lessThan
    case .lessThanOrEqual: type = .lessThanOrEqualTo
    case .greaterThan: type = .greaterThan
    case .greaterThanOrEqual: type = .greaterThanOrEqualTo
    @unknown default: throw PredicateTranslation.unsupported(self)
    }
    return .predicate(
      .comparison(
        ComparisonNode(try translation.value(lhs), type, try translation.value(rhs))))
  }
}

extension PredicateExpressions.Arithmetic: TranslatableExpression {
  func meaning(in translation: inout PredicateTranslation) throws -> PredicateTranslation.Meaning {
    let function: PredicateFunction
    switch op {
    case .add: function = .add
    case .subtract: function = .subtract
    case .multiply: function = .multiply
    @unknown default: throw PredicateTranslation.unsupported(self)
    }
    return try call(function, lhs, rhs, &translation)
  }
}

private func call(
  _ function: PredicateFunction, _ lhs: Any, _ rhs: Any,
  _ translation: inout PredicateTranslation
) throws -> PredicateTranslation.Meaning {
  .expression(.function(function, [try translation.value(lhs), try translation.value(rhs)]))
}

extension PredicateExpressions.UnaryMinus: TranslatableExpression {
  func meaning(in translation: inout PredicateTranslation) throws -> PredicateTranslation.Meaning {
    .expression(
      .function(.subtract, [.constant(.integer(0)), try translation.value(wrapped)]))
  }
}

extension PredicateExpressions.FloatDivision: TranslatableExpression {
  func meaning(in translation: inout PredicateTranslation) throws -> PredicateTranslation.Meaning {
    try call(.divide, lhs, rhs, &translation)
  }
}

extension PredicateExpressions.IntDivision: TranslatableExpression {
  func meaning(in translation: inout PredicateTranslation) throws -> PredicateTranslation.Meaning {
    try call(.divide, lhs, rhs, &translation)
  }
}

extension PredicateExpressions.IntRemainder: TranslatableExpression {
  func meaning(in translation: inout PredicateTranslation) throws -> PredicateTranslation.Meaning {
    try call(.modulus, lhs, rhs, &translation)
  }
}

extension PredicateExpressions.Conditional: TranslatableExpression {
  func meaning(in translation: inout PredicateTranslation) throws -> PredicateTranslation.Meaning {
    .expression(
      .conditional(
        try translation.predicate(test), try translation.value(trueBranch),
        try translation.value(falseBranch)))
  }
}

// MARK: Optionals

extension PredicateExpressions.NilLiteral: TranslatableExpression {
  func meaning(in translation: inout PredicateTranslation) throws -> PredicateTranslation.Meaning {
    .expression(.constant(.null))
  }
}

extension PredicateExpressions.ForcedUnwrap: TranslatableExpression {
  func meaning(in translation: inout PredicateTranslation) throws -> PredicateTranslation.Meaning {
    try translation.meaning(inner)
  }
}

extension PredicateExpressions.NilCoalesce: TranslatableExpression {
  func meaning(in translation: inout PredicateTranslation) throws -> PredicateTranslation.Meaning {
    let value = try translation.value(lhs)
    let fallback = try translation.value(rhs)
    return .expression(
      .conditional(PredicateTranslation.isPresent(value), value, fallback))
  }
}

extension PredicateExpressions.OptionalFlatMap: TranslatableExpression {
  func meaning(in translation: inout PredicateTranslation) throws -> PredicateTranslation.Meaning {
    let value = try translation.value(wrapped)
    translation.bindings[variable.key] = value
    defer { translation.bindings[variable.key] = nil }
    let result = try translation.value(transform)
    // A path or sum of nil is nil by itself, and SQL understands it better so.
    if PredicateTranslation.passesNil(result, of: value) { return .expression(result) }
    return .expression(
      .conditional(PredicateTranslation.isPresent(value), result, .constant(.null)))
  }
}
