import CairnModel
import CairnPredicates
import CairnSQL
import CairnStore

/// The fetch indexes that a model declares, as PostgreSQL has them.
///
/// Each is a B-tree, one for a location too: an R-tree takes an operator that no predicate of Core Data uses. NULL comes
/// first, as Core Data orders.
struct DeclaredIndexes: SQLIndexWords {
  let table: PostgreSQLTable

  /// An index's name and its elements; nil for one that the table cannot have: of an expression that is not arithmetic, or of
  /// binary data.
  func index(
    _ index: FetchIndexDescription, of entity: SQLEntity
  ) -> (title: String, elements: [String])? {
    guard let elements = elements(of: index, entity) else { return nil }
    return (
      "\(ReadableName.of(entity.name))_\(ReadableName.of(index.name))",
      elements.map { $1 + ($0.isAscending ? " ASC NULLS FIRST" : " DESC NULLS LAST") }
    )
  }

  func column(_ name: String, of entity: SQLEntity) -> String? {
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

  /// The server would take it for a decimal, and the sum with a double for another type.
  func number(_ number: Double) -> String? { nil }

  /// Of dates nothing is written out: a column has them rounded.
  func literal(_ value: PredicateValue, for name: String, of entity: SQLEntity) -> String? {
    guard let slot = entity.layout.slotByName[name],
      case .attribute(_, let type, _) = entity.slots[slot], let form = ValueForm(type)
    else { return nil }
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
