// The form in which two predicates with the same text are equal.

extension PredicateNode {
  /// The tree with everything undone that printing does not show: constant collections become
  /// aggregates, compounds of one member that member, empty compounds their value.
  package var canonical: PredicateNode {
    rewriting(predicates: Self.simplified, expressions: ExpressionNode.simplified)
  }

  fileprivate static func simplified(_ node: PredicateNode) -> PredicateNode {
    switch node {
    case .compound(.and, let members) where members.isEmpty: return .value(true)
    case .compound(.or, let members) where members.isEmpty: return .value(false)
    case .compound(.and, let members) where members.count == 1: return members[0]
    case .compound(.or, let members) where members.count == 1: return members[0]
    case .value, .block, .comparison, .compound: return node
    }
  }
}

extension ExpressionNode {
  /// See ``PredicateNode/canonical``.
  package var canonical: ExpressionNode {
    rewriting(predicates: PredicateNode.simplified, Self.simplified)
  }

  fileprivate static func simplified(_ node: ExpressionNode) -> ExpressionNode {
    guard case .constant(let value) = node else { return node }
    switch value {
    case .array(let members): return .aggregate(members.map { simplified(.constant($0)) })
    case .set(let members):
      return .aggregate(ValueSorting.sorted(members).map { simplified(.constant($0)) })
    case .null, .boolean, .integer, .double, .decimal, .string, .date, .data, .uuid, .url,
      .objectID, .object, .dictionary:
      return node
    }
  }
}
