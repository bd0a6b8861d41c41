import CairnModel
import CairnStore
import Foundation

/// How a fetch is executed: a SELECT of candidate rows, and what is left for memory.
package struct SQLQueryPlan {
  package let entity: SQLEntity
  package let shape: SQLRowShape
  /// FROM with its joins, up to and without ORDER BY.
  package let body: SQLFragment
  package let ordering: [SQLFragment]
  /// What SQL could not say of the predicate; tested on each row found.
  package let remainder: ObjectPredicate?
  /// Not empty when memory must sort.
  package let memorySort: [ObjectSortDescriptor]
  package let alias: String
  /// The columns of a dictionary fetch.
  package let dictionary: SQLDictionaryPlan?
  /// Whether the dictionaries are made of whole rows.
  package let isDictionaryInMemory: Bool
  private let limit: Int
  private let offset: Int

  /// The most parameters of one statement; SQLite as it comes takes 32,766.
  package static let maximumParameters = 30_000
  /// How deep SQL may nest; SQLite's parser has room for 100.
  private static let maximumNesting = 75

  /// - Parameter store: the store asked, so that objects of others match nothing.
  /// - Throws: ``CoreDataError`` for key paths the entity does not have and the like.
  package init(
    _ request: StoreFetchRequest, schema: SQLSchema, store: StoreIdentity? = nil
  ) throws {
    entity = schema.entity(request.entity)
    shape = schema.shape(entity, includingSubentities: request.includesSubentities)
    limit = max(0, request.limit)
    offset = max(0, request.offset)
    let compiler = SQLCompiler(schema: schema, entity: entity, store: store)
    alias = compiler.root.alias
    var conditions: [SQLFragment] = []
    if let numbers = entity.numberCondition(
      alias: alias, includingSubentities: request.includesSubentities)
    {
      conditions.append(SQLFragment(numbers))
    }
    var left: [PredicateNode] = []
    var parameters = 0
    for member in Self.conjunction(request.predicate?.node) {
      do {
        let condition = try compiler.condition(member)
        parameters += condition.bindings.count
        guard parameters <= Self.maximumParameters, condition.nesting <= Self.maximumNesting else {
          parameters -= condition.bindings.count
          throw SQLUnsupported()
        }
        conditions.append(condition)
      } catch is SQLUnsupported {
        try compiler.checkKeyPaths(of: member)
        left.append(member)
      }
    }
    remainder =
      left.isEmpty
      ? nil
      : ObjectPredicate.make(
        (left.count == 1 ? left[0] : .compound(.and, left)).withStoredConstants)
    var columns: SQLDictionaryPlan?
    var order: [SQLFragment] = []
    var sort: [ObjectSortDescriptor] = []
    if case .dictionaries(let shape) = request.result {
      do {
        let made = try SQLDictionaryPlan(shape, compiler: compiler)
        // Sort keys may name columns, which may be aggregates.
        compiler.allowsAggregates = true
        defer { compiler.allowsAggregates = false }
        order = try compiler.ordering(request.sortDescriptors)
        columns = made
      } catch is SQLUnsupported {
        for column in shape.columns {
          for path in column.expression.node.contents.keyPaths { try compiler.check(path) }
        }
      }
      isDictionaryInMemory = columns == nil
    } else {
      isDictionaryInMemory = false
      do {
        order = try compiler.ordering(request.sortDescriptors)
      } catch is SQLUnsupported {
        sort = request.sortDescriptors
      }
      if !order.isEmpty { order.append(SQLFragment("\(alias).Z_PK")) }
    }
    dictionary = columns
    ordering = order
    memorySort = sort
    let filter =
      conditions.isEmpty ? SQLFragment("") : " WHERE " + .grouped(conditions, by: " AND ")
    body = " FROM \(entity.table) \(alias)\(compiler.root.joinClause)" + filter
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
  package var limitsInMemory: Bool {
    remainder != nil || !memorySort.isEmpty || isDictionaryInMemory
  }

  /// The rows that may match, in order.
  package func rows() -> SQLFragment {
    limited(ordered("SELECT \(shape.list)" + body))
  }

  /// Entity numbers and keys only.
  package func keys() -> SQLFragment {
    // In a table of one entity the number need not be read, which is most of the work.
    let number = entity.sharesTable ? "\(alias).Z_ENT" : "\(entity.number)"
    let select: SQLFragment = "SELECT \(number), \(alias).Z_PK" + body
    // With nothing but keys to read, SQLite would go through an index, in its order.
    let isUnordered = ordering.isEmpty && !body.sql.contains(" WHERE ")
    return limited(isUnordered ? select + " ORDER BY \(alias).Z_PK" : ordered(select))
  }

  /// The number of matches; only when nothing is left for memory.
  package func count() -> SQLFragment {
    if limit == 0 && offset == 0 { return "SELECT COUNT(*)" + body }
    return "SELECT COUNT(*) FROM (" + limited("SELECT 1" + body) + ")"
  }

  package func ordered(_ select: SQLFragment) -> SQLFragment {
    if ordering.isEmpty { return select }
    return select + " ORDER BY " + .joined(ordering, by: ", ")
  }

  package func limited(_ select: SQLFragment) -> SQLFragment {
    if limitsInMemory { return select }
    return withLimit(select)
  }

  package func withLimit(_ select: SQLFragment) -> SQLFragment {
    if limit == 0 && offset == 0 { return select }
    return select
      + SQLFragment(
        " LIMIT ? OFFSET ?",
        [.integer(limit == 0 ? -1 : Int64(limit)), .integer(Int64(offset))])
  }

  /// The part of a list that limit and offset leave, for lists made in memory.
  package func slice<T>(_ list: [T]) -> [T] {
    let rest = list.dropFirst(offset)
    return limit == 0 ? Array(rest) : Array(rest.prefix(limit))
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
      guard let double = Double("\(number)"), let rounded = Decimal(string: "\(double)") else {
        return self
      }
      return .decimal(rounded)
    case .array(let members): return .array(members.map(\.asStored))
    case .set(let members): return .set(Set(members.map(\.asStored)))
    case .null, .boolean, .integer, .double, .string, .date, .data, .uuid, .url, .objectID, .object,
      .dictionary:
      return self
    }
  }
}
