// Replacing parts of a predicate: variables by values, managed objects by their IDs.

extension PredicateNode {
  /// The tree with variables replaced by constants.
  ///
  /// The variable of a SUBQUERY hides an outer one of the same name.
  package func substituting(_ values: [String: PredicateValue]) -> PredicateNode {
    if values.isEmpty { return self }
    switch self {
    case .value, .block: return self
    case .comparison(var comparison):
      comparison.left = comparison.left.substituting(values)
      comparison.right = comparison.right.substituting(values)
      return .comparison(comparison)
    case .compound(let type, let members):
      return .compound(type, members.map { $0.substituting(values) })
    }
  }
}

extension ExpressionNode {
  /// See ``PredicateNode/substituting(_:)``.
  package func substituting(_ values: [String: PredicateValue]) -> ExpressionNode {
    func all(_ nodes: [ExpressionNode]) -> [ExpressionNode] {
      nodes.map { $0.substituting(values) }
    }
    switch self {
    case .constant, .evaluatedObject, .keyPath, .anyKey: return self
    case .variable(let name): return values[name].map { .constant($0) } ?? self
    case .keyPathOf(let node, let path): return .keyPathOf(node.substituting(values), path)
    case .function(let function, let arguments): return .function(function, all(arguments))
    case .element(let node, .at(let index)):
      return .element(of: node.substituting(values), at: .at(index.substituting(values)))
    case .element(let node, let index): return .element(of: node.substituting(values), at: index)
    case .cast(let node, let type): return .casting(node.substituting(values), to: type)
    case .message(let node, let selector, let arguments):
      return .message(node.substituting(values), selector, all(arguments))
    case .setOperation(let operation, let a, let b):
      return .setOperation(operation, a.substituting(values), b.substituting(values))
    case .subquery(let node, let variable, let predicate):
      var inner = values
      inner[variable] = nil
      return .subquery(
        node.substituting(values), variable: variable, predicate.substituting(inner))
    case .aggregate(let members): return .aggregate(all(members))
    case .block(let block, let arguments): return .block(block, all(arguments))
    case .conditional(let predicate, let a, let b):
      return .conditional(
        predicate.substituting(values), a.substituting(values), b.substituting(values))
    case .assignment(let name, let node): return .assignment(name, node.substituting(values))
    case .fetch(let request, let context, let countOnly):
      return .fetch(
        request.substituting(values), context.substituting(values), countOnly: countOnly)
    }
  }
}

extension ObjectPredicate {
  /// The predicate with managed objects replaced by their IDs, ready to leave the objects' queue.
  ///
  /// Key paths that start at such an object are read now.
  package func resolvingObjects() -> ObjectPredicate {
    let node = node
    if node.isPlain || !node.contents.mentionsObjects { return self }
    let read = node.rewriting { expression in
      guard case .keyPathOf(.constant(let source), let path) = expression,
        let value = try? KeyPathReading.value(of: source, keyPath: path)
      else { return expression }
      return .constant(value)
    }
    return ObjectPredicate.make(
      read.rewriting { expression in
        guard case .constant(let value) = expression else { return expression }
        return .constant(value.resolvingObjects)
      })
  }
}

extension PredicateValue {
  /// The value with managed objects replaced by their IDs.
  package var resolvingObjects: PredicateValue {
    switch self {
    case .object:
      return isNullObject ? .null : identity.map { .objectID($0) } ?? self
    case .array(let members): return .array(members.map(\.resolvingObjects))
    case .set(let members): return .set(Set(members.map(\.resolvingObjects)))
    case .dictionary(let members): return .dictionary(members.mapValues(\.resolvingObjects))
    case .null, .boolean, .integer, .double, .decimal, .string, .date, .data, .uuid, .url,
      .objectID:
      return self
    }
  }
}
