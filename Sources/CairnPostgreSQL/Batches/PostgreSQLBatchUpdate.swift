import CairnModel
import CairnPredicates
import CairnSQL
import CairnStore

/// Gives the rows that a predicate finds new values, computed from the old ones.
///
/// Where all are constants, no values are read. The evaluator computes the others, so that they are what they are in any store.
struct PostgreSQLBatchUpdate {
  let writer: BatchWriter

  func update(
    _ request: StoreFetchRequest, _ values: [String: ObjectExpression]
  ) throws -> BatchOutcome {
    let requested = writer.schema.entity(request.entity)
    for name in values.keys { _ = try requested.storedSlot(name) }
    let updates = try constantUpdates(request, values, requested) ?? computed(request, values)
    if updates.isEmpty { return BatchOutcome() }
    var save = SaveChangesRequest()
    save.updates = updates
    try writer.write(save)
    return BatchOutcome(updated: updates.map(\.snapshot.objectID))
  }

  private func constantUpdates(
    _ request: StoreFetchRequest, _ values: [String: ObjectExpression], _ requested: SQLEntity
  ) throws -> [SaveChangesRequest.Update]? {
    let isAttributes = try values.keys.allSatisfy {
      requested.layout.slots[try requested.storedSlot($0)].attribute != nil
    }
    guard isAttributes, let constants = try requested.constants(values) else { return nil }
    return try writer.matches(request).map { row in
      writer.update(
        row, to: writer.schema.entity(row.id.entity).overwritten(by: constants))
    }
  }

  /// All are computed from the rows as they were before the first is written.
  private func computed(
    _ request: StoreFetchRequest, _ values: [String: ObjectExpression]
  ) throws -> [SaveChangesRequest.Update] {
    let paths = values.values.reduce(into: Set<String>()) {
      $0.formUnion($1.node.contents.keyPaths)
    }
    var request = request
    request.result = .snapshots
    var updates: [SaveChangesRequest.Update] = []
    var failure: (any Error)?
    func compute(_ rows: [RowSnapshot]) throws {
      let graph = RowGraph(writer.reading)
      graph.prepare(rows, for: paths)
      for row in rows {
        let entity = writer.schema.entity(row.objectID.entity)
        let new = try entity.newValues(values, of: graph.view(row))
        try graph.checkReading()
        updates.append(
          writer.update(FoundRow(id: row.objectID, version: row.version), to: new))
      }
    }
    let execution = try writer.execution(request)
    try HeldSnapshot.reading(on: writer.connection) {
      let isDone = try execution.run(portion: PostgreSQLFetch.portion) { result in
        guard failure == nil, case .snapshots(let rows) = result else { return }
        do { try compute(rows) } catch { failure = error }
      }
      if !isDone, case .snapshots(let rows) = try execution.run() { try compute(rows) }
    }
    if let failure { throw failure }
    return updates
  }
}
