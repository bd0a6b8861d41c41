import CairnModel
import CairnSQL
import CairnStore

/// A fetch that the evaluator does, over rows in one snapshot.
struct RowScan {
  let content: StoreContent
  let connection: PostgreSQLConnection
  let request: StoreFetchRequest

  /// Over all rows of the entity.
  func run() throws -> StoreFetchResult {
    let cursor = RowCursor(connection: connection)
    return try cursor.consistently { try run(resuming: cursor) }
  }

  /// Over all rows of the entity, in the snapshot of a cursor.
  func run(resuming cursor: RowCursor) throws -> StoreFetchResult {
    try KeyPathCheck.check(request)
    var all = request
    (all.predicate, all.sortDescriptors, all.result) = (nil, [], .snapshots)
    (all.limit, all.offset) = (0, 0)
    return try run(over: content.plan(all, store: nil).candidates(), cursor)
  }

  /// Over rows among which are all that may match.
  func run(over candidates: SQLFragment, _ cursor: RowCursor) throws -> StoreFetchResult {
    let reading = PostgreSQLRowReading(content: content, connection: connection)
    let shape = content.shape(of: request)
    var rows: [RowSnapshot] = []
    try cursor.read(candidates, portion: PostgreSQLFetch.portion) { found in
      rows += try (0..<found.count).compactMap { try reading.snapshot(found, $0, shape) }
    }
    // They come in any order, and those that are equal to the sort descriptors keep it.
    rows.sort { ($0.rowKey ?? 0) < ($1.rowKey ?? 0) }
    let graph = RowGraph(reading)
    graph.prepare(rows, for: request.keyPaths)
    let result = try SnapshotQuery(request, source: graph).run(over: rows)
    try graph.checkReading()
    return result
  }
}

extension StoreFetchRequest {
  /// What predicate, order and columns read of rows.
  fileprivate var keyPaths: Set<String> {
    var paths = predicate?.node.contents.keyPaths ?? []
    paths.formUnion(sortDescriptors.compactMap(\.key))
    if case .dictionaries(let columns) = result {
      for column in columns.columns { paths.formUnion(column.expression.node.contents.keyPaths) }
      for group in columns.groupBy { paths.formUnion(group.node.contents.keyPaths) }
    }
    return paths
  }
}
