import CairnModel
import CairnPredicates
import CairnStore
import Foundation

/// How a fetch is executed: a SELECT of candidate rows, and what is left for memory.
package struct SQLQueryPlan: Sendable {
  /// What the plan has in common with those of other requests of its shape.
  let form: SQLQueryForm
  /// The values of the parameters of ``body``.
  let bindings: [AttributeValue]
  private let limit: Int
  private let offset: Int

  package var entity: SQLEntity { form.entity }
  package var shape: SQLRowShape { form.shape }
  /// FROM with its joins, up to and without ORDER BY.
  package var body: SQLFragment { SQLFragment(form.body, bindings) }
  package var ordering: [SQLFragment] { form.ordering }
  /// Whether the body has a WHERE clause.
  package var hasConditions: Bool { form.hasConditions }
  /// What SQL could not say of the predicate; tested on each row found.
  package var remainder: ObjectPredicate? { form.remainder }
  /// Not empty when memory must sort.
  package var memorySort: [ObjectSortDescriptor] { form.memorySort }
  package var alias: String { form.alias }
  /// The key of a row, as statements name it.
  package var key: String { form.key }
  /// The columns of a dictionary fetch.
  package var dictionary: SQLDictionaryPlan? { form.dictionary }
  /// Whether the dictionaries are made of whole rows.
  package var isDictionaryInMemory: Bool { form.isDictionaryInMemory }

  /// The most parameters of one statement; SQLite as it comes takes 32,766.
  package static let maximumParameters = 30_000

  /// - Parameters:
  ///   - dialect: The one that all requests of the schema are compiled in.
  ///   - store: the store asked, so that objects of others match nothing.
  /// - Throws: ``CoreDataError`` for key paths the entity does not have and the like.
  package init(
    _ request: StoreFetchRequest, schema: SQLSchema,
    dialect: any SQLDialect = SQLiteDialect(), store: StoreIdentity? = nil
  ) throws {
    let entity = schema.entity(request.entity)
    // A place is seldom asked for, and a shape of its own.
    if request.place == nil,
      let known = schema.plans.find(request, of: entity, schema: schema, store: store)
    {
      self.init(known.form, known.bindings, request)
      return
    }
    let compiler = SQLCompiler(schema: schema, entity: entity, dialect: dialect, store: store)
    let (form, bindings) = try Self.compile(request, entity, compiler)
    self.init(form, bindings, request)
    if request.place == nil,
      let template = SQLRequestTemplate(request, form, bindings, compiler)
    {
      schema.plans.keep(form, of: template)
    }
  }

  private init(_ form: SQLQueryForm, _ bindings: [AttributeValue], _ request: StoreFetchRequest) {
    self.form = form
    self.bindings = bindings
    limit = max(0, request.limit)
    offset = max(0, request.offset)
  }

  private static func compile(
    _ request: StoreFetchRequest, _ entity: SQLEntity, _ compiler: SQLCompiler
  ) throws -> (form: SQLQueryForm, bindings: [AttributeValue]) {
    let dialect = compiler.dialect
    let key = compiler.key(compiler.root.alias, entity)
    var conditions: [SQLFragment] = []
    if let numbers = entity.numberCondition(
      compiler.number(compiler.root.alias, entity),
      includingSubentities: request.includesSubentities)
    {
      conditions.append(SQLFragment(numbers))
    }
    var left: [PredicateNode] = []
    var parameters = 0
    for member in conjunction(request.predicate?.node) {
      do {
        let condition = try compiler.condition(member)
        parameters += condition.bindings.count
        guard parameters <= maximumParameters, condition.nesting <= dialect.maximumNesting
        else {
          parameters -= condition.bindings.count
          throw SQLUnsupported()
        }
        conditions.append(condition)
        if condition.isCoarse { left.append(member) }
      } catch is SQLUnsupported {
        try compiler.checkKeyPaths(of: member)
        left.append(member)
      }
    }
    var remainder: ObjectPredicate?
    if !left.isEmpty {
      let node = left.count == 1 ? left[0] : .compound(.and, left)
      remainder = ObjectPredicate.make(
        dialect.keepsDecimalsAsDoubles ? node.withStoredConstants : node)
    }
    var columns: SQLDictionaryPlan?
    var isDictionaryInMemory = false
    var order: [SQLFragment] = []
    var sort: [ObjectSortDescriptor] = []
    if case .dictionaries(let shape) = request.result {
      do {
        let made = try SQLDictionaryPlan(shape, compiler: compiler)
        // Sort keys may name columns, which may be aggregates.
        compiler.allowsAggregates = true
        defer { compiler.allowsAggregates = false }
        order = try compiler.ordering(request.sortDescriptors)
        try made.checkOrder(order, compiler)
        if order.isEmpty, made.isOfRows(compiler), !dialect.findsRowsInOrder {
          order = [SQLFragment(key)]
        }
        columns = made
      } catch is SQLUnsupported {
        for column in shape.columns {
          for path in column.expression.node.contents.keyPaths { try compiler.check(path) }
        }
      }
      isDictionaryInMemory = columns == nil
    } else {
      do {
        order = try compiler.ordering(request.sortDescriptors)
      } catch is SQLUnsupported {
        sort = request.sortDescriptors
      }
      if !order.isEmpty || !dialect.findsRowsInOrder { order.append(SQLFragment(key)) }
      if let place = request.place {
        guard sort.isEmpty else { throw SQLQueryError.placeInMemory }
        conditions.append(try compiler.condition(behind: place, in: request.sortDescriptors))
      }
    }
    let filter =
      conditions.isEmpty ? SQLFragment("") : " WHERE " + .grouped(conditions, by: " AND ")
    let form = SQLQueryForm(
      compiler, includingSubentities: request.includesSubentities,
      body: " FROM \(dialect.table(entity.table)) \(compiler.root.alias)"
        + compiler.root.joinClause + filter.sql, hasConditions: !conditions.isEmpty,
      ordering: order, remainder: remainder, memorySort: sort, dictionary: columns,
      isDictionaryInMemory: isDictionaryInMemory)
    return (form, filter.bindings)
  }

  /// The members of a top-level conjunction, so that each is judged by itself.
  private static func conjunction(_ node: PredicateNode?) -> [PredicateNode] {
    guard let node else { return [] }
    var result: [PredicateNode] = []
    var pending = [node]
    while let node = pending.popLast() {
      switch node {
      case .compound(.and, let members): pending += members.reversed()
      case .value(true): break
      case .value, .comparison, .compound, .block: result.append(node)
      }
    }
    return result
  }

  /// Whether limit and offset can only be applied after memory has had its say.
  package var limitsInMemory: Bool { form.limitsInMemory }

  /// The rows that may match, in order.
  package func rows() -> SQLFragment {
    if let texts = form.texts { return known(texts.rows) }
    return limited(form.ordered(form.selectingRows + body))
  }

  /// The rows that may match, all and in any order: what memory chooses from.
  package func candidates() -> SQLFragment { form.selectingRows + body }

  /// Entity numbers and keys only.
  package func keys() -> SQLFragment {
    if let texts = form.texts { return known(texts.keys) }
    return limited(form.keys(body))
  }

  /// The number of matches; only when nothing is left for memory.
  package func count() -> SQLFragment {
    if let texts = form.texts { return known(texts.count) }
    if limit == 0 && offset == 0 { return "SELECT COUNT(*)" + body }
    return "SELECT COUNT(*) FROM (" + limited("SELECT 1" + body) + ")\(form.dialect.subqueryName)"
  }

  /// A statement whose text the form has.
  private func known(_ sql: String) -> SQLFragment {
    SQLFragment(sql, limit == 0 && offset == 0 ? bindings : bindings + limitBindings)
  }

  package func ordered(_ select: SQLFragment) -> SQLFragment { form.ordered(select) }

  package func limited(_ select: SQLFragment) -> SQLFragment {
    if limitsInMemory { return select }
    return withLimit(select)
  }

  package func withLimit(_ select: SQLFragment) -> SQLFragment {
    if limit == 0 && offset == 0 { return select }
    return select + SQLFragment(form.dialect.limitClause, limitBindings)
  }

  private var limitBindings: [AttributeValue] {
    [.integer(limit == 0 ? -1 : Int64(limit)), .integer(Int64(offset))]
  }

  /// How many matches, in their order, hold what ``slice(_:)`` leaves; nil for all of them.
  package var wanted: Int? {
    let (sum, isTooLarge) = limit.addingReportingOverflow(offset)
    return limit == 0 || isTooLarge ? nil : sum
  }

  /// The part of a list that limit and offset leave, for lists made in memory.
  package func slice<T>(_ list: [T]) -> [T] {
    let rest = list.dropFirst(offset)
    return limit == 0 ? Array(rest) : Array(rest.prefix(limit))
  }
}

