import CairnModel
import CairnPredicates

/// How a database writes down what a declared fetch index is made of, with constants written out.
///
/// Only what the database computes by itself and always alike: an index that calls a function of Cairn's
/// would keep every other program from writing.
package protocol SQLIndexWords {
  /// The column of a property, or of a pseudo property of index elements; nil for what cannot be indexed.
  func column(_ name: String, of entity: SQLEntity) -> String?
  /// A constant in an expression.
  func number(_ number: Double) -> String?
  /// A constant that an attribute is compared with; nil for one that cannot be written out.
  func literal(_ value: PredicateValue, for name: String, of entity: SQLEntity) -> String?
}

extension SQLIndexWords {
  /// The elements of an index; nil where one of them cannot be indexed: an index of the others would be another one.
  package func elements(
    of index: FetchIndexDescription, _ entity: SQLEntity
  ) -> [(element: FetchIndexElementDescription, text: String)]? {
    let elements = index.elements.compactMap {
      element -> (element: FetchIndexElementDescription, text: String)? in
      text(of: element, entity).map { (element, $0) }
    }
    return elements.isEmpty || elements.count < index.elements.count ? nil : elements
  }

  /// One element of an index; nil for what cannot be indexed.
  func text(of element: FetchIndexElementDescription, _ entity: SQLEntity) -> String? {
    let computed = (element.property as? ExpressionDescription)?.expression
    return computed.map { expression($0.node, of: entity) }
      ?? element.propertyName.flatMap { column($0, of: entity) }
  }

  private func expression(_ node: ExpressionNode, of entity: SQLEntity) -> String? {
    switch node {
    case .keyPath(let name): return column(name, of: entity)
    case .constant(.integer(let number)): return String(number)
    case .constant(.double(let number)): return number.isFinite ? self.number(number) : nil
    case .function(let function, let arguments):
      guard let sign = Self.signs[function] else { return nil }
      let parts = arguments.compactMap { expression($0, of: entity) }
      guard parts.count == arguments.count else { return nil }
      if function == .absolute { return "\(sign)(\(parts.joined()))" }
      return "(\(parts.joined(separator: " \(sign) ")))"
    case .constant, .evaluatedObject, .variable, .keyPathOf, .element, .cast, .message,
      .setOperation, .subquery, .aggregate, .anyKey, .block, .conditional, .assignment, .fetch:
      return nil
    }
  }

  private static var signs: [PredicateFunction: String] {
    [.add: "+", .subtract: "-", .multiply: "*", .absolute: "abs"]
  }

  // MARK: Partial indexes

  /// The WHERE clause of a partial index; nil when the predicate says something that an index cannot, which is then a
  /// full one.
  package func condition(_ predicate: ObjectPredicate, of entity: SQLEntity) -> String? {
    condition(predicate.node, of: entity)
  }

  private func condition(_ node: PredicateNode, of entity: SQLEntity) -> String? {
    switch node {
    case .comparison(let comparison): return condition(comparison, of: entity)
    case .compound(let type, let members):
      let parts = members.compactMap { condition($0, of: entity) }
      guard parts.count == members.count, !parts.isEmpty else { return nil }
      switch type {
      case .and: return "(" + parts.joined(separator: " AND ") + ")"
      case .or: return "(" + parts.joined(separator: " OR ") + ")"
      case .not: return "NOT (\(parts[0]))"
      }
    case .value, .block: return nil
    }
  }

  private func condition(_ comparison: ComparisonNode, of entity: SQLEntity) -> String? {
    guard comparison.modifier == .direct, comparison.options.isEmpty,
      case .keyPath(let name) = comparison.left, let column = column(name, of: entity),
      case .constant(let value) = comparison.right, let sign = Self.sign(comparison.type)
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
    return literal(value, for: name, of: entity).map { "\(column) \(sign) \($0)" }
  }

  private static func sign(_ type: ComparisonPredicate.Operator) -> String? {
    switch type {
    case .equalTo: return "="
    case .notEqualTo: return "<>"
    case .lessThan: return "<"
    case .lessThanOrEqualTo: return "<="
    case .greaterThan: return ">"
    case .greaterThanOrEqualTo: return ">="
    case .matches, .like, .beginsWith, .endsWith, .in, .customSelector, .contains, .between:
      return nil
    }
  }
}

/// As SQLite has it.
struct SQLiteIndexWords: SQLIndexWords {
  func column(_ name: String, of entity: SQLEntity) -> String? {
    SQLIndexes.column(name, of: entity)
  }

  func number(_ number: Double) -> String? { String(number) }

  func literal(_ value: PredicateValue, for name: String, of entity: SQLEntity) -> String? {
    switch value {
    case .boolean(let flag): return flag ? "1" : "0"
    case .integer(let number): return String(number)
    case .double(let number): return number.isFinite ? String(number) : nil
    case .decimal(let number): return "\(number)"
    case .string(let text): return "'" + text.replacing("'", with: "''") + "'"
    case .date(let date): return String(date.timeIntervalSinceReferenceDate)
    case .null, .data, .uuid, .url, .objectID, .object, .array, .set, .dictionary: return nil
    }
  }
}
