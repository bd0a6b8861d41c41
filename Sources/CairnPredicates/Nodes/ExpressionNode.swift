import Foundation

// The closed form of an expression, which the evaluator, the printer and SQL generators switch
// over.

/// The tree behind an ``ObjectExpression``.
package indirect enum ExpressionNode: Hashable, Sendable {
  case constant(PredicateValue)
  /// `SELF`.
  case evaluatedObject
  /// `$name`, without the dollar sign.
  case variable(String)
  /// A key path from the evaluated object, `a.b.@count`.
  case keyPath(String)
  /// A key path from the value of another expression: `$x.name`, `SUBQUERY(…).@count`.
  case keyPathOf(ExpressionNode, String)
  /// A predefined function.
  case function(PredicateFunction, [ExpressionNode])
  /// `a[1]`, `a[FIRST]`.
  case element(of: ExpressionNode, at: ExpressionIndex)
  /// `CAST(x, "NSDate")`; constants are already cast by the parser.
  case cast(ExpressionNode, String)
  /// `FUNCTION(target, "selector:", arguments…)`. Only for memory.
  case message(ExpressionNode, SelectorName, [ExpressionNode])
  case setOperation(ExpressionSetOperation, ExpressionNode, ExpressionNode)
  /// `SUBQUERY(collection, $variable, predicate)`.
  case subquery(ExpressionNode, variable: String, PredicateNode)
  /// `{a, b}`.
  case aggregate([ExpressionNode])
  case anyKey
  /// A closure. Only for memory.
  case block(ExpressionBlock, [ExpressionNode])
  /// `TERNARY(condition, then, else)`.
  case conditional(PredicateNode, ExpressionNode, ExpressionNode)
  /// `$name := value`.
  case assignment(String, ExpressionNode)
  /// `FETCH(request, context, countOnly)`.
  case fetch(ExpressionNode, ExpressionNode, countOnly: Bool)
}

/// What stands in the brackets after an expression.
package enum ExpressionIndex: Hashable, Sendable {
  case first
  case last
  case size
  case at(ExpressionNode)
}

/// The three set expressions.
package enum ExpressionSetOperation: String, Hashable, Sendable, CaseIterable {
  case union = "UNION"
  case intersect = "INTERSECT"
  case minus = "MINUS"
}

/// An expression written as a closure.
// Unchecked: immutable; as in Core Data, the program that gives a block promises that it may
// be called on the queue that evaluates the expression.
package final class ExpressionBlock: Hashable, @unchecked Sendable {
  package typealias Body = (Any?, [ObjectExpression], NSMutableDictionary?) -> Any
  package let body: Body
  /// Why there is no value, for what stands for an expression that cannot be evaluated.
  package let refusal: PredicateEvaluationError?

  package init(_ body: @escaping Body) {
    self.body = body
    refusal = nil
  }

  /// An expression that cannot be evaluated.
  init(refusing refusal: PredicateEvaluationError) {
    body = { _, _, _ in NSNull() }
    self.refusal = refusal
  }

  /// Asks the block.
  ///
  /// - Throws: why it has no value.
  func value(
    _ object: Any?, _ arguments: [ObjectExpression], _ context: NSMutableDictionary?
  ) throws -> Any {
    if let refusal { throw refusal }
    return body(object, arguments, context)
  }

  package static func == (a: ExpressionBlock, b: ExpressionBlock) -> Bool { a === b }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(ObjectIdentifier(self))
  }
}
