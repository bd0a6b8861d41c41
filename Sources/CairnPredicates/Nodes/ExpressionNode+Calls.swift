// Which node a call by name makes; the parser and the programmatic constructors share it.

extension ExpressionNode {
  /// A key path from the evaluated object; `self` is the object, `$name` at the beginning the
  /// variable of that name.
  package static func path(_ path: String) -> ExpressionNode {
    if path == "self" || path == "SELF" { return .evaluatedObject }
    if path.hasPrefix("self.") || path.hasPrefix("SELF.") {
      return .path(String(path.dropFirst(5)))
    }
    if path.hasPrefix("$") {
      let steps = path.dropFirst().split(
        separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
      let variable = ExpressionNode.variable(String(steps[0]))
      return steps.count == 1 ? variable : variable.appending(String(steps[1]))
    }
    return .keyPath(path)
  }

  /// The node of a predefined function by its name, nil when there is no such function.
  package static func call(_ name: String, _ arguments: [ExpressionNode]) -> ExpressionNode? {
    if let function = PredicateFunction.named(name, argumentCount: arguments.count) {
      return .function(function, arguments)
    }
    switch (name, arguments.count) {
    case ("objectFrom:withIndex:", 2), ("objectFrom", 2):
      return .element(of: arguments[0], at: .at(arguments[1]))
    case ("castObject:toType:", 2), ("castObject", 2):
      guard case .constant(.string(let type)) = arguments[1] else { return nil }
      return .casting(arguments[0], to: type)
    case ("valueForKeyPath:", 1), ("valueForKey:", 1):
      guard case .constant(.string(let path)) = arguments[0] else { return nil }
      return .path(path)
    default: return nil
    }
  }

  /// The node of a message; key paths have their own.
  package static func message(
    to target: ExpressionNode, _ selector: SelectorName, _ arguments: [ExpressionNode]
  ) -> ExpressionNode {
    if selector.rawValue == "valueForKeyPath:" || selector.rawValue == "valueForKey:",
      arguments.count == 1, case .constant(.string(let path)) = arguments[0]
    {
      return target.appending(path)
    }
    return .message(target, selector, arguments)
  }

  /// A key path from this expression.
  package func appending(_ path: String) -> ExpressionNode {
    switch self {
    case .evaluatedObject: return .path(path)
    case .keyPath(let own): return .keyPath("\(own).\(path)")
    case .keyPathOf(let operand, let own): return .keyPathOf(operand, "\(own).\(path)")
    case .constant, .variable, .function, .element, .cast, .message, .setOperation, .subquery,
      .aggregate, .anyKey, .block, .conditional, .assignment, .fetch:
      return .keyPathOf(self, path)
    }
  }

  /// A cast; of a constant, the constant cast at once.
  package static func casting(_ node: ExpressionNode, to type: String) -> ExpressionNode {
    if case .constant(let value) = node, let cast = try? ValueCasting.cast(value, to: type) {
      return .constant(cast)
    }
    return .cast(node, type)
  }
}
