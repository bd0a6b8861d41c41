import Foundation

/// Evaluates predicate trees in memory.
package enum PredicateEvaluator {
  /// Whether the object fulfils the predicate.
  ///
  /// - Throws: ``PredicateEvaluationError``.
  package static func evaluate(
    _ node: PredicateNode, with object: Any?, bindings: [String: Any]?
  ) throws -> Bool {
    var scope = EvaluationScope(object: object, bindings: bindings)
    return try scope.evaluate(node)
  }

  /// The value of an expression for an object.
  ///
  /// Assignments write into the context.
  ///
  /// - Throws: ``PredicateEvaluationError``.
  package static func value(
    of node: ExpressionNode, with object: Any?, context: NSMutableDictionary?
  ) throws -> PredicateValue {
    var bindings: [String: Any] = [:]
    if let context {
      for (key, value) in context {
        if let name = PredicateValue(key).text { bindings[name] = value }
      }
    }
    var scope = EvaluationScope(object: object, bindings: bindings)
    scope.context = context
    return try scope.value(of: node)
  }
}

/// What an evaluation can see: the object and the values of variables.
struct EvaluationScope {
  /// `SELF`, as it was given and as a value.
  let rawObject: Any?
  let object: PredicateValue
  /// Bindings as they were given, for blocks.
  private(set) var rawBindings: [String: Any]?
  /// Variables that are already values: those of subqueries and assignments.
  private var variables: [String: PredicateValue] = [:]
  var context: NSMutableDictionary?

  init(object: Any?, bindings: [String: Any]?) {
    rawObject = object
    self.object = PredicateValue(object)
    rawBindings = bindings
  }

  /// The value of a variable.
  mutating func variable(_ name: String) throws -> PredicateValue {
    if let value = variables[name] { return value }
    guard let raw = rawBindings?[name] else {
      throw PredicateEvaluationError(
        .missingVariable,
        "Can't get value for '\(name)' in bindings \(rawBindings ?? [:]).")
    }
    let value = PredicateValue(raw)
    variables[name] = value
    return value
  }

  /// Gives a variable a value until the scope ends.
  mutating func assign(_ value: PredicateValue, to name: String) {
    variables[name] = value
    if let context { context[name] = value.anyValue ?? NSNull() }
  }

  /// Runs a block with a variable bound, then restores it.
  mutating func withVariable<T>(
    _ name: String, _ value: PredicateValue, _ body: (inout EvaluationScope) throws -> T
  ) rethrows -> T {
    let before = variables[name]
    variables[name] = value
    defer { variables[name] = before }
    return try body(&self)
  }

  /// The bindings as blocks see them.
  var bindingsForBlocks: [String: Any]? {
    if variables.isEmpty { return rawBindings }
    var bindings = rawBindings ?? [:]
    for (name, value) in variables { bindings[name] = value.anyValue ?? NSNull() }
    return bindings
  }

  // MARK: Predicates

  mutating func evaluate(_ node: PredicateNode) throws -> Bool {
    switch node {
    case .value(let value): return value
    case .block(let block): return try block.answer(rawObject, bindingsForBlocks)
    case .comparison(let comparison): return try evaluate(comparison)
    case .compound(.and, let members):
      for member in members where try !evaluate(member) { return false }
      return true
    case .compound(.or, let members):
      for member in members where try evaluate(member) { return true }
      return false
    case .compound(.not, let members):
      for member in members where try evaluate(member) { return false }
      return true
    }
  }

  private mutating func evaluate(_ comparison: ComparisonNode) throws -> Bool {
    let left = try value(of: comparison.left)
    if let list = comparison.list {
      switch comparison.modifier {
      case .direct: return list.contains(left)
      case .any: return try Self.members(of: left).contains { list.contains($0) }
      case .all: return try Self.members(of: left).allSatisfy { list.contains($0) }
      }
    }
    let right = try value(of: comparison.right)
    switch comparison.modifier {
    case .direct: return try ComparisonOperators.holds(left, comparison, right)
    case .any:
      return try Self.members(of: left).contains {
        try ComparisonOperators.holds($0, comparison, right)
      }
    case .all:
      return try Self.members(of: left).allSatisfy {
        try ComparisonOperators.holds($0, comparison, right)
      }
    }
  }

  /// The values that ANY and ALL look at: all members, also those of collections in collections,
  /// which key paths over several to-many relationships give.
  private static func members(of value: PredicateValue) throws -> [PredicateValue] {
    if value.isNull { return [] }
    guard let elements = value.elements else {
      throw PredicateEvaluationError(
        .notACollection,
        "The left hand side for an ALL or ANY operator must be either an NSArray or an NSSet.")
    }
    return elements.flatMap { element -> [PredicateValue] in
      switch element {
      case .array, .set: return (try? members(of: element)) ?? []
      case .null, .boolean, .integer, .double, .decimal, .string, .date, .data, .uuid, .url,
        .objectID, .object, .dictionary:
        return [element]
      }
    }
  }
}
