import CairnModel
import CairnStore

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

  /// - Throws: ``CoreDataError`` for key paths the entity does not have and the like.
  package init(_ request: StoreFetchRequest, schema: SQLSchema) throws {
    entity = schema.entity(request.entity)
    shape = schema.shape(entity, includingSubentities: request.includesSubentities)
    limit = max(0, request.limit)
    offset = max(0, request.offset)
    let compiler = SQLCompiler(schema: schema, entity: entity)
    alias = compiler.root.alias
    var conditions: [SQLFragment] = []
    if let numbers = entity.numberCondition(
      alias: alias, includingSubentities: request.includesSubentities)
    {
      conditions.append(SQLFragment(numbers))
    }
    var left: [PredicateNode] = []
    for member in Self.conjunction(request.predicate?.node) {
      do {
        conditions.append(try compiler.condition(member))
      } catch is SQLUnsupported {
        try compiler.checkKeyPaths(of: member)
        left.append(member)
      }
    }
    remainder =
      left.isEmpty
      ? nil : ObjectPredicate.make(left.count == 1 ? left[0] : .compound(.and, left))
    var columns: SQLDictionaryPlan?
    if case .dictionaries(let shape) = request.result {
      do {
        columns = try SQLDictionaryPlan(shape, compiler: compiler)
      } catch is SQLUnsupported {
        for column in shape.columns {
          for path in column.expression.node.contents.keyPaths { try compiler.check(path) }
        }
      }
      isDictionaryInMemory = columns == nil
    } else {
      isDictionaryInMemory = false
    }
    dictionary = columns
    var order: [SQLFragment] = []
    var sort: [ObjectSortDescriptor] = []
    do {
      order = try compiler.ordering(request.sortDescriptors)
    } catch is SQLUnsupported {
      sort = request.sortDescriptors
    }
    if isDictionaryInMemory {
      (order, sort) = ([], [])
    } else if columns == nil, !order.isEmpty {
      order.append(SQLFragment("\(alias).Z_PK"))
    }
    ordering = order
    memorySort = sort
    let filter = conditions.isEmpty ? SQLFragment("") : " WHERE " + .joined(conditions, by: " AND ")
    body = " FROM \(entity.table) \(alias)\(compiler.root.joinClause)" + filter
  }

  /// The members of a top-level conjunction, so that each is judged by itself.
  private static func conjunction(_ node: PredicateNode?) -> [PredicateNode] {
    guard let node else { return [] }
    if case .compound(.and, let members) = node { return members.flatMap(conjunction) }
    if case .value(true) = node { return [] }
    return [node]
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
    limited(ordered("SELECT \(alias).Z_ENT, \(alias).Z_PK" + body))
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
