import CairnModel
import CairnPredicates

/// How one database says what the compiler has to say: names, values, comparisons, functions and order.
///
/// The compiler knows what a request means, which rows key paths lead to and what counts as nil; a dialect
/// writes it down. What a database cannot say as the evaluator means it throws ``SQLUnsupported``, or is a
/// condition that more rows satisfy (``SQLFragment/isCoarse``), of which memory tests each.
///
/// Tables and columns are named as in SQLite's format; a dialect says what they are called. Parameters are
/// question marks, in the order of the bindings. All requests of one schema are compiled in one dialect.
package protocol SQLDialect: Sendable {
  // MARK: Names

  /// A table as statements name it.
  func table(_ name: String) -> String
  /// A column as statements name it, without a table.
  func column(_ name: String, ofTable table: String) -> String
  /// The columns that a SELECT of whole rows names.
  func rowColumns(
    of entity: SQLEntity, includingSubentities: Bool, alias: String, schema: SQLSchema
  ) -> String

  // MARK: Statements

  /// The end of a SELECT with two parameters: how many rows, -1 for all, and behind how many.
  var limitClause: String { get }
  /// What stands behind a SELECT in FROM, which some databases want to have a name.
  var subqueryName: String { get }
  /// Whether a SELECT without ORDER BY gives rows in the order of their keys.
  var findsRowsInOrder: Bool { get }
  /// Whether a SELECT of distinct rows can be sorted by its own columns only.
  var sortsDistinctRowsByColumnsOnly: Bool { get }
  /// How deep a condition may nest; see ``SQLFragment/nesting``.
  var maximumNesting: Int { get }

  // MARK: Truth

  func literal(_ flag: Bool) -> SQLFragment
  /// Whether a condition is false or NULL.
  func isNotTrue(_ condition: SQLFragment) -> SQLFragment

  // MARK: Values

  /// The value of an attribute.
  func value(of column: SQLAttributePlace) -> SQLTerm
  /// A parameter.
  func constant(_ value: AttributeValue, _ kind: SQLKind) throws -> SQLTerm
  /// A parameter for a value that a row has, which its column is compared with.
  func parameter(ofRow value: AttributeValue) -> SQLFragment
  /// The bytes of a text decide its order, whatever it is made of.
  func orderedByBytes(_ text: SQLFragment) -> SQLFragment
  /// Whether decimals are kept as doubles, so that memory must compare what is left of them.
  var keepsDecimalsAsDoubles: Bool { get }

  // MARK: Comparisons

  /// Whether two terms of comparable kinds are equal, or are not, NULL being equal to NULL.
  func equality(_ a: SQLTerm, _ b: SQLTerm, isEqual: Bool) throws -> SQLFragment
  /// Compares two terms of ordered kinds; not true where one is NULL.
  func order(_ a: SQLTerm, _ sign: SQLSign, _ b: SQLTerm) throws -> SQLFragment
  /// Whether a term is among parameters of comparable kinds, none of them NULL.
  func list(_ term: SQLTerm, _ values: [SQLTerm]) throws -> SQLFragment
  /// A text as comparisons with options see it.
  func folded(_ text: SQLTerm, _ options: ComparisonPredicate.Options) throws -> SQLTerm
  /// The string operators: BEGINSWITH, ENDSWITH, CONTAINS, IN, LIKE and MATCHES.
  func text(
    _ left: SQLTerm, _ type: ComparisonPredicate.Operator, _ right: SQLTerm,
    _ options: ComparisonPredicate.Options
  ) throws -> SQLFragment

  // MARK: Computing

  /// A predefined function of single values.
  func call(_ function: PredicateFunction, _ arguments: [SQLTerm]) throws -> SQLTerm
  /// A date as a number, or a number as a date; the term's kind is another number's.
  func cast(_ term: SQLTerm, to kind: SQLKind) -> SQLTerm
  func conditional(_ test: SQLFragment, _ a: SQLTerm, _ b: SQLTerm) throws -> SQLTerm
  /// An aggregate function of a term.
  ///
  /// - Parameter isOfMembers: Whether it is one over the members of a relationship, of which sum and average are 0
  ///   where there are none; those of rows are NULL.
  func aggregate(
    _ function: SQLAggregate, _ term: SQLTerm, isOfMembers: Bool
  ) throws -> SQLTerm

  // MARK: Order

  /// What ORDER BY lists for a term.
  ///
  /// - Parameter collation: One of ``SQLCollation``, nil for the order of bytes.
  func sortTerms(_ term: SQLTerm, collation: String?) throws -> [SQLFragment]
  /// What stands behind each of them: NULL is less than everything else.
  func direction(ascending: Bool) -> String
}

/// The column of an attribute in a statement.
package struct SQLAttributePlace {
  /// The alias of the table, and its name in SQLite's format.
  package let alias: String
  package let table: String
  /// In SQLite's format.
  package let name: String
  package let type: AttributeType
  package let isExternal: Bool

  package var kind: SQLKind { SQLKind(type, isExternal: isExternal) }
}

/// How values are put in order.
package enum SQLSign: String {
  case less = "<"
  case lessOrEqual = "<="
  case greater = ">"
  case greaterOrEqual = ">="
}

/// What is made of many values.
package enum SQLAggregate {
  case count, sum, average, minimum, maximum
}
