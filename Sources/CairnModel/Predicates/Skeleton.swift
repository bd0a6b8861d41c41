import Foundation
enum ValueCasting {
  static func cast(_ value: PredicateValue, to type: String) throws -> PredicateValue { value }
}
enum ValueSorting {
  static func compare(_ a: PredicateValue, _ b: PredicateValue, by s: SelectorName)
    -> ComparisonResult
  { .orderedSame }
  static func sorted(_ s: Set<PredicateValue>) -> [PredicateValue] { Array(s) }
}
enum KeyPathReading {
  static func value(of: PredicateValue, keyPath: String) throws -> PredicateValue { .null }
}
package enum PredicateEvaluator {
  package static func evaluate(_ n: PredicateNode, with: Any?, bindings: [String: Any]?) throws
    -> Bool
  { throw PredicateEvaluationError(.wrongType, "") }
  package static func value(of n: ExpressionNode, with: Any?, context: NSMutableDictionary?) throws
    -> PredicateValue
  { throw PredicateEvaluationError(.wrongType, "") }
}
package enum PredicateParser {
  package static func predicate(_ f: String, arguments: [Any?]?, limits: PredicateLimits) throws
    -> PredicateNode
  { throw PredicateFormatError(code: .syntax, text: f, position: 0, reason: "") }
  package static func expression(_ f: String, arguments: [Any?]?, limits: PredicateLimits) throws
    -> ExpressionNode
  { throw PredicateFormatError(code: .syntax, text: f, position: 0, reason: "") }
}
package enum PredicatePrinter {
  package static func text(of n: PredicateNode) -> String { "" }
  package static func text(of n: ExpressionNode) -> String { "" }
}
/// Text as comparisons with options see it; SQL functions call it too.
package enum StringFolding {
  package static func fold(_ s: String, options: ComparisonPredicate.Options) -> String { s }
}
extension PredicateValue: Hashable {
  package static func == (a: PredicateValue, b: PredicateValue) -> Bool { false }
  package func hash(into hasher: inout Hasher) {}
}
