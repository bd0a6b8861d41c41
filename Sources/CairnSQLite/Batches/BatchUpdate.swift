import CairnModel
import CairnSQL
import CairnStore

/// Gives the rows a predicate finds new values, computed from the old ones.
struct BatchUpdate {
  let transaction: BatchTransaction
  private var lookup: RowLookup { transaction.lookup }

  init(transaction: BatchTransaction) {
    self.transaction = transaction
  }

  func update(
    _ request: StoreFetchRequest, _ values: [String: ObjectExpression]
  ) throws -> BatchOutcome {
    let requested = lookup.schema.entity(request.entity)
    for name in values.keys { _ = try transaction.slot(name, of: requested) }
    let graph = StoredGraph(lookup: lookup)
    // All new values are computed from the rows as they were before the first is written.
    let changed = try transaction.matches(request).map { row in
      (row, try newValues(values, of: row, graph))
    }
    try graph.checkReading()
    for (row, values) in changed { try transaction.change(row, to: values) }
    return BatchOutcome(updated: changed.map(\.0.objectID))
  }

  private func newValues(
    _ values: [String: ObjectExpression], of row: RowSnapshot, _ graph: StoredGraph
  ) throws -> [Int: AttributeValue] {
    let entity = lookup.schema.entity(row.objectID.entity)
    var result: [Int: AttributeValue] = [:]
    for (name, expression) in values {
      let slot = try transaction.slot(name, of: entity)
      let value = try expression.value(for: graph.view(row))
      if let attribute = entity.layout.slots[slot].attribute {
        do {
          result[slot] = try AttributeCoding.encode(value, for: attribute)
        } catch {
          throw CoreDataError(.persistentStoreOperation, "\(error)", underlyingError: error)
        }
      } else if let object = AttributeCoding.unwrapped(value) {
        guard let object = object as? any ObjectIdentifying else {
          throw CoreDataError(
            .persistentStoreOperation,
            "The new value of \(entity.name).\(name) must be an object, an object ID or nil.")
        }
        result[slot] = .object(object.objectID)
      } else {
        result[slot] = .null
      }
    }
    return result
  }
}
