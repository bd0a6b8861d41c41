import Foundation
import Synchronization

/// `MATCHES`: a regular expression (ICU's dialect) that must fit the whole text.
///
/// `[c]` makes the expression insensitive to case; `[d]` removes accents from text and pattern.
package enum RegularExpressionMatching {
  private struct Key: Hashable {
    var pattern: String
    var options: ComparisonPredicate.Options
  }
  /// Compiled expressions, so that a filter over many objects compiles its pattern once.
  private static let compiled = Mutex<[Key: NSRegularExpression]>([:])
  private static let capacity = 64

  /// Whether the whole text fits the pattern; SQL functions call it too.
  ///
  /// - Throws: ``PredicateEvaluationError`` when the pattern is not a regular expression.
  package static func matches(
    _ text: String, pattern: String, options: ComparisonPredicate.Options
  ) throws -> Bool {
    let foldings = options.intersection([.diacriticInsensitive])
    let expression = try expression(pattern, options: options)
    let text = StringFolding.fold(text, options: foldings)
    let range = NSRange(location: 0, length: text.utf16.count)
    return expression.firstMatch(in: text, options: .anchored, range: range) != nil
  }

  private static func expression(
    _ pattern: String, options: ComparisonPredicate.Options
  ) throws -> NSRegularExpression {
    let key = Key(pattern: pattern, options: options)
    if let known = compiled.withLock({ $0[key] }) { return known }
    let folded = StringFolding.fold(
      pattern, options: options.intersection([.diacriticInsensitive]))
    do {
      // Compiled once alone, so that an unbalanced parenthesis cannot close our group.
      // Foundation takes no empty one.
      if !folded.isEmpty { _ = try NSRegularExpression(pattern: folded) }
      let expression = try NSRegularExpression(
        pattern: "(?:\(folded))\\z",
        options: options.contains(.caseInsensitive) ? .caseInsensitive : [])
      compiled.withLock {
        if $0.count >= capacity { $0.removeAll() }
        $0[key] = expression
      }
      return expression
    } catch {
      throw PredicateEvaluationError(
        .badRegularExpression,
        "Can't do regex matching, reason: Can't open pattern (\(pattern))")
    }
  }
}