extension SQLQueryPlan {
  /// Says of a fetch what the database does and what is left for memory.
  package func explain(
    _ request: StoreFetchRequest, in result: inout StoreFetchExplanation,
    statements: [StoreFetchExplanation.Statement]
  ) {
    result.statements = statements
    result.predicateInMemory = remainder?.predicateFormat
    result.sortInMemory = memorySort.map(\.description)
    result.makesDictionariesInMemory = isDictionaryInMemory
    result.limitsInMemory =
      limitsInMemory && dictionary == nil && (request.limit > 0 || request.offset > 0)
  }
}

extension PredicateNode {
  /// The predicate with its decimals rounded as the database rounds them, so that memory finds a
  /// stored number by the number that was saved.
  fileprivate var withStoredConstants: PredicateNode {
    rewriting { node in
      guard case .constant(let value) = node else { return node }
      return .constant(value.asStored)
    }
  }
}

extension PredicateValue {
  fileprivate var asStored: PredicateValue {
    switch self {
    case .decimal(let number):
      // The shortest decimal that means the double; whole numbers are stored as they are.
      if let whole = Int64("\(number)") { return .decimal(Decimal(whole)) }
      guard let rounded = Decimal(shortest: number.nearestDouble) else { return self }
      return .decimal(rounded)
    case .array(let members): return .array(members.map(\.asStored))
    case .set(let members): return .set(Set(members.map(\.asStored)))
    case .null, .boolean, .integer, .double, .string, .date, .data, .uuid, .url, .objectID, .object,
      .dictionary:
      return self
    }
  }
}
