import CairnModel
import CairnPredicates
import CairnStore

/// What the plans of all requests of one shape have in common: everything but the values of the
/// parameters.
final class SQLQueryForm: Sendable {
  let entity: SQLEntity
  let shape: SQLRowShape
  let dialect: any SQLDialect
  let alias: String
  /// The columns of whole rows.
  private let rowColumns: String
  /// FROM with its joins, up to and without ORDER BY.
  let body: String
  let hasConditions: Bool
  let ordering: [SQLFragment]
  let remainder: ObjectPredicate?
  let memorySort: [ObjectSortDescriptor]
  let dictionary: SQLDictionaryPlan?
  let isDictionaryInMemory: Bool
  /// The statements, of a form that is kept for other requests: a text that is always the same one
  /// is found among the prepared statements without being read.
  let texts: Texts?

  struct Texts: Sendable {
    let rows: String
    let keys: String
    let count: String
  }

  init(
    _ compiler: SQLCompiler, includingSubentities: Bool, body: String, hasConditions: Bool,
    ordering: [SQLFragment], remainder: ObjectPredicate?, memorySort: [ObjectSortDescriptor],
    dictionary: SQLDictionaryPlan?, isDictionaryInMemory: Bool
  ) {
    entity = compiler.root.entity
    dialect = compiler.dialect
    alias = compiler.root.alias
    shape = compiler.schema.shape(entity, includingSubentities: includingSubentities)
    rowColumns = dialect.rowColumns(
      of: entity, includingSubentities: includingSubentities, alias: alias,
      schema: compiler.schema)
    self.body = body
    self.hasConditions = hasConditions
    self.ordering = ordering
    self.remainder = remainder
    self.memorySort = memorySort
    self.dictionary = dictionary
    self.isDictionaryInMemory = isDictionaryInMemory
    texts = nil
  }

  /// The same form with its statements written down; they must have no parameters but those of
  /// the body and of the limit.
  ///
  /// - Parameter isLimited: Whether the requests of the form have a limit or an offset.
  init(writing form: SQLQueryForm, isLimited: Bool) {
    entity = form.entity
    shape = form.shape
    dialect = form.dialect
    rowColumns = form.rowColumns
    alias = form.alias
    body = form.body
    hasConditions = form.hasConditions
    ordering = form.ordering
    remainder = form.remainder
    memorySort = form.memorySort
    dictionary = form.dictionary
    isDictionaryInMemory = form.isDictionaryInMemory
    let body = SQLFragment(form.body)
    let limit = isLimited ? dialect.limitClause : ""
    texts = Texts(
      rows: form.ordered(form.selectingRows + body).sql + limit,
      keys: form.keys(body).sql + limit,
      count: isLimited
        ? "SELECT COUNT(*) FROM (SELECT 1" + form.body + limit + ")" + dialect.subqueryName
        : "SELECT COUNT(*)" + form.body)
  }

  var selectingRows: String { "SELECT \(rowColumns)" }
  /// The key of a row.
  var key: String { "\(alias).\(dialect.column("Z_PK", ofTable: entity.table))" }

  /// The SELECT of entity numbers and keys, in order.
  func keys(_ body: SQLFragment) -> SQLFragment {
    // In a table of one entity the number need not be read, which is most of the work.
    let column = "\(alias).\(dialect.column("Z_ENT", ofTable: entity.table))"
    let number = entity.sharesTable ? column : "\(entity.number)"
    let select: SQLFragment = "SELECT \(number), \(key)" + body
    // With nothing but keys to read, SQLite would go through an index, in its order.
    let isUnordered = ordering.isEmpty && !hasConditions
    return isUnordered ? select + " ORDER BY \(key)" : ordered(select)
  }

  var limitsInMemory: Bool {
    remainder != nil || !memorySort.isEmpty || isDictionaryInMemory
  }

  func ordered(_ select: SQLFragment) -> SQLFragment {
    if ordering.isEmpty { return select }
    return select + " ORDER BY " + .joined(ordering, by: ", ")
  }
}
