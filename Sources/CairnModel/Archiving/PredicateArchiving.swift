import CairnPredicates
import Foundation

/// Writes predicates, expressions and sort descriptors into keyed archives.
struct PredicateArchiving {
  typealias Reference = KeyedArchiveBuilder.Reference
  typealias Field = (String, PropertyListValue)

  private static func failure(_ what: String) -> ModelFileError {
    ModelFileError(
      file: "compiled model", .invalidPredicate,
      "\(what) cannot be archived; use a format string instead.")
  }

  // MARK: Predicates

  /// - Throws: ``ModelFileError`` for closures.
  static func add(
    _ node: PredicateNode, to archive: inout KeyedArchiveBuilder
  ) throws -> Reference {
    switch node {
    case .value(let value):
      return archive.add(
        value ? "NSTruePredicate" : "NSFalsePredicate", inheriting: ["NSPredicate"], [])
    case .compound(let type, let members):
      let references = try members.map { try add($0, to: &archive) }
      let list = archive.add(list: references)
      return archive.add(
        "NSCompoundPredicate", inheriting: ["NSPredicate"],
        [
          ("NSCompoundPredicateType", .integer(Int64(type.rawValue))),
          ("NSSubpredicates", .uid(list.uid)),
        ])
    case .comparison(let comparison):
      let left = try add(comparison.left, to: &archive)
      let right = try add(comparison.right, to: &archive)
      let sign = addOperator(of: comparison, to: &archive)
      return archive.add(
        "NSComparisonPredicate", inheriting: ["NSPredicate"],
        [
          ("NSLeftExpression", .uid(left.uid)), ("NSRightExpression", .uid(right.uid)),
          ("NSPredicateOperator", .uid(sign.uid)),
        ])
    case .block: throw failure("A predicate written as a closure")
    }
  }

  private static func addOperator(
    of comparison: ComparisonNode, to archive: inout KeyedArchiveBuilder
  ) -> Reference {
    let type = comparison.type
    let options = PropertyListValue.integer(Int64(comparison.options.rawValue))
    var fields: [Field] = [
      ("NSOperatorType", .integer(Int64(type.rawValue))),
      ("NSModifier", .integer(Int64(comparison.modifier.rawValue))),
    ]
    var parents = ["NSPredicateOperator"]
    let name: String
    switch type {
    case .lessThan, .lessThanOrEqualTo, .greaterThan, .greaterThanOrEqualTo:
      name = "NSComparisonPredicateOperator"
      fields += [("NSVariant", .integer(Int64(type.rawValue))), ("NSOptions", options)]
    case .equalTo, .notEqualTo:
      name = "NSEqualityPredicateOperator"
      fields += [("NSNegate", .bool(type == .notEqualTo)), ("NSOptions", options)]
    case .matches:
      name = "NSMatchingPredicateOperator"
      parents.insert("NSStringPredicateOperator", at: 0)
      fields += [("NSFlags", options)]
    case .like:
      name = "NSLikePredicateOperator"
      parents = ["NSMatchingPredicateOperator", "NSStringPredicateOperator"] + parents
      fields += [("NSFlags", options)]
    case .beginsWith, .endsWith:
      name = "NSSubstringPredicateOperator"
      parents.insert("NSStringPredicateOperator", at: 0)
      fields += [("NSFlags", options), ("NSPosition", .integer(type == .endsWith ? 1 : 0))]
    case .in, .contains:
      name = "NSInPredicateOperator"
      fields += [("NSFlags", options)]
    case .between: name = "NSBetweenPredicateOperator"
    case .customSelector:
      name = "NSCustomPredicateOperator"
      let selector = archive.add(text: comparison.selector?.rawValue ?? "")
      fields += [("NSSelectorName", .uid(selector.uid))]
    }
    return archive.add(name, inheriting: parents, fields)
  }

  // MARK: Expressions

  private static func type(_ type: ObjectExpression.ExpressionType) -> Field {
    ("NSExpressionType", .integer(Int64(type.rawValue)))
  }

