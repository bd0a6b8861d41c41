import Foundation

// The parts of an expression. Asking for a part that the kind of expression does not have is a
// programmer's error and traps, as in Foundation.

extension ObjectExpression {
  /// What kind of expression this is.
  public var expressionType: ExpressionType {
    switch node {
    case .constant: return .constantValue
    case .evaluatedObject: return .evaluatedObject
    case .variable: return .variable
    case .keyPath: return .keyPath
    case .keyPathOf, .function, .element, .cast, .message: return .function
    case .setOperation(.union, _, _): return .unionSet
    case .setOperation(.intersect, _, _): return .intersectSet
    case .setOperation(.minus, _, _): return .minusSet
    case .subquery: return .subquery
    case .aggregate: return .aggregate
    case .anyKey: return .anyKey
    case .block: return .block
    case .conditional: return .conditional
    case .assignment: return .variableAssignment
    case .fetch: return .fetchRequest
    }
  }

  /// The value of a constant.
  public var constantValue: Any? {
    guard case .constant(let value) = node else { unavailable("constantValue") }
    return value.anyValue
  }

  /// The key path of a key-path expression.
  public var keyPath: String {
    switch node {
    case .keyPath(let path), .keyPathOf(_, let path): return path
    default: unavailable("keyPath")
    }
  }

  /// The name of the called function: `sum:`, `valueForKeyPath:`.
  public var function: String {
    switch node {
    case .function(let function, _): return function.rawValue
    case .keyPathOf: return "valueForKeyPath:"
    case .element: return "objectFrom:withIndex:"
    case .cast: return "castObject:toType:"
    case .message(_, let selector, _): return selector.rawValue
    default: unavailable("function")
    }
  }

  /// The name of a variable, without the dollar sign.
  public var variable: String {
    switch node {
    case .variable(let name), .subquery(_, let name, _), .assignment(let name, _): return name
    default: unavailable("variable")
    }
  }

  /// What a function is sent to.
  public var operand: ObjectExpression {
    switch node {
    case .keyPathOf(let operand, _), .message(let operand, _, _):
      return ObjectExpression(node: operand)
    case .keyPath, .function, .element, .cast: return ObjectExpression(node: .evaluatedObject)
    default: unavailable("operand")
    }
  }

  /// The arguments of a function or block.
  public var arguments: [ObjectExpression]? {
    switch node {
    case .function(_, let nodes), .message(_, _, let nodes), .block(_, let nodes):
      return nodes.map { ObjectExpression(node: $0) }
    case .keyPath(let path), .keyPathOf(_, let path):
      return [ObjectExpression(forConstantValue: path)]
    case .cast(let node, let type):
      return [ObjectExpression(node: node), ObjectExpression(forConstantValue: type)]
    case .element(let node, .at(let index)):
      return [ObjectExpression(node: node), ObjectExpression(node: index)]
    case .element(let node, .first), .element(let node, .last), .element(let node, .size):
      return [ObjectExpression(node: node)]
    default: unavailable("arguments")
    }
  }

  /// The members of an aggregate (expressions), or the collection of a subquery (an expression).
  public var collection: Any {
    switch node {
    case .aggregate(let nodes): return nodes.map { ObjectExpression(node: $0) }
    case .subquery(let node, _, _): return ObjectExpression(node: node)
    default: unavailable("collection")
    }
  }

  /// The condition of a subquery or conditional.
  public var predicate: ObjectPredicate {
    switch node {
    case .subquery(_, _, let node), .conditional(let node, _, _): return ObjectPredicate.make(node)
    default: unavailable("predicate")
    }
  }

  /// The left side of a set expression.
  public var left: ObjectExpression {
    guard case .setOperation(_, let node, _) = node else { unavailable("left") }
    return ObjectExpression(node: node)
  }

  /// The right side of a set expression.
  public var right: ObjectExpression {
    guard case .setOperation(_, _, let node) = node else { unavailable("right") }
    return ObjectExpression(node: node)
  }

  /// What a conditional is when its predicate holds.
  public var `true`: ObjectExpression {
    guard case .conditional(_, let node, _) = node else { unavailable("trueExpression") }
    return ObjectExpression(node: node)
  }

  /// What a conditional is when its predicate does not hold.
  public var `false`: ObjectExpression {
    guard case .conditional(_, _, let node) = node else { unavailable("falseExpression") }
    return ObjectExpression(node: node)
  }

  /// The closure of a block expression.
  public var expressionBlock: (Any?, [ObjectExpression], NSMutableDictionary?) -> Any {
    guard case .block(let block, _) = node else { unavailable("expressionBlock") }
    return block.body
  }

  private func unavailable(_ part: String) -> Never {
    // A reader of foreign expressions asks expressionType first, as with Foundation.
    fatalError("-\(part) only defined for certain expressions, not for \(self)")
  }
}
