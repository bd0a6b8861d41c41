import CairnModel
import Foundation

/// The WHERE clause of a partial index, with constants written out, as an index definition needs.
enum SQLPartialIndex {
  /// Nil when the predicate says something that an index cannot; the index is then a full one.
  static func condition(
    _ predicate: ObjectPredicate, entity: SQLEntity, schema: SQLSchema
  ) -> String? {
    text(of: predicate.node, entity: entity)
  }

  private static func text(of node: PredicateNode, entity: SQLEntity) -> String? {
    switch node {
    case .comparison(let comparison): return text(of: comparison, entity: entity)
    case .compound(let type, let members):
      let parts = members.compactMap { text(of: $0, entity: entity) }
      guard parts.count == members.count, !parts.isEmpty else { return nil }
      switch type {
      case .and: return "(" + parts.joined(separator: " AND ") + ")"
      case .or: return "(" + parts.joined(separator: " OR ") + ")"
      case .not: return "NOT (\(parts[0]))"
      }
    case .value, .block: return nil
    }
  }

  private static func text(of comparison: ComparisonNode, entity: SQLEntity) -> String? {
    guard comparison.modifier == .direct, comparison.options.isEmpty,
      case .keyPath(let name) = comparison.left,
      let column = SQLIndexes.column(name, of: entity),
      case .constant(let value) = comparison.right,
      let sign = sign(comparison.type)
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
    return literal(value).map { "\(column) \(sign) \($0)" }
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

  private static func literal(_ value: PredicateValue) -> String? {
    switch value {
    case .boolean(let flag): return flag ? "1" : "0"
    case .integer(let number): return String(number)
    case .double(let number): return number.isFinite ? String(number) : nil
    case .decimal(let number): return "\(number)"
    case .string(let text): return "'" + text.replacingOccurrences(of: "'", with: "''") + "'"
    case .date(let date): return String(date.timeIntervalSinceReferenceDate)
    case .null, .data, .uuid, .url, .objectID, .object, .array, .set, .dictionary: return nil
    }
  }
}
