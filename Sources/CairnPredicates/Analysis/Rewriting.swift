// Building a changed copy of a tree; substitution, resolving and canonical form are made with it.

extension PredicateNode {
  /// A copy with every part replaced.
  ///
  /// Members are rewritten before what contains them.
  package func rewriting(
    predicates: (PredicateNode) -> PredicateNode = { $0 },
    expressions: (ExpressionNode) -> ExpressionNode
  ) -> PredicateNode {
    switch self {
    case .value, .block: return predicates(self)
    case .comparison(var comparison):
      comparison.left = comparison.left.rewriting(predicates: predicates, expressions)
      comparison.right = comparison.right.rewriting(predicates: predicates, expressions)
      return predicates(.comparison(comparison))
    case .compound(let type, let members):
      return predicates(
        .compound(
          type, members.map { $0.rewriting(predicates: predicates, expressions: expressions) }))
    }
  }
}

extension ExpressionNode {
  /// A copy with every expression replaced, the innermost first.
  package func rewriting(
    predicates: (PredicateNode) -> PredicateNode = { $0 },
    _ expressions: (ExpressionNode) -> ExpressionNode
  ) -> ExpressionNode {
    expressions(rewritingMembers(predicates, expressions))
  }

  private func rewritingMembers(
    _ predicates: (PredicateNode) -> PredicateNode,
    _ expressions: (ExpressionNode) -> ExpressionNode
  ) -> ExpressionNode {
    func change(_ node: ExpressionNode) -> ExpressionNode {
      node.rewriting(predicates: predicates, expressions)
    }
    func all(_ nodes: [ExpressionNode]) -> [ExpressionNode] {
      nodes.map(change)
    }
    switch self {
    case .constant, .evaluatedObject, .variable, .keyPath, .anyKey: return self
    case .keyPathOf(let node, let path): return .keyPathOf(change(node), path)
    case .function(let function, let arguments): return .function(function, all(arguments))
    case .element(let node, .at(let index)):
      return .element(of: change(node), at: .at(change(index)))
    case .element(let node, let index): return .element(of: change(node), at: index)
    case .cast(let node, let type): return .cast(change(node), type)
    case .message(let node, let selector, let arguments):
      return .message(change(node), selector, all(arguments))
    case .setOperation(let operation, let a, let b):
      return .setOperation(operation, change(a), change(b))
    case .subquery(let node, let variable, let predicate):
      return .subquery(
        change(node), variable: variable,
        predicate.rewriting(predicates: predicates, expressions: expressions))
    case .aggregate(let members): return .aggregate(all(members))
    case .block(let block, let arguments): return .block(block, all(arguments))
    case .conditional(let predicate, let a, let b):
      return .conditional(
        predicate.rewriting(predicates: predicates, expressions: expressions), change(a),
        change(b))
    case .assignment(let name, let node): return .assignment(name, change(node))
    case .fetch(let request, let context, let countOnly):
      return .fetch(
        change(request), change(context), countOnly: countOnly)
    }
  }
}
