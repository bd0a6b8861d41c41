import CairnPredicates
import Foundation

/// Reads predicates, expressions and sort descriptors out of keyed archives.
package struct PredicateUnarchiving {
  let values: ArchivedFoundationValues
  let file: String

  private static let maximumDepth = 200

  package init(values: ArchivedFoundationValues, file: String) {
    self.values = values
    self.file = file
  }

  private func failure(_ what: String) -> ModelFileError {
    ModelFileError(file: file, .invalidPredicate, "A predicate of the model holds \(what).")
  }

  // MARK: Predicates

  /// - Throws: ``ModelFileError`` for predicates that exist only in Objective-C.
  func predicate(_ object: ArchivedObject) throws -> ObjectPredicate {
    ObjectPredicate.make(try node(object, depth: 0))
  }

  private func node(_ object: ArchivedObject, depth: Int) throws -> PredicateNode {
    guard values.spend(), depth < Self.maximumDepth else { throw failure("too many levels") }
    switch object.className {
    case "NSTruePredicate": return .value(true)
    case "NSFalsePredicate": return .value(false)
    case "NSCompoundPredicate":
      let type = CompoundPredicate.LogicalType(
        rawValue: UInt(clamping: object.integer("NSCompoundPredicateType") ?? -1))
      guard let type else { throw failure("a compound of an unknown kind") }
      let members = try object.members("NSSubpredicates").map { member in
        guard case .object(let predicate) = member else { throw failure("an empty compound") }
        return try node(predicate, depth: depth + 1)
      }
      if type == .not, members.count != 1 { throw failure("a NOT that is not about one condition") }
      return .compound(type, members)
    case "NSComparisonPredicate": return .comparison(try comparison(object, depth: depth))
    default: throw failure("an object of class \(object.className), which Cairn cannot evaluate")
    }
  }

  private func comparison(_ object: ArchivedObject, depth: Int) throws -> ComparisonNode {
    guard let left = object.object("NSLeftExpression"),
      let right = object.object("NSRightExpression"),
      let sign = object.object("NSPredicateOperator"),
      let type = ComparisonPredicate.Operator(
        rawValue: UInt(clamping: sign.integer("NSOperatorType") ?? -1)),
      let modifier = ComparisonPredicate.Modifier(
        rawValue: UInt(clamping: sign.integer("NSModifier") ?? 0))
    else { throw failure("an incomplete comparison") }
    // Equality and order name their options so, searches in text call them flags.
    let options = sign.integer("NSOptions") ?? sign.integer("NSFlags") ?? 0
    return ComparisonNode(
      try expressionNode(left, depth: depth + 1), type,
      try expressionNode(right, depth: depth + 1), modifier: modifier,
      options: ComparisonPredicate.Options(rawValue: UInt(clamping: options)),
      selector: sign.text("NSSelectorName").map { SelectorName($0) })
  }

  // MARK: Expressions

  /// - Throws: ``ModelFileError`` for expressions that exist only in Objective-C.
  package func expression(_ object: ArchivedObject) throws -> ObjectExpression {
    ObjectExpression(node: try expressionNode(object, depth: 0))
  }

  private func child(
    _ key: String, of object: ArchivedObject, depth: Int
  ) throws -> ExpressionNode {
    guard let child = object.object(key) else {
      throw failure("an expression (\(object.className)) without its \(key)")
    }
    return try expressionNode(child, depth: depth + 1)
  }

  private func expressionNode(_ object: ArchivedObject, depth: Int) throws -> ExpressionNode {
    guard values.spend(), depth < Self.maximumDepth else { throw failure("too many levels") }
    switch object.className {
    case "NSConstantValueExpression":
      return .constant(PredicateValue(values.value(object["NSConstantValue"])))
    case "NSSelfExpression": return .evaluatedObject
    case "NSVariableExpression":
      guard let name = object.text("NSVariable") else { throw failure("a variable without a name") }
      return .variable(name)
    case "NSKeyPathSpecifierExpression":
      guard let path = object.text("NSKeyPath") else { throw failure("a key path without a path") }
      return .keyPath(path)
    case "NSAnyKeyExpression": return .anyKey
    case "NSKeyPathExpression", "NSFunctionExpression": return try call(object, depth: depth)
    case "NSAggregateExpression":
      return .aggregate(
        try object.members("NSCollection").map { member in
          if case .object(let expression) = member {
            return try expressionNode(expression, depth: depth + 1)
          }
          return .constant(PredicateValue(values.value(member)))
        })
    case "NSSetExpression":
      let left = try child("NSLeftExpression", of: object, depth: depth)
      let right = try child("NSRightExpression", of: object, depth: depth)
      switch object.integer("NSExpressionType") {
      case 5: return .setOperation(.union, left, right)
      case 6: return .setOperation(.intersect, left, right)
      case 7: return .setOperation(.minus, left, right)
      default: throw failure("a set operation of an unknown kind")
      }
    case "NSSubqueryExpression": return try subquery(object, depth: depth)
    case "NSTernaryExpression":
      guard let condition = object.object("NSPredicate") else {
        throw failure("a TERNARY without a condition")
      }
      return .conditional(
        try node(condition, depth: depth + 1),
        try child("NSTrueExpression", of: object, depth: depth),
        try child("NSFalseExpression", of: object, depth: depth))
    case "NSFetchRequestExpression":
      return .fetch(
        try child("NSFRExpression", of: object, depth: depth),
        try child("NSMOCExpression", of: object, depth: depth),
        countOnly: object.flag("NSCountOnlyFlag"))
    default: throw failure("an object of class \(object.className), which Cairn cannot evaluate")
    }
  }

  private func subquery(_ object: ArchivedObject, depth: Int) throws -> ExpressionNode {
    let collection = object.object("NSCollection") ?? object.object("NSExpression")
    let condition = object.object("NSSubpredicate") ?? object.object("NSPredicate")
    let variable =
      object.text("NSVariable") ?? object.object("NSVariableExpression")?.text("NSVariable")
      ?? object.object("NSVariable")?.text("NSVariable")
    guard let collection, let condition, let variable else {
      throw failure("an incomplete SUBQUERY")
    }
    return .subquery(
      try expressionNode(collection, depth: depth + 1), variable: variable,
      try node(condition, depth: depth + 1))
  }

  private func call(_ object: ArchivedObject, depth: Int) throws -> ExpressionNode {
    guard let selector = object.text("NSSelectorName") else {
      throw failure("a function without a name")
    }
    let arguments: [ArchivedObject] = object.members("NSArguments").compactMap {
      if case .object(let argument) = $0 { return argument }
      return nil
    }
    let operand = try child("NSOperand", of: object, depth: depth)
    if selector.hasPrefix("valueForKey"), arguments.count == 1,
      let path = arguments[0].text("NSKeyPath")
        ?? arguments[0].text("NSConstantValue")
    {
      return operand.appending(path)
    }
    let nodes = try arguments.map { try expressionNode($0, depth: depth + 1) }
    // Predefined functions are messages to a class of Foundation's own.
    if object.object("NSOperand")?.text("NSConstantValueClassName") != nil {
      guard let node = ExpressionNode.call(selector, nodes) else {
        throw failure("the function \(selector), which Cairn does not know")
      }
      return node
    }
    return ExpressionNode.message(to: operand, SelectorName(selector), nodes)
  }

  // MARK: Sort descriptors

  /// Sort descriptors; ones without a key are passed over.
  func sortDescriptors(_ archived: [ArchivedValue]) -> [ObjectSortDescriptor] {
    archived.compactMap { value in
      guard case .object(let object) = value, let key = object.text("NSKey") else { return nil }
      return ObjectSortDescriptor(
        key: key, ascending: object.flag("NSAscending"),
        selector: object.text("NSSelector").map { SelectorName($0) })
    }
  }
}
