import Foundation

// What the values of Swift predicates mean: constants, variables, key paths, ranges.

extension PredicateExpressions.Value: TranslatableExpression {
  func meaning(in translation: inout PredicateTranslation) throws -> PredicateTranslation.Meaning {
    if let range = value as? any TranslatableRange { return .range(try range.bounds()) }
    return .expression(.constant(try translatedConstant(value)))
  }
}

private func translatedConstant(_ value: Any) throws -> PredicateValue {
  let constant = PredicateValue(value)
  guard isStorable(constant) else {
    throw PredicateTranslationError(
      .unsupportedConstant,
      "a constant of the type \(type(of: value)) is not one that a store could hold.")
  }
  return constant
}

private func isStorable(_ value: PredicateValue) -> Bool {
  switch value {
  case .object: return value.identity != nil
  case .array(let members): return members.allSatisfy(isStorable)
  case .set(let members): return members.allSatisfy(isStorable)
  case .dictionary(let members): return members.values.allSatisfy(isStorable)
  case .null, .boolean, .integer, .double, .decimal, .string, .date, .data, .uuid, .url,
    .objectID:
    return true
  }
}

extension PredicateExpressions.Variable: TranslatableExpression {
  func meaning(in translation: inout PredicateTranslation) throws -> PredicateTranslation.Meaning {
    guard let node = translation.bindings[key] else { throw PredicateTranslation.unsupported(self) }
    return .expression(node)
  }
}

extension PredicateExpressions.KeyPath: TranslatableExpression {
  func meaning(in translation: inout PredicateTranslation) throws -> PredicateTranslation.Meaning {
    let start = try translation.value(root)
    let isText = Root.Output.self == String.self || Root.Output.self == Substring.self
    switch kind {
    case .collectionCount:
      return .expression(isText ? .function(.length, [start]) : start.appending("@count"))
    case .collectionIsEmpty:
      let empty: ComparisonNode =
        isText
        ? ComparisonNode(start, .equalTo, .constant(.string("")))
        : ComparisonNode(start.appending("@count"), .equalTo, .constant(.integer(0)))
      return .predicate(.comparison(empty))
    case .collectionFirst where !isText: return .expression(.element(of: start, at: .first))
    case .bidirectionalCollectionLast where !isText:
      return .expression(.element(of: start, at: .last))
    default: break
    }
    if let count = collectionProperty(isText: isText) {
      return .expression(
        count == "@count" && isText ? .function(.length, [start]) : start.appending(count))
    }
    guard let name = PropertyNames.name(of: keyPath) else {
      throw PredicateTranslationError(
        .unknownKeyPath,
        "the name of \(keyPath) is not known; let the build plugin generate its module's "
          + "table, or add the name to PropertyNames.")
    }
    return .expression(start.appending(name))
  }

  /// Counts that the standard library does not name as such.
  private func collectionProperty(isText: Bool) -> String? {
    if isText, keyPath == \String.count as AnyKeyPath { return "@count" }
    if keyPath == \NSSet.count as AnyKeyPath || keyPath == \NSOrderedSet.count as AnyKeyPath
      || keyPath == \NSArray.count as AnyKeyPath
    {
      return "@count"
    }
    return nil
  }
}

// MARK: Ranges

extension PredicateExpressions.Range: TranslatableExpression {
  func meaning(in translation: inout PredicateTranslation) throws -> PredicateTranslation.Meaning {
    .range(
      .init(
        lower: try translation.value(lower), upper: try translation.value(upper),
        includesUpper: false))
  }
}

extension PredicateExpressions.ClosedRange: TranslatableExpression {
  func meaning(in translation: inout PredicateTranslation) throws -> PredicateTranslation.Meaning {
    .range(
      .init(
        lower: try translation.value(lower), upper: try translation.value(upper),
        includesUpper: true))
  }
}

extension PredicateExpressions.RangeExpressionContains: TranslatableExpression {
  func meaning(in translation: inout PredicateTranslation) throws -> PredicateTranslation.Meaning {
    let bounds = try translation.range(range)
    let value = try translation.value(element)
    if let lower = bounds.lower, let upper = bounds.upper, bounds.includesUpper {
      return .predicate(
        .comparison(ComparisonNode(value, .between, .aggregate([lower, upper]))))
    }
    var members: [PredicateNode] = []
    if let lower = bounds.lower {
      members.append(.comparison(ComparisonNode(value, .greaterThanOrEqualTo, lower)))
    }
    if let upper = bounds.upper {
      let type: ComparisonPredicate.Operator =
        bounds.includesUpper ? .lessThanOrEqualTo : .lessThan
      members.append(.comparison(ComparisonNode(value, type, upper)))
    }
    return .predicate(members.count == 1 ? members[0] : .compound(.and, members))
  }
}

/// A range that a predicate captured as a constant.
private protocol TranslatableRange {
  func bounds() throws -> PredicateTranslation.RangeBounds
}

private func bounds(
  _ lower: Any?, _ upper: Any?, includesUpper: Bool
) throws -> PredicateTranslation.RangeBounds {
  .init(
    lower: try lower.map { .constant(try translatedConstant($0)) },
    upper: try upper.map { .constant(try translatedConstant($0)) }, includesUpper: includesUpper)
}

extension Range: TranslatableRange {
  func bounds() throws -> PredicateTranslation.RangeBounds {
    try CairnPredicates.bounds(lowerBound, upperBound, includesUpper: false)
  }
}

extension ClosedRange: TranslatableRange {
  func bounds() throws -> PredicateTranslation.RangeBounds {
    try CairnPredicates.bounds(lowerBound, upperBound, includesUpper: true)
  }
}

extension PartialRangeFrom: TranslatableRange {
  func bounds() throws -> PredicateTranslation.RangeBounds {
    try CairnPredicates.bounds(lowerBound, nil, includesUpper: false)
  }
}

extension PartialRangeUpTo: TranslatableRange {
  func bounds() throws -> PredicateTranslation.RangeBounds {
    try CairnPredicates.bounds(nil, upperBound, includesUpper: false)
  }
}

extension PartialRangeThrough: TranslatableRange {
  func bounds() throws -> PredicateTranslation.RangeBounds {
    try CairnPredicates.bounds(nil, upperBound, includesUpper: true)
  }
}
