import CairnModel
import CairnSQL
import Foundation

/// How PostgreSQL says what a fetch asks for, so that it finds the rows that the evaluator finds.
///
/// The server has none of the evaluator's functions: what it would answer otherwise is left to memory, or narrowed here.
/// Numbers that leave their type are the server's error, for which ``PostgreSQLFetch`` has an answer.
struct PostgreSQLDialect: SQLDialect {
  let schema: PostgreSQLSchema
  let shapes: RowShapes

  // MARK: Names

  func table(_ name: String) -> String { schema.place(ofTable: name) }
  func column(_ name: String, ofTable table: String) -> String {
    schema.column(name, ofTable: table)
  }
  func rowColumns(
    of entity: SQLEntity, includingSubentities: Bool, alias: String, schema: SQLSchema
  ) -> String {
    shapes.shape(of: entity, includesSubentities: includingSubentities).list(alias)
  }

  // MARK: Statements

  var limitClause: String { " LIMIT NULLIF(?, -1) OFFSET ?" }
  var subqueryName: String { " AS found" }
  var findsRowsInOrder: Bool { false }
  var sortsDistinctRowsByColumnsOnly: Bool { true }
  /// The server has a stack of two megabytes, of which this is a small part.
  var maximumNesting: Int { 300 }

  // MARK: Truth

  func literal(_ flag: Bool) -> SQLFragment { SQLFragment(flag ? "TRUE" : "FALSE") }
  func isNotTrue(_ condition: SQLFragment) -> SQLFragment { "(" + condition + ") IS NOT TRUE" }

  // MARK: Values

  func value(of column: SQLAttributePlace) -> SQLTerm {
    let table = schema.table(sqlName: column.table)
    let place = "\(column.alias).\(schema.column(column.name, ofTable: column.table))"
    let kind = SQLKind(column.type, isExternal: false)
    switch column.type {
    // Computing with floats would round to floats.
    case .float: return SQLTerm(SQLFragment("\(place)::double precision"), kind)
    case .date:
      guard let stored = table?.column(sqlName: column.name),
        let exact = table?.exactColumn(of: stored)
      else { return SQLTerm(SQLFragment(place), .opaqueData) }
      return DateForm(time: place, exact: "\(column.alias).\(SQLText.name(exact.name))").term
    default: return SQLTerm(SQLFragment(place), kind)
    }
  }

  func constant(_ value: AttributeValue, _ kind: SQLKind) -> SQLTerm {
    switch value {
    case .date(let date):
      return SQLTerm(.parameter(.double(date.timeIntervalSinceReferenceDate)), kind)
    case .url(let url): return SQLTerm(.parameter(.string(url.absoluteString)), kind)
    case .null, .string, .boolean, .integer, .float, .double, .decimal, .data, .uuid, .object:
      return SQLTerm(.parameter(value), kind)
    }
  }

  func parameter(ofRow value: AttributeValue) -> SQLFragment {
    guard case .date(let date) = value else { return .parameter(value) }
    return .parameter(.double(date.timeIntervalSinceReferenceDate))
  }

  func orderedByBytes(_ text: SQLFragment) -> SQLFragment { "(" + text + " \(Self.byBytes))" }
  /// A database compares texts as it is set to.
  static let byBytes = "COLLATE pg_catalog.\"C\""

  var keepsDecimalsAsDoubles: Bool { false }

  // MARK: Comparisons

  func equality(_ a: SQLTerm, _ b: SQLTerm, isEqual: Bool) throws -> SQLFragment {
    let relation: NumberRelation = isEqual ? .equal : .unequal
    if a.kind.isNumber, b.kind.isNumber { return try numbers(a, relation, b) }
    if !a.folding.isEmpty || !b.folding.isEmpty { return try foldedTexts(a, relation, b) }
    return relation.compare(a.fragment, b.fragment, isConstant: b.parameter != nil)
  }

  func order(_ a: SQLTerm, _ sign: SQLSign, _ b: SQLTerm) throws -> SQLFragment {
    if a.kind.isNumber, b.kind.isNumber { return try numbers(a, NumberRelation(sign), b) }
    guard a.kind == .string, b.kind == .string else { throw SQLUnsupported() }
    if !a.folding.isEmpty || !b.folding.isEmpty {
      return try foldedTexts(a, NumberRelation(sign), b)
    }
    return a.fragment + " \(sign.rawValue) " + b.fragment + " \(Self.byBytes)"
  }

  // MARK: Order

  func sortTerms(_ term: SQLTerm, collation: String?) throws -> [SQLFragment] {
    guard collation == nil, term.kind != .null else { throw SQLUnsupported() }
    // An index has the time alone; what it rounds decides between equal times.
    return term.parts.first.map { [$0, term.fragment] } ?? [term.fragment]
  }

  func direction(ascending: Bool) -> String {
    ascending ? " ASC NULLS FIRST" : " DESC NULLS LAST"
  }
}

extension SQLFragment {
  static func parameter(_ value: AttributeValue) -> SQLFragment { SQLFragment("?", [value]) }
}

/// What a comparison asks.
enum NumberRelation {
  case equal, unequal, less, lessOrEqual, greater, greaterOrEqual

  init(_ sign: SQLSign) {
    switch sign {
    case .less: self = .less
    case .lessOrEqual: self = .lessOrEqual
    case .greater: self = .greater
    case .greaterOrEqual: self = .greaterOrEqual
    }
  }

  /// The same question with the sides changed.
  var flipped: NumberRelation {
    switch self {
    case .equal, .unequal: return self
    case .less: return .greater
    case .lessOrEqual: return .greaterOrEqual
    case .greater: return .less
    case .greaterOrEqual: return .lessOrEqual
    }
  }

  /// Between two values that are not NULL.
  var sign: String {
    switch self {
    case .equal: return "="
    case .unequal: return "<>"
    case .less: return "<"
    case .lessOrEqual: return "<="
    case .greater: return ">"
    case .greaterOrEqual: return ">="
    }
  }

  /// Compares values that have the same order for the server and for the evaluator.
  ///
  /// - Parameter isConstant: Whether the right one is a parameter, which is never NULL.
  func compare(_ a: SQLFragment, _ b: SQLFragment, isConstant: Bool) -> SQLFragment {
    switch self {
    case .equal: return a + (isConstant ? " = " : " IS NOT DISTINCT FROM ") + b
    case .unequal: return a + " IS DISTINCT FROM " + b
    case .less, .lessOrEqual, .greater, .greaterOrEqual: return a + " \(sign) " + b
    }
  }
}
