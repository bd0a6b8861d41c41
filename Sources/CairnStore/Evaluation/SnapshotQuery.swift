import CairnModel
import CairnPredicates
import Foundation

/// A fetch over rows that are in memory: predicate, sort, offset and limit, and the shape of the
/// result.
///
/// Stores without a database use it, and coordinators over several stores.
public struct SnapshotQuery {
  let request: StoreFetchRequest
  let source: any SnapshotSource

  public init(_ request: StoreFetchRequest, source: any SnapshotSource) {
    self.request = request
    self.source = source
  }

  /// The result over the given rows, which are all of the request's entities.
  ///
  /// - Throws: 134070 when predicate or sort cannot be evaluated.
  public func run(over rows: some Sequence<RowSnapshot>) throws -> StoreFetchResult {
    do {
      var found = try matches(in: rows)
      switch request.result {
      case .count:
        return .count(window(found.count))
      case .snapshots:
        try sort(&found)
        return .snapshots(window(found).map(\.snapshot))
      case .objectIDs:
        try sort(&found)
        return .objectIDs(window(found).map(\.objectID))
      case .dictionaries(let columns):
        let rows = try DictionaryRows(columns: columns, entity: request.entity, source: source)
          .make(from: found) { try sort(&$0) }
        return .dictionaries(Array(window(rows)))
      }
    } catch let error as PredicateEvaluationError {
      throw CoreDataError(
        .persistentStoreOperation, "The fetch cannot be evaluated: \(error.reason)",
        underlyingError: error)
    }
  }

  private func matches(in rows: some Sequence<RowSnapshot>) throws -> [SnapshotView] {
    let predicate = request.predicate
    var found: [SnapshotView] = []
    for row in rows {
      try request.monitor?.noteRow()
      let view = SnapshotView(row, source: source)
      if try predicate?.test(view) ?? true { found.append(view) }
    }
    return found
  }

  /// Sorts by the request's descriptors; rows that they do not tell apart keep their order.
  private func sort(_ views: inout [SnapshotView]) throws {
    try sort(&views) { $0 }
  }

  private func sort<Row>(_ rows: inout [Row], reading object: (Row) -> Any) throws {
    rows = try ObjectSorting.ordered(rows, by: request.sortDescriptors, reading: object)
  }

  /// Sorts grouped results; their columns can be sort keys.
  private func sort(_ rows: inout [DictionaryRows.Row]) throws {
    try sort(&rows) { $0 }
  }

  private func window<Row>(_ rows: [Row]) -> ArraySlice<Row> {
    let rest = rows.dropFirst(max(request.offset, 0))
    return request.limit > 0 ? rest.prefix(request.limit) : rest
  }

  private func window(_ count: Int) -> Int {
    let rest = max(count - max(request.offset, 0), 0)
    return request.limit > 0 ? min(rest, request.limit) : rest
  }
}
