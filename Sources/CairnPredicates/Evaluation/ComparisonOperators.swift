import Foundation

/// One function per comparison operator; the null rules are in `ValueComparison.swift`.
enum ComparisonOperators {
  /// Whether the comparison holds for two values, its modifier aside.
  static func holds(
    _ left: PredicateValue, _ comparison: ComparisonNode, _ right: PredicateValue
  ) throws -> Bool {
    let options = comparison.options
    switch comparison.type {
    case .equalTo: return equal(left, right, options)
    case .notEqualTo: return !equal(left, right, options)
    case .lessThan: return ordered(left, right, options) == .orderedAscending
    case .greaterThan: return ordered(left, right, options) == .orderedDescending
    case .lessThanOrEqualTo:
      return ordered(left, right, options).map { $0 != .orderedDescending } ?? false
    case .greaterThanOrEqualTo:
      return ordered(left, right, options).map { $0 != .orderedAscending } ?? false
    case .between: return try between(left, right, options)
    case .in: return try isMember(left, of: right, options)
    case .contains: return try isMember(right, of: left, options)
    case .beginsWith:
      return try onTexts(left, right, options) { TextSearch.hasPrefix($0, $1) }
    case .endsWith:
      return try onTexts(left, right, options) { TextSearch.hasSuffix($0, $1) }
    case .like: return try like(left, right, options)
    case .matches: return try matches(left, right, options)
    case .customSelector:
      let selector = comparison.selector ?? ""
      return try MessageTable.answer(to: selector, of: left, arguments: [right]).isTrue
    }
  }

  static func equal(
    _ left: PredicateValue, _ right: PredicateValue, _ options: ComparisonPredicate.Options
  ) -> Bool {
    StringFolding.fold(left, options: options) == StringFolding.fold(right, options: options)
  }

  /// The order of two values; nil when one is null or they are of different kinds.
  static func ordered(
    _ left: PredicateValue, _ right: PredicateValue, _ options: ComparisonPredicate.Options
  ) -> ComparisonResult? {
    StringFolding.fold(left, options: options)
      .compared(to: StringFolding.fold(right, options: options))
  }

  /// Inclusive at both ends.
  static func between(
    _ left: PredicateValue, _ bounds: PredicateValue, _ options: ComparisonPredicate.Options
  ) throws -> Bool {
    if bounds.isNull { return false }
    guard case .array(let bounds) = bounds, bounds.count == 2 else {
      throw PredicateEvaluationError(
        .wrongType, "The right hand side of BETWEEN must be an array of two values.")
    }
    guard let low = ordered(left, bounds[0], options),
      let high = ordered(left, bounds[1], options)
    else { return false }
    return low != .orderedAscending && high != .orderedDescending
  }

  /// A member of a collection, or a part of a text.
  static func isMember(
    _ member: PredicateValue, of collection: PredicateValue,
    _ options: ComparisonPredicate.Options
  ) throws -> Bool {
    switch collection {
    case .null: return false
    case .array(let members):
      if !StringFolding.changes(options) { return members.contains(member) }
      return members.contains { equal($0, member, options) }
    case .set(let members):
      if !StringFolding.changes(options) { return members.contains(member) }
      return members.contains { equal($0, member, options) }
    case .dictionary(let members):
      return members.values.contains { equal($0, member, options) }
    case .string, .url:
      if member.isNull { return false }
      return try onTexts(collection, member, options) { TextSearch.contains($0, $1) }
    case .boolean, .integer, .double, .decimal, .date, .data, .uuid, .objectID, .object:
      throw PredicateEvaluationError(
        .notACollection,
        "Can't use in/contains operator with collection "
          + "\(PredicatePrinter.text(of: .constant(collection))) (not a collection)")
    }
  }

  static func like(
    _ left: PredicateValue, _ right: PredicateValue, _ options: ComparisonPredicate.Options
  ) throws -> Bool {
    try onTexts(left, right, []) { text, pattern in
      WildcardPattern(pattern, options: options).matches(text)
    }
  }

  static func matches(
    _ left: PredicateValue, _ right: PredicateValue, _ options: ComparisonPredicate.Options
  ) throws -> Bool {
    try onTexts(left, right, []) { text, pattern in
      try RegularExpressionMatching.matches(text, pattern: pattern, options: options)
    }
  }

  /// Runs a test on two texts; false when one is null.
  private static func onTexts(
    _ left: PredicateValue, _ right: PredicateValue, _ options: ComparisonPredicate.Options,
    _ test: (String, String) throws -> Bool
  ) throws -> Bool {
    if left.isNull || right.isNull { return false }
    guard let a = left.text, let b = right.text else {
      let wrong = left.text == nil ? left : right
      throw PredicateEvaluationError(
        .wrongType,
        "Can't do a substring operation with something that isn't a string "
          + "(value = \(PredicatePrinter.text(of: .constant(wrong)))).")
    }
    return try test(
      StringFolding.fold(a, options: options), StringFolding.fold(b, options: options))
  }
}

extension PredicateValue {
  /// Whether a number is not zero.
  var isTrue: Bool { kind == .number && NumberOrder.double(of: self) != 0 }
}