  /// - Throws: ``ModelFileError`` for closures.
  static func add(
    _ node: ExpressionNode, to archive: inout KeyedArchiveBuilder
  ) throws -> Reference {
    switch node {
    case .constant(let value):
      let constant = archive.add(value: value.anyValue)
      return archive.add(
        "NSConstantValueExpression", inheriting: ["NSExpression"],
        [type(.constantValue), ("NSConstantValue", .uid(constant.uid))])
    case .evaluatedObject:
      return archive.add("NSSelfExpression", inheriting: ["NSExpression"], [type(.evaluatedObject)])
    case .anyKey:
      return archive.add("NSAnyKeyExpression", inheriting: ["NSExpression"], [type(.anyKey)])
    case .variable(let name):
      let text = archive.add(text: name)
      return archive.add(
        "NSVariableExpression", inheriting: ["NSExpression"],
        [type(.variable), ("NSVariable", .uid(text.uid))])
    case .keyPath(let path):
      return try addKeyPath(path, of: .evaluatedObject, .keyPath, to: &archive)
    case .keyPathOf(let operand, let path):
      return try addKeyPath(path, of: operand, .function, to: &archive)
    case .function(let function, let arguments):
      return try addCall(function.rawValue, arguments, to: &archive)
    case .cast(let operand, let type):
      return try addCall(
        "castObject:toType:", [operand, .constant(.string(type))], to: &archive)
    case .element(let collection, let index):
      return try addCall(
        "objectFrom:withIndex:", [collection, try self.index(index)], to: &archive)
    case .message(let target, let selector, let arguments):
      let operand = try add(target, to: &archive)
      return try addFunction(selector.rawValue, operand, arguments, to: &archive)
    case .aggregate(let members):
      let references = try members.map { try add($0, to: &archive) }
      let list = archive.add(list: references)
      return archive.add(
        "NSAggregateExpression", inheriting: ["NSExpression"],
        [type(.aggregate), ("NSCollection", .uid(list.uid))])
    case .setOperation(let operation, let left, let right):
      let kind: ObjectExpression.ExpressionType
      switch operation {
      case .union: kind = .unionSet
      case .intersect: kind = .intersectSet
      case .minus: kind = .minusSet
      }
      let first = try add(left, to: &archive)
      let second = try add(right, to: &archive)
      return archive.add(
        "NSSetExpression", inheriting: ["NSExpression"],
        [
          type(kind), ("NSLeftExpression", .uid(first.uid)),
          ("NSRightExpression", .uid(second.uid)),
        ])
    case .subquery(let collection, let variable, let predicate):
      let members = try add(collection, to: &archive)
      let name = archive.add(text: variable)
      let condition = try add(predicate, to: &archive)
      return archive.add(
        "NSSubqueryExpression", inheriting: ["NSExpression"],
        [
          type(.subquery), ("NSCollection", .uid(members.uid)), ("NSVariable", .uid(name.uid)),
          ("NSSubpredicate", .uid(condition.uid)),
        ])
    case .conditional(let condition, let yes, let no):
      let predicate = try add(condition, to: &archive)
      let first = try add(yes, to: &archive)
      let second = try add(no, to: &archive)
      return archive.add(
        "NSTernaryExpression", inheriting: ["NSExpression"],
        [
          type(.conditional), ("NSPredicate", .uid(predicate.uid)),
          ("NSTrueExpression", .uid(first.uid)), ("NSFalseExpression", .uid(second.uid)),
        ])
    case .block: throw failure("An expression written as a closure")
    case .assignment: throw failure("An assignment to a variable")
    case .fetch(let request, let context, let countOnly):
      let first = try add(request, to: &archive)
      let second = try add(context, to: &archive)
      return archive.add(
        "NSFetchRequestExpression", inheriting: ["NSExpression"],
        [
          type(.fetchRequest), ("NSFRExpression", .uid(first.uid)),
          ("NSMOCExpression", .uid(second.uid)), ("NSCountOnlyFlag", .bool(countOnly)),
        ])
    }
  }

  private static func index(_ index: ExpressionIndex) throws -> ExpressionNode {
    switch index {
    case .at(let node): return node
    case .first, .last, .size: throw failure("An index FIRST, LAST or SIZE")
    }
  }

  private static func addKeyPath(
    _ path: String, of operand: ExpressionNode, _ kind: ObjectExpression.ExpressionType,
    to archive: inout KeyedArchiveBuilder
  ) throws -> Reference {
    let target = try add(operand, to: &archive)
    let text = archive.add(text: path)
    let specifier = archive.add(
      "NSKeyPathSpecifierExpression", inheriting: ["NSExpression"],
      [("NSExpressionType", .integer(10)), ("NSKeyPath", .uid(text.uid))])
    let arguments = archive.add(list: [specifier], className: "NSMutableArray")
    let isPath = path.contains(".") || kind == .function
    let selector = archive.add(text: isPath ? "valueForKeyPath:" : "valueForKey:")
    return archive.add(
      "NSKeyPathExpression", inheriting: ["NSFunctionExpression", "NSExpression"],
      [
        type(kind), ("NSOperand", .uid(target.uid)), ("NSSelectorName", .uid(selector.uid)),
        ("NSArguments", .uid(arguments.uid)),
      ])
  }

  /// A predefined function: a message to a class of Foundation's own.
  private static func addCall(
    _ name: String, _ arguments: [ExpressionNode], to archive: inout KeyedArchiveBuilder
  ) throws -> Reference {
    let className = archive.add(text: "_NSPredicateUtilities")
    let target = archive.add(
      "NSConstantValueExpression", inheriting: ["NSExpression"],
      [type(.constantValue), ("NSConstantValueClassName", .uid(className.uid))])
    return try addFunction(name, target, arguments, to: &archive)
  }

  private static func addFunction(
    _ name: String, _ operand: Reference, _ arguments: [ExpressionNode],
    to archive: inout KeyedArchiveBuilder
  ) throws -> Reference {
    let references = try arguments.map { try add($0, to: &archive) }
    let list = archive.add(list: references)
    let selector = archive.add(text: name)
    return archive.add(
      "NSFunctionExpression", inheriting: ["NSExpression"],
      [
        type(.function), ("NSOperand", .uid(operand.uid)),
        ("NSSelectorName", .uid(selector.uid)), ("NSArguments", .uid(list.uid)),
      ])
  }

  // MARK: Sort descriptors

  static func add(
    _ descriptors: [ObjectSortDescriptor], to archive: inout KeyedArchiveBuilder
  ) -> Reference {
    if descriptors.isEmpty { return .null }
    let references = descriptors.map { descriptor in
      let key = archive.add(text: descriptor.key)
      let selector = archive.add(text: descriptor.selector?.rawValue)
      return archive.add(
        "NSSortDescriptor",
        [
          ("NSKey", .uid(key.uid)), ("NSAscending", .bool(descriptor.ascending)),
          ("NSSelector", .uid(selector.uid)), ("NSReverseNullOrder", .bool(false)),
        ])
    }
    return archive.add(list: references)
  }
}
