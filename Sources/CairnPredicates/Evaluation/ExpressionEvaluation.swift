import Foundation

// The values of expressions.

/// A managed object context that can answer `FETCH(request, context, countOnly)`.
package protocol FetchExpressionEvaluating {
  /// The results of a fetch request: objects, or their number.
  func evaluateFetchExpression(request: Any?, countOnly: Bool) throws -> Any?
}

extension EvaluationScope {
  mutating func value(of node: ExpressionNode) throws -> PredicateValue {
    switch node {
    case .constant(let value): return value.isNullObject ? .null : value
    case .evaluatedObject: return object
    case .variable(let name): return try variable(name)
    case .keyPath(let path): return try KeyPathReading.value(of: object, keyPath: path)
    case .keyPathOf(let node, let path):
      return try KeyPathReading.value(of: value(of: node), keyPath: path)
    case .function(let function, let arguments):
      return try FunctionTable.call(function, values(of: arguments))
    case .element(let node, let index): return try element(of: value(of: node), at: index)
    case .cast(let node, let type): return try ValueCasting.cast(value(of: node), to: type)
    case .message(let node, let selector, let arguments):
      return try MessageTable.answer(
        to: selector, of: value(of: node), arguments: values(of: arguments))
    case .setOperation(let operation, let a, let b):
      return try combine(operation, value(of: a), value(of: b))
    case .subquery(let node, let name, let predicate):
      return try subquery(value(of: node), name, predicate)
    case .aggregate(let members): return .array(try values(of: members))
    case .anyKey:
      throw PredicateEvaluationError(
        .unsupportedKeyPath, "ANYKEY can only be evaluated by a search index.")
    case .block(let block, let arguments):
      return PredicateValue(
        try block.value(rawObject, arguments.map { ObjectExpression(node: $0) }, context))
    case .conditional(let predicate, let a, let b):
      return try evaluate(predicate) ? value(of: a) : value(of: b)
    case .assignment(let name, let node):
      let value = try value(of: node)
      assign(value, to: name)
      return value
    case .fetch(let request, let context, let countOnly):
      return try fetch(value(of: request), value(of: context), countOnly)
    }
  }

  private mutating func values(of nodes: [ExpressionNode]) throws -> [PredicateValue] {
    var values: [PredicateValue] = []
    values.reserveCapacity(nodes.count)
    for node in nodes { values.append(try value(of: node)) }
    return values
  }

  /// The members for which the predicate holds; `SELF` in it is the outer object.
  private mutating func subquery(
    _ collection: PredicateValue, _ name: String, _ predicate: PredicateNode
  ) throws -> PredicateValue {
    if collection.isNull { return .array([]) }
    guard let members = collection.elements else {
      throw PredicateEvaluationError(
        .notACollection, "The collection of a SUBQUERY must be an array or a set.")
    }
    var found: [PredicateValue] = []
    for member in members
    where try withVariable(name, member, { try $0.evaluate(predicate) }) {
      found.append(member)
    }
    return .array(found)
  }

  /// An element of an array, a value of a dictionary, or the size of either; null when there is
  /// none.
  private mutating func element(
    of collection: PredicateValue, at index: ExpressionIndex
  ) throws -> PredicateValue {
    if collection.isNull { return .null }
    switch (collection, index) {
    case (.array(let members), .first): return members.first ?? .null
    case (.array(let members), .last): return members.last ?? .null
    case (.array(let members), .size): return .integer(Int64(members.count))
    case (.set(let members), .size): return .integer(Int64(members.count))
    case (.dictionary(let members), .size): return .integer(Int64(members.count))
    case (.dictionary(let members), .at(let node)): return members[try value(of: node)] ?? .null
    case (.array(let members), .at(let node)):
      guard let position = try NumberOrder.integer(of: value(of: node)) else {
        throw PredicateEvaluationError(.wrongType, "The index of an array must be an integer.")
      }
      guard position >= 0, position < members.count else { return .null }
      return members[Int(position)]
    case (_, .first), (_, .last), (_, .size), (_, .at):
      throw PredicateEvaluationError(
        .notACollection, "Only arrays and dictionaries can be indexed.")
    }
  }

  private func combine(
    _ operation: ExpressionSetOperation, _ a: PredicateValue, _ b: PredicateValue
  ) throws -> PredicateValue {
    let left = a.isNull ? [] : a.elements
    let right = b.isNull ? [] : b.elements
    guard let left, let right else {
      throw PredicateEvaluationError(
        .notACollection, "Both sides of \(operation.rawValue) must be collections.")
    }
    let set = Set(left)
    switch operation {
    case .union: return .set(set.union(right))
    case .intersect: return .set(set.intersection(right))
    case .minus: return .set(set.subtracting(right))
    }
  }

  private func fetch(
    _ request: PredicateValue, _ context: PredicateValue, _ countOnly: Bool
  ) throws -> PredicateValue {
    guard case .object(let reference) = context,
      let evaluator = reference.object as? any FetchExpressionEvaluating
    else {
      throw PredicateEvaluationError(
        .wrongType, "The second argument of FETCH must be a managed object context.")
    }
    return PredicateValue(
      try evaluator.evaluateFetchExpression(request: request.anyValue, countOnly: countOnly))
  }
}
