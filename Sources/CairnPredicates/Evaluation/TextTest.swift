import Foundation

/// A string operator with its pattern made ready, for testing many texts.
///
/// SQL functions use it; it gives what the evaluator gives. Used by one statement at a time.
package final class TextTest {
  private let type: ComparisonPredicate.Operator
  private let options: ComparisonPredicate.Options
  private let pattern: String
  private let foldedBytes: [UInt8]
  private let wildcards: WildcardPattern?

  package init(
    type: ComparisonPredicate.Operator, pattern: String, options: ComparisonPredicate.Options
  ) {
    self.type = type
    self.options = options
    self.pattern = pattern
    foldedBytes = Array(StringFolding.fold(pattern, options: options).utf8)
    wildcards = type == .like ? WildcardPattern(pattern, options: options) : nil
  }

  /// Whether the comparison holds for a text, given as UTF-8.
  ///
  /// - Throws: ``PredicateEvaluationError`` for a pattern that is no regular expression.
  package func holds(for text: UnsafeBufferPointer<UInt8>) throws -> Bool {
    switch type {
    case .beginsWith, .endsWith, .contains, .in:
      if !StringFolding.changes(options) { return search(text) }
      var folded = StringFolding.fold(String(decoding: text, as: UTF8.self), options: options)
      return folded.withUTF8(search)
    case .like: return wildcards?.matches(String(decoding: text, as: UTF8.self)) ?? false
    case .matches:
      return try RegularExpressionMatching.matches(
        String(decoding: text, as: UTF8.self), pattern: pattern, options: options)
    case .lessThan, .lessThanOrEqualTo, .greaterThan, .greaterThanOrEqualTo, .equalTo, .notEqualTo,
      .customSelector, .between:
      return try ComparisonOperators.holds(
        .string(String(decoding: text, as: UTF8.self)),
        ComparisonNode(.evaluatedObject, type, .evaluatedObject, options: options),
        .string(pattern))
    }
  }

  private func search(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
    switch type {
    case .beginsWith: return text.starts(with: foldedBytes)
    case .endsWith:
      return text.count >= foldedBytes.count
        && text.suffix(foldedBytes.count).elementsEqual(foldedBytes)
    default: return foldedBytes.withUnsafeBufferPointer { TextSearch.contains(text, $0) }
    }
  }
}
