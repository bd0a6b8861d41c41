import CairnModel
import CairnPredicates

/// How SQLite says it, whose connections have Cairn's functions and collations: nearly everything is the
/// evaluator's own implementation.
package struct SQLiteDialect: SQLDialect {
  package init() {}

  // MARK: Names

  package func table(_ name: String) -> String { name }
  package func column(_ name: String, ofTable table: String) -> String { name }
  package func rowColumns(
    of entity: SQLEntity, includingSubentities: Bool, alias: String, schema: SQLSchema
  ) -> String {
    schema.shape(entity, includingSubentities: includingSubentities).list
  }

  // MARK: Statements

  package var limitClause: String { " LIMIT ? OFFSET ?" }
  package var subqueryName: String { "" }
  package var findsRowsInOrder: Bool { true }
  package var sortsDistinctRowsByColumnsOnly: Bool { false }
  /// SQLite's parser has room for 100.
  package var maximumNesting: Int { 75 }

  // MARK: Truth

  package func literal(_ flag: Bool) -> SQLFragment { SQLFragment(flag ? "1" : "0") }
  package func isNotTrue(_ condition: SQLFragment) -> SQLFragment {
    "NOT IFNULL(" + condition + ", 0)"
  }

  // MARK: Values

  package func value(of column: SQLAttributePlace) -> SQLTerm {
    SQLTerm(SQLFragment("\(column.alias).\(column.name)"), column.kind)
  }
  package func constant(_ value: AttributeValue, _ kind: SQLKind) -> SQLTerm {
    SQLTerm(SQLFragment("?", [value]), kind)
  }
  package func parameter(ofRow value: AttributeValue) -> SQLFragment { SQLFragment("?", [value]) }
  package func orderedByBytes(_ text: SQLFragment) -> SQLFragment { text }
  package var keepsDecimalsAsDoubles: Bool { true }

  // MARK: Comparisons

  package func equality(_ a: SQLTerm, _ b: SQLTerm, isEqual: Bool) -> SQLFragment {
    guard isEqual else { return a.fragment + " IS NOT " + b.fragment }
    // A parameter is never NULL; two columns may both be, and are equal then.
    return a.fragment + (b.fragment.sql == "?" ? " = " : " IS ") + b.fragment
  }

  package func order(_ a: SQLTerm, _ sign: SQLSign, _ b: SQLTerm) -> SQLFragment {
    a.fragment + " \(sign.rawValue) " + b.fragment
  }

  package func folded(
    _ text: SQLTerm, _ options: ComparisonPredicate.Options
  ) -> SQLTerm {
    SQLTerm("\(SQLFunctionName.fold)(" + text.fragment + ", \(options.rawValue))", .string)
  }

  package func text(
    _ left: SQLTerm, _ type: ComparisonPredicate.Operator, _ right: SQLTerm,
    _ options: ComparisonPredicate.Options
  ) -> SQLFragment {
    let call =
      "\(SQLFunctionName.compare)(" + left.fragment
      + ", \(type.rawValue), " + right.fragment + ", \(options.rawValue))"
    guard type == .beginsWith, !StringFolding.changes(options),
      case .string(let prefix)? = right.parameter, !prefix.isEmpty
    else { return call }
    // The range lets an index find the candidates.
    var range = SQLFragment(
      "\(left.fragment.sql) >= ?", left.fragment.bindings + [.string(prefix)])
    if let end = TextRange.successor(of: prefix) {
      range =
        range
        + SQLFragment(
          " AND \(left.fragment.sql) < ?", left.fragment.bindings + [.string(end)])
    }
    return "(" + range + " AND " + call + ")"
  }

  // MARK: Computing

  package func call(
    _ function: PredicateFunction, _ arguments: [SQLTerm]
  ) throws -> SQLTerm {
    switch function {
    case .add: return try arithmetic("+", arguments)
    case .subtract: return try arithmetic("-", arguments)
    case .multiply: return try arithmetic("*", arguments)
    case .divide: return try arithmetic("/", arguments)
    case .bitwiseAnd: return try integers("&", arguments)
    case .bitwiseOr: return try integers("|", arguments)
    case .leftShift: return try integers("<<", arguments)
    case .rightShift: return try integers(">>", arguments)
    case .onesComplement:
      guard arguments[0].kind.isInteger else { throw SQLUnsupported() }
      return SQLTerm("(~" + arguments[0].fragment + ")", .integer)
    case .noIndex:
      let inner = arguments[0]
      return SQLTerm("+" + inner.fragment, inner.kind, entityNumber: inner.entityNumber)
    case .uppercase, .lowercase, .canonical: return try registered(function, arguments, .string)
    case .length: return try registered(function, arguments, .integer)
    case .squareRoot, .logarithm, .naturalLogarithm, .exponential, .power:
      return try registered(function, arguments, .double)
    case .floor, .ceiling, .absolute, .truncate, .modulus, .bitwiseXor:
      return try registered(function, arguments, nil)
    case .count, .sum, .min, .max, .average, .median, .mode, .standardDeviation, .random,
      .randomBelow, .now:
      throw SQLUnsupported()
    }
  }

  /// Addition and the like.
  ///
  /// Decimals keep their digits only in memory.
  private func arithmetic(_ sign: String, _ arguments: [SQLTerm]) throws -> SQLTerm {
    let (a, b) = (arguments[0], arguments[1])
    guard a.kind.isNumber, b.kind.isNumber, a.kind != .decimal, b.kind != .decimal else {
      throw SQLUnsupported()
    }
    let kind: SQLKind = a.kind.isInteger && b.kind.isInteger ? .integer : .double
    return SQLTerm("(" + asDouble(a) + " \(sign) " + asDouble(b) + ")", kind)
  }

  private func integers(_ sign: String, _ arguments: [SQLTerm]) throws -> SQLTerm {
    let (a, b) = (arguments[0], arguments[1])
    guard a.kind.isInteger, b.kind.isInteger else { throw SQLUnsupported() }
    return SQLTerm("(" + a.fragment + " \(sign) " + b.fragment + ")", .integer)
  }

  /// A function that the connection answers with the evaluator's own implementation.
  ///
  /// - Parameter kind: what it gives; nil for an integer of integers and a double of doubles.
  private func registered(
    _ function: PredicateFunction, _ terms: [SQLTerm], _ kind: SQLKind?
  ) throws -> SQLTerm {
    let takesText = kind == .string || function == .length
    for term in terms {
      guard takesText ? term.kind == .string : term.kind.isNumber, term.kind != .decimal
      else { throw SQLUnsupported() }
    }
    let isInteger = terms.allSatisfy { $0.kind.isInteger }
    if function == .bitwiseXor, !isInteger { throw SQLUnsupported() }
    return SQLTerm(
      "\(SQLFunctionName.call)('\(function.rawValue)', "
        + .joined(terms.map(asDouble), by: ", ") + ")",
      kind ?? (isInteger ? .integer : .double))
  }

  /// The term for arithmetic: whole seconds of dates are kept as integers, whose quotient would be
  /// whole too.
  private func asDouble(_ term: SQLTerm) -> SQLFragment {
    term.kind == .date ? "CAST(" + term.fragment + " AS REAL)" : term.fragment
  }

  package func cast(_ term: SQLTerm, to kind: SQLKind) -> SQLTerm {
    SQLTerm(kind == .date ? term.fragment : asDouble(term), kind)
  }

  package func conditional(_ test: SQLFragment, _ a: SQLTerm, _ b: SQLTerm) -> SQLTerm {
    let text = "CASE WHEN " + test + " THEN " + a.fragment + " ELSE " + b.fragment + " END"
    return SQLTerm("(" + text + ")", a.kind == .null ? b.kind : a.kind)
  }

  package func aggregate(
    _ function: SQLAggregate, _ term: SQLTerm, isOfMembers: Bool
  ) throws -> SQLTerm {
    let (name, kind) =
      isOfMembers
      ? try memberAggregate(function, term.kind) : rowAggregate(function, term.kind)
    return SQLTerm("\(name)(" + term.fragment + ")", kind)
  }

  private func memberAggregate(
    _ function: SQLAggregate, _ kind: SQLKind
  ) throws -> (String, SQLKind) {
    switch function {
    case .minimum, .maximum:
      guard kind.isOrdered else { throw SQLUnsupported() }
      return (function == .minimum ? "MIN" : "MAX", kind)
    case .sum, .average:
      guard kind.isInteger || kind == .double else { throw SQLUnsupported() }
      if function == .average { return (SQLFunctionName.average, .double) }
      return (SQLFunctionName.sum, kind.isInteger ? .integer : .double)
    case .count: return ("COUNT", .integer)
    }
  }

  private func rowAggregate(_ function: SQLAggregate, _ kind: SQLKind) -> (String, SQLKind) {
    let isDecimal = kind == .decimal
    switch function {
    case .count: return ("COUNT", .integer)
    case .sum:
      // SQLite's own fails where the sum of integers is none, and makes doubles of decimals.
      let exact = isDecimal ? SQLFunctionName.decimalTotal : SQLFunctionName.total
      return (isDecimal || kind.isInteger ? exact : "SUM", kind)
    case .minimum: return ("MIN", kind)
    case .maximum: return ("MAX", kind)
    case .average:
      return isDecimal ? (SQLFunctionName.decimalAverage, .decimal) : ("AVG", .double)
    }
  }

  // MARK: Order

  package func sortTerms(_ term: SQLTerm, collation: String?) -> [SQLFragment] {
    [collation.map { term.fragment + " COLLATE \($0)" } ?? term.fragment]
  }

  package func direction(ascending: Bool) -> String { ascending ? " ASC" : " DESC" }
}

/// Ranges of texts in the order of their bytes.
package enum TextRange {
  /// The first text that comes after everything with the prefix; nil when nothing does.
  package static func successor(of prefix: String) -> String? {
    var scalars = Array(prefix.unicodeScalars)
    while let last = scalars.popLast() {
      // The order of UTF-8 is that of scalars; surrogates are none.
      let next = last.value == 0xD7FF ? 0xE000 : last.value + 1
      guard let scalar = Unicode.Scalar(next) else { continue }
      var result = String.UnicodeScalarView(scalars)
      result.append(scalar)
      return String(result)
    }
    return nil
  }
}
