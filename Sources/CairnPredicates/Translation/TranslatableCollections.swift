import Foundation

// What Swift predicates ask of collections and texts.

extension PredicateExpressions.SequenceContains: TranslatableExpression {
  func meaning(in translation: inout PredicateTranslation) throws -> PredicateTranslation.Meaning {
    let members = try translation.value(sequence)
    return .predicate(
      .comparison(ComparisonNode(try translation.value(element), .in, members)))
  }
}

extension PredicateExpressions.SequenceContainsWhere: TranslatableExpression {
  func meaning(in translation: inout PredicateTranslation) throws -> PredicateTranslation.Meaning {
    let members = try translation.value(sequence)
    let (name, test) = try translation.member(variable.key) { try $0.predicate(self.test) }
    return .predicate(count(members, name, test, .greaterThan))
  }
}

extension PredicateExpressions.SequenceAllSatisfy: TranslatableExpression {
  func meaning(in translation: inout PredicateTranslation) throws -> PredicateTranslation.Meaning {
    let members = try translation.value(sequence)
    let (name, test) = try translation.member(variable.key) { try $0.predicate(self.test) }
    return .predicate(count(members, name, .compound(.not, [test]), .equalTo))
  }
}

/// `SUBQUERY(members, $name, test).@count` compared with 0.
private func count(
  _ members: ExpressionNode, _ name: String, _ test: PredicateNode,
  _ type: ComparisonPredicate.Operator
) -> PredicateNode {
  .comparison(
    ComparisonNode(
      .keyPathOf(.subquery(members, variable: name, test), "@count"), type,
      .constant(.integer(0))))
}

extension PredicateExpressions.Filter: TranslatableExpression {
  func meaning(in translation: inout PredicateTranslation) throws -> PredicateTranslation.Meaning {
    let members = try translation.value(sequence)
    let (name, test) = try translation.member(variable.key) { try $0.predicate(self.filter) }
    return .expression(.subquery(members, variable: name, test))
  }
}

extension PredicateExpressions.SequenceMaximum: TranslatableExpression {
  func meaning(in translation: inout PredicateTranslation) throws -> PredicateTranslation.Meaning {
    .expression(.function(.max, [try translation.value(elements)]))
  }
}

extension PredicateExpressions.SequenceMinimum: TranslatableExpression {
  func meaning(in translation: inout PredicateTranslation) throws -> PredicateTranslation.Meaning {
    .expression(.function(.min, [try translation.value(elements)]))
  }
}

extension PredicateExpressions.CollectionIndexSubscript: TranslatableExpression {
  func meaning(in translation: inout PredicateTranslation) throws -> PredicateTranslation.Meaning {
    .expression(
      .element(of: try translation.value(wrapped), at: .at(try translation.value(index))))
  }
}

extension PredicateExpressions.DictionaryKeySubscript: TranslatableExpression {
  func meaning(in translation: inout PredicateTranslation) throws -> PredicateTranslation.Meaning {
    .expression(.element(of: try translation.value(wrapped), at: .at(try translation.value(key))))
  }
}

extension PredicateExpressions.DictionaryKeyDefaultValueSubscript: TranslatableExpression {
  func meaning(in translation: inout PredicateTranslation) throws -> PredicateTranslation.Meaning {
    let value = ExpressionNode.element(
      of: try translation.value(wrapped), at: .at(try translation.value(key)))
    return .expression(
      .conditional(
        PredicateTranslation.isPresent(value), value, try translation.value(self.default)))
  }
}

// MARK: Texts

extension PredicateExpressions.CollectionContainsCollection: TranslatableExpression {
  func meaning(in translation: inout PredicateTranslation) throws -> PredicateTranslation.Meaning {
    guard isText(Base.Output.self) else { throw PredicateTranslation.unsupported(self) }
    return try text(base, .contains, other, [], &translation)
  }
}

extension PredicateExpressions.SequenceStartsWith: TranslatableExpression {
  func meaning(in translation: inout PredicateTranslation) throws -> PredicateTranslation.Meaning {
    guard isText(Base.Output.self) else { throw PredicateTranslation.unsupported(self) }
    return try text(base, .beginsWith, prefix, [], &translation)
  }
}

private func isText(_ type: Any.Type) -> Bool { type == String.self || type == Substring.self }

private func text(
  _ left: Any, _ type: ComparisonPredicate.Operator, _ right: Any,
  _ options: ComparisonPredicate.Options, _ translation: inout PredicateTranslation
) throws -> PredicateTranslation.Meaning {
  .predicate(
    .comparison(
      ComparisonNode(
        try translation.value(left), type, try translation.value(right), options: options)))
}

extension PredicateExpressions.StringContainsRegex: TranslatableExpression {
  func meaning(in translation: inout PredicateTranslation) throws -> PredicateTranslation.Meaning {
    guard let constant = regex as? PredicateExpressions.Value<PredicateExpressions.PredicateRegex>
    else { throw PredicateTranslation.unsupported(self) }
    let pattern = "(?s:.*)(?:\(constant.value.stringRepresentation))(?s:.*)"
    return .predicate(
      .comparison(
        ComparisonNode(
          try translation.value(subject), .matches, .constant(.string(pattern)))))
  }
}
