// How deep predicates and expressions may nest. Everything that works on their trees goes down one
// level of the stack for each level of the tree, also to free it.

/// The limits of predicates that programs put together.
package enum PredicateNesting {
  /// The deepest tree; deeper ones are refused when they are evaluated or executed.
  package static let maximum = 1000
  /// From here on a member that is a compound of the same kind is replaced by its members.
  static let flattening = 250

  /// What stands for a predicate or expression that nests too deep.
  static let refusal = PredicateEvaluationError(
    .tooDeep,
    "The predicate nests more than \(maximum) levels. Join many predicates in one compound, with "
      + "all of them as its subpredicates, instead of adding each to a compound of the others.")

  /// The depth of something with these parts.
  static func depth(over parts: some Sequence<Int>) -> Int { 1 + (parts.max() ?? 0) }
}

extension PredicateNode {
  /// The levels of the tree, itself included.
  package var depth: Int {
    switch self {
    case .value, .block: return 1
    case .comparison(let comparison):
      return PredicateNesting.depth(over: [comparison.left.depth, comparison.right.depth])
    case .compound(_, let members): return PredicateNesting.depth(over: members.map(\.depth))
    }
  }
}

extension ExpressionNode {
  /// The levels of the tree, itself included.
  package var depth: Int {
    switch self {
    case .constant, .evaluatedObject, .variable, .keyPath, .anyKey: return 1
    case .keyPathOf(let node, _), .cast(let node, _), .assignment(_, let node):
      return 1 + node.depth
    case .element(let node, .at(let index)):
      return PredicateNesting.depth(over: [node.depth, index.depth])
    case .element(let node, _): return 1 + node.depth
    case .function(_, let nodes), .aggregate(let nodes), .block(_, let nodes):
      return PredicateNesting.depth(over: nodes.map(\.depth))
    case .message(let node, _, let nodes):
      return PredicateNesting.depth(over: nodes.map(\.depth) + [node.depth])
    case .setOperation(_, let a, let b), .fetch(let a, let b, _):
      return PredicateNesting.depth(over: [a.depth, b.depth])
    case .subquery(let node, _, let predicate):
      return PredicateNesting.depth(over: [node.depth, predicate.depth])
    case .conditional(let predicate, let a, let b):
      return PredicateNesting.depth(over: [predicate.depth, a.depth, b.depth])
    }
  }
}
