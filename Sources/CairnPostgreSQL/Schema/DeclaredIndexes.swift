import CairnModel
import CairnSQL
import CairnStore

/// The fetch indexes that a model declares, as PostgreSQL has them.
///
/// Each is a B-tree, one for a location too: an R-tree takes an operator that no predicate of Core Data uses. NULL comes
/// first, as Core Data orders.
enum DeclaredIndexes {
  /// An index's name and its elements; nil for one that the table cannot have: of an expression that is not arithmetic, or of
  /// binary data.
  static func index(
    _ index: FetchIndexDescription, of entity: SQLEntity, in table: PostgreSQLTable
  ) -> (title: String, elements: [String])? {
    let elements = index.elements.compactMap { element -> String? in
      let computed = (element.property as? ExpressionDescription)?.expression
      let text =
        computed.map { expression($0.node, of: entity, in: table) }
        ?? element.propertyName.flatMap { column($0, of: entity, in: table) }
      return text.map { $0 + (element.isAscending ? " ASC NULLS FIRST" : " DESC NULLS LAST") }
    }
    // An index of a part of its elements would be another one.
    guard !elements.isEmpty, elements.count == index.elements.count else { return nil }
    return ("\(ReadableName.of(entity.name))_\(ReadableName.of(index.name))", elements)
  }

  private static func column(
    _ name: String, of entity: SQLEntity, in table: PostgreSQLTable
  ) -> String? {
    switch name {
    case "self", "objectID": return SQLText.name(PostgreSQLSchemaBuilder.identifier)
    case "entity": return SQLText.name(PostgreSQLSchemaBuilder.entity)
    default:
      guard let sqlName = entity.layout.slotByName[name].flatMap({ entity.slots[$0].column }),
        let column = table.column(sqlName: sqlName), column.form != .bytes
      else { return nil }
      return SQLText.name(column.name)
    }
  }

  private static func expression(
    _ node: ExpressionNode, of entity: SQLEntity, in table: PostgreSQLTable
  ) -> String? {
    switch node {
    case .keyPath(let name): return column(name, of: entity, in: table)
    case .constant(.integer(let number)): return String(number)
    case .function(let function, let arguments):
      guard let sign = signs[function] else { return nil }
      let parts = arguments.compactMap { expression($0, of: entity, in: table) }
      guard parts.count == arguments.count else { return nil }
      if function == .absolute { return "(\(sign)(\(parts.joined())))" }
      return "(\(parts.joined(separator: " \(sign) ")))"
    case .constant, .evaluatedObject, .variable, .keyPathOf, .element, .cast, .message,
      .setOperation, .subquery, .aggregate, .anyKey, .block, .conditional, .assignment, .fetch:
      return nil
    }
  }

  private static let signs: [PredicateFunction: String] = [
    .add: "+", .subtract: "-", .multiply: "*", .absolute: "abs",
  ]

  /// The condition of a partial index; nil for one that covers all rows.
  static func condition(
    _ predicate: ObjectPredicate, of entity: SQLEntity, in table: PostgreSQLTable
  ) -> String? {
    text(of: predicate.node, of: entity, in: table)
  }

  private static func text(
    of node: PredicateNode, of entity: SQLEntity, in table: PostgreSQLTable
  ) -> String? {
    switch node {
    case .comparison(let comparison): return text(of: comparison, of: entity, in: table)
    case .compound(let type, let members):
      let parts = members.compactMap { text(of: $0, of: entity, in: table) }
      guard parts.count == members.count, !parts.isEmpty else { return nil }
      switch type {
      case .and: return "(" + parts.joined(separator: " AND ") + ")"
      case .or: return "(" + parts.joined(separator: " OR ") + ")"
      case .not: return "NOT (\(parts[0]))"
      }
    case .value, .block: return nil
    }
  }

  private static func text(
    of comparison: ComparisonNode, of entity: SQLEntity, in table: PostgreSQLTable
  ) -> String? {
    guard comparison.modifier == .direct, comparison.options.isEmpty,
      case .keyPath(let name) = comparison.left,
      case .constant(let value) = comparison.right,
      let column = column(name, of: entity, in: table), let sign = compared[comparison.type]
    else { return nil }
    if value.isNull {
      switch comparison.type {
      case .equalTo: return "\(column) IS NULL"
      case .notEqualTo: return "\(column) IS NOT NULL"
      case .lessThan, .lessThanOrEqualTo, .greaterThan, .greaterThanOrEqualTo, .matches, .like,
        .beginsWith, .endsWith, .in, .customSelector, .contains, .between:
        return nil
      }
    }
    guard
      let form = entity.layout.slotByName[name].flatMap({ slot -> ValueForm? in
        guard case .attribute(_, let type, _) = entity.slots[slot] else { return nil }
        return ValueForm(type)
      })
    else { return nil }
    return literal(value, form).map { "\(column) \(sign) \($0)" }
  }

  private static let compared: [ComparisonPredicate.Operator: String] = [
    .equalTo: "=", .notEqualTo: "<>", .lessThan: "<", .lessThanOrEqualTo: "<=",
    .greaterThan: ">", .greaterThanOrEqualTo: ">=",
  ]

  /// Of dates nothing is written out: a column has them rounded.
  private static func literal(_ value: PredicateValue, _ form: ValueForm) -> String? {
    switch (value, form) {
    case (.boolean(let flag), .boolean): return flag ? "true" : "false"
    case (.integer(let number), .boolean): return number != 0 ? "true" : "false"
    case (.integer(let number), .integer), (.integer(let number), .double),
      (.integer(let number), .numeric):
      return String(number)
    case (.double(let number), .double): return number.isFinite ? String(number) : nil
    case (.decimal(let number), .numeric): return "\(number)"
    case (.string(let text), .text):
      return text.utf8.contains { $0 <= 1 } ? nil : SQLText.literal(text)
    default: return nil
    }
  }
}
