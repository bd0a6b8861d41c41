import Foundation

// Swift's `#Predicate` as a predicate that stores understand.

extension ObjectPredicate {
  /// The meaning of a Swift predicate; nil when it cannot be translated.
  ///
  /// ``translating(_:)`` says why not. Key paths need names, see ``PropertyNames``.
  public convenience init?<Input>(_ predicate: Predicate<Input>) where Input: NSObject {
    guard let made = try? ObjectPredicate.translating(predicate) else { return nil }
    self.init(replacingWith: made)
  }

  /// The meaning of a Swift predicate.
  ///
  /// ```swift
  /// let adults = try ObjectPredicate.translating(#Predicate<Person> { $0.age >= 18 })
  /// ```
  /// - Throws: ``PredicateTranslationError`` for what Core Data's language cannot say.
  package static func translating<Input>(_ predicate: Predicate<Input>) throws -> ObjectPredicate {
    var translation = PredicateTranslation()
    translation.bindings[predicate.variable.key] = .evaluatedObject
    return make(try translation.predicate(predicate.expression))
  }
}

/// One walk through the expressions of a Swift predicate.
struct PredicateTranslation {
  /// What Swift's variables stand for.
  var bindings: [PredicateExpressions.VariableID: ExpressionNode] = [:]
  private var variableCount = 0

  /// What a Swift expression means.
  enum Meaning {
    case predicate(PredicateNode)
    case expression(ExpressionNode)
    case range(RangeBounds)
  }

  /// The ends of a range; nil where it is open.
  struct RangeBounds {
    var lower: ExpressionNode?
    var upper: ExpressionNode?
    var includesUpper: Bool
  }

  mutating func meaning(_ expression: Any) throws -> Meaning {
    guard let translatable = expression as? any TranslatableExpression else {
      throw Self.unsupported(expression)
    }
    return try translatable.meaning(in: &self)
  }

  /// The expression as a condition.
  mutating func predicate(_ expression: Any) throws -> PredicateNode {
    switch try meaning(expression) {
    case .predicate(let node): return node
    case .expression(let node): return Self.truth(of: node)
    case .range: throw Self.unsupported(expression)
    }
  }

  /// The expression as a value.
  mutating func value(_ expression: Any) throws -> ExpressionNode {
    switch try meaning(expression) {
    case .expression(let node): return node
    case .predicate(let node):
      return .conditional(node, .constant(.boolean(true)), .constant(.boolean(false)))
    case .range: throw Self.unsupported(expression)
    }
  }

  mutating func range(_ expression: Any) throws -> RangeBounds {
    guard case .range(let bounds) = try meaning(expression) else {
      throw Self.unsupported(expression)
    }
    return bounds
  }

  /// Translates with a variable that stands for each member of a collection.
  mutating func member<T>(
    _ variable: PredicateExpressions.VariableID, _ body: (inout PredicateTranslation) throws -> T
  ) rethrows -> (name: String, T) {
    variableCount += 1
    let name = "member\(variableCount)"
    bindings[variable] = .variable(name)
    defer { bindings[variable] = nil }
    return (name, try body(&self))
  }

  static func unsupported(_ expression: Any) -> any Error {
    let name = "\(type(of: expression))".prefix { $0 != "<" }
    return PredicateTranslationError(
      .unsupportedOperation, "\(name) has no counterpart in Core Data's predicates.")
  }

  // MARK: Conditions and values

  /// The condition that a value is true; nil counts as false.
  static func truth(of node: ExpressionNode) -> PredicateNode {
    switch node {
    case .constant(.boolean(let flag)): return .value(flag)
    case .constant(.null): return .value(false)
    case .conditional(let condition, let first, let second):
      let (yes, no) = (truth(of: first), truth(of: second))
      switch (yes, no) {
      case (.value(true), .value(false)): return condition
      case (.value(false), .value(true)): return .compound(.not, [condition])
      case (_, .value(false)): return .compound(.and, [condition, yes])
      case (.value(true), _): return .compound(.or, [condition, no])
      default:
        return .compound(
          .or,
          [
            .compound(.and, [condition, yes]),
            .compound(.and, [.compound(.not, [condition]), no]),
          ])
      }
    default:
      return .comparison(ComparisonNode(node, .equalTo, .constant(.boolean(true))))
    }
  }

  /// The condition that a value is not nil.
  static func isPresent(_ node: ExpressionNode) -> PredicateNode {
    switch node {
    case .constant(let value): return .value(!value.isNull)
    case .conditional(let condition, let first, .constant(.null)):
      let inner = isPresent(first)
      return inner == .value(true) ? condition : .compound(.and, [condition, inner])
    case .conditional(_, .constant(let first), .constant(let second))
    where !first.isNull && !second.isNull:
      return .value(true)
    default: return .comparison(ComparisonNode(node, .notEqualTo, .constant(.null)))
    }
  }

  /// Whether nil in the value makes the whole expression nil, as a key path does.
  static func passesNil(_ node: ExpressionNode, of value: ExpressionNode) -> Bool {
    if node == value { return true }
    switch node {
    case .keyPath(let path):
      switch value {
      case .keyPath(let start): return path.hasPrefix(start + ".") && !path.contains("@")
      default: return false
      }
    case .keyPathOf(let start, let path):
      if path.contains("@") { return false }
      if start == value { return true }
      if case .keyPathOf(start, let own) = value { return path.hasPrefix(own + ".") }
      return passesNil(start, of: value)
    case .function(let function, let arguments):
      switch function {
      case .add, .subtract, .multiply, .divide, .modulus, .length:
        return arguments.contains { passesNil($0, of: value) }
      default: return false
      }
    default: return false
    }
  }
}

/// A Swift predicate expression that has a counterpart here.
protocol TranslatableExpression {
  func meaning(in translation: inout PredicateTranslation) throws -> PredicateTranslation.Meaning
}
