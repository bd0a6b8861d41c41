import CairnModel
import CairnPredicates
import CairnStore

/// The columns of a dictionary fetch as SQL.
package struct SQLDictionaryPlan: Sendable {
  /// One column of the result; objects take two columns of SQL.
  package struct Column: Sendable {
    package let key: String
    package let type: AttributeType
    /// What the SQL column gives.
    package let kind: SQLKind
    /// The SQL column, and for objects that of the exact entity's number.
    package let index: Int32
    package let entityIndex: Int32
    package let isObject: Bool
  }

  package let columns: [Column]
  package let select: SQLFragment
  package let groupBy: [SQLFragment]
  package let having: SQLFragment?
  private let parts: [SQLFragment]
  private let isDistinct: Bool

  /// - Throws: ``SQLUnsupported`` when memory must make the dictionaries.
  init(_ shape: StoreFetchRequest.DictionaryColumns, compiler: SQLCompiler) throws {
    compiler.allowsAggregates = true
    defer { compiler.allowsAggregates = false }
    let grouped = try shape.groupBy.map { try Self.term($0, key: nil, compiler) }
    groupBy = grouped.map(\.fragment)
    var parts: [SQLFragment] = []
    var columns: [Column] = []
    for column in shape.columns {
      if !shape.groupBy.isEmpty, !Self.isAggregate(column.expression.node),
        !shape.groupBy.contains(where: { $0.node == column.expression.node })
      {
        throw SQLQueryError.ungroupedColumn
      }
      let term = try Self.term(column.expression, key: column.key, compiler)
      let index = Int32(parts.count)
      parts.append(term.fragment)
      var entityIndex: Int32 = -1
      var isObject = false
      if case .object = term.kind {
        isObject = true
        entityIndex = Int32(parts.count)
        parts.append(SQLFragment(term.entityNumber ?? "NULL"))
      }
      columns.append(
        Column(
          key: column.key, type: Self.type(of: term, declared: column.type, column),
          kind: term.kind,
          index: index, entityIndex: entityIndex, isObject: isObject))
    }
    if parts.isEmpty { parts = [SQLFragment("1")] }
    self.parts = parts
    self.columns = columns
    isDistinct = shape.distinct
    select = "SELECT \(shape.distinct ? "DISTINCT " : "")" + .joined(parts, by: ", ")
    compiler.columnsByKey = Dictionary(
      shape.columns.map { ($0.key, $0.expression.node) }, uniquingKeysWith: { first, _ in first })
    if let predicate = shape.having {
      having = try compiler.exact(try compiler.condition(predicate.node))
    } else {
      having = nil
    }
  }

  /// - Throws: ``SQLUnsupported`` when memory must sort.
  func checkOrder(_ order: [SQLFragment], _ compiler: SQLCompiler) throws {
    guard isDistinct, compiler.dialect.sortsDistinctRowsByColumnsOnly else { return }
    let columns = parts.map(\.sql)
    for term in order {
      let isColumn = columns.contains { column in
        [true, false].contains { term.sql == column + compiler.dialect.direction(ascending: $0) }
      }
      guard isColumn, term.bindings.isEmpty else { throw SQLUnsupported() }
    }
  }

  /// Whether there is one result for each row.
  func isOfRows(_ compiler: SQLCompiler) -> Bool {
    groupBy.isEmpty && !isDistinct && !compiler.hasAggregates
  }

  private static func term(
    _ expression: ObjectExpression, key: String?, _ compiler: SQLCompiler
  ) throws -> SQLTerm {
    if case .keyPath(let path) = expression.node,
      case .members(_, let rest) = try compiler.resolve(path, from: compiler.root), rest.isEmpty
    {
      throw SQLQueryError.toManyColumn(path)
    }
    return try compiler.term(expression.node)
  }

  /// Whether an expression has one value for a group of rows.
  private static func isAggregate(_ node: ExpressionNode) -> Bool {
    switch node {
    case .constant: return true
    case .function(let function, let arguments):
      switch function {
      case .count, .sum, .min, .max, .average, .now, .median, .mode, .standardDeviation,
        .random, .randomBelow:
        return true
      case .add, .subtract, .multiply, .divide, .modulus, .power, .squareRoot, .logarithm,
        .naturalLogarithm, .exponential, .floor, .ceiling, .absolute, .truncate, .uppercase,
        .lowercase, .canonical, .length, .bitwiseAnd, .bitwiseOr, .bitwiseXor, .leftShift,
        .rightShift, .onesComplement, .noIndex:
        return !arguments.isEmpty && arguments.allSatisfy(isAggregate)
      }
    case .evaluatedObject, .variable, .keyPath, .keyPathOf, .element, .cast, .message,
      .setOperation, .subquery, .aggregate, .anyKey, .block, .conditional, .assignment, .fetch:
      return false
    }
  }

  /// What the request declares, or what the expression gives when it declares nothing.
  private static func type(
    of term: SQLTerm, declared: AttributeType, _ column: StoreFetchRequest.DictionaryColumns.Column
  ) -> AttributeType {
    if declared != .undefined { return declared }
    switch term.kind {
    case .integer: return .integer64
    case .boolean: return .boolean
    case .double: return .double
    case .decimal: return .decimal
    case .string: return .string
    case .date: return .date
    case .uuid: return .uuid
    case .url: return .uri
    case .data, .opaqueData: return .binaryData
    case .object: return .objectID
    case .entity: return .integer64
    case .null: return .undefined
    }
  }
}
