// The closed form of a predicate, which the evaluator, the printer and SQL generators switch over.

/// The tree behind an ``ObjectPredicate``.
package indirect enum PredicateNode: Hashable, Sendable {
  /// `TRUEPREDICATE` or `FALSEPREDICATE`.
  case value(Bool)
  case comparison(ComparisonNode)
  /// `not` has exactly one member; an empty `and` is true, an empty `or` false.
  case compound(CompoundPredicate.LogicalType, [PredicateNode])
  /// A closure, or a programmer's own subclass of ``ObjectPredicate``. Only for memory.
  case block(PredicateBlock)
}

/// One comparison of two expressions.
package struct ComparisonNode: Hashable, Sendable {
  package var left: ExpressionNode
  package var right: ExpressionNode {
    didSet { list = nil }
  }
  package var modifier: ComparisonPredicate.Modifier
  package var type: ComparisonPredicate.Operator
  package var options: ComparisonPredicate.Options {
    didSet { list = nil }
  }
  /// The method to call, only for `customSelector`.
  package var selector: SelectorName?
  /// The constants of a long `IN`, so that each object costs one look-up and not one comparison a
  /// constant; nil for everything else.
  private(set) package var list: ConstantList?

  package init(
    _ left: ExpressionNode, _ type: ComparisonPredicate.Operator, _ right: ExpressionNode,
    modifier: ComparisonPredicate.Modifier = .direct, options: ComparisonPredicate.Options = [],
    selector: SelectorName? = nil
  ) {
    self.left = left
    self.right = right
    self.modifier = modifier
    self.type = type
    self.options = options
    self.selector = selector
    if type == .in { list = ConstantList(right, options: options) }
  }

  package static func == (a: ComparisonNode, b: ComparisonNode) -> Bool {
    a.type == b.type && a.modifier == b.modifier && a.options == b.options
      && a.selector == b.selector && a.left == b.left && a.right == b.right
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(left)
    hasher.combine(right)
    hasher.combine(modifier)
    hasher.combine(type)
    hasher.combine(options)
    hasher.combine(selector)
  }
}

/// A predicate written as a closure.
// Unchecked: all properties are immutable; as in Core Data, the program that gives a block
// promises that it may be called on the queue that evaluates the predicate.
package final class PredicateBlock: Hashable, @unchecked Sendable {
  package typealias Body = (Any?, [String: Any]?) -> Bool
  package let body: Body
  /// Why there is no answer, for what stands for a predicate that cannot be evaluated.
  package let refusal: PredicateEvaluationError?
  private let identity: ObjectIdentifier?

  /// - Parameter owner: the object whose method the block is, so that two blocks of one owner are
  ///   equal.
  package init(owner: AnyObject? = nil, _ body: @escaping Body) {
    self.body = body
    refusal = nil
    identity = owner.map(ObjectIdentifier.init)
  }

  /// A predicate that cannot be evaluated.
  init(refusing refusal: PredicateEvaluationError) {
    body = { _, _ in false }
    self.refusal = refusal
    identity = nil
  }

  package static func == (a: PredicateBlock, b: PredicateBlock) -> Bool {
    a.token == b.token
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(token)
  }

  /// Asks the block.
  ///
  /// - Throws: why it has no answer.
  func answer(_ object: Any?, _ bindings: [String: Any]?) throws -> Bool {
    if let refusal { throw refusal }
    return body(object, bindings)
  }

  /// What tells this block from others.
  package var token: ObjectIdentifier { identity ?? ObjectIdentifier(self) }
}
