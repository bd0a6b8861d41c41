import CairnModel
import CairnPredicates
import CairnSQL
import CairnStore

/// Gives the rows a predicate finds new values, computed from the old ones.
///
/// Constants are set by one statement for all rows; of expressions only the results are read. Rows
/// are read as a whole where memory must evaluate an expression, and for values in files.
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
    for name in values.keys { _ = try requested.storedSlot(name) }
    if !needsRows(values, of: requested) {
      if let constants = try requested.constants(values) {
        return try set(constants, request)
      }
      if let outcome = try setComputed(values, request, requested) { return outcome }
    }
    let graph = StoredGraph(lookup: lookup)
    // All new values are computed from the rows as they were before the first is written.
    let changed = try transaction.matches(request).map { row in
      (row, try lookup.schema.entity(row.objectID.entity).newValues(values, of: graph.view(row)))
    }
    try graph.checkReading()
    for (row, values) in changed { try transaction.change(row, to: values) }
    return BatchOutcome(updated: changed.map(\.0.objectID))
  }

  /// Whether a property is written with the row at hand: relationships, and data in files.
  private func needsRows(_ values: [String: ObjectExpression], of entity: SQLEntity) -> Bool {
    values.keys.contains { name in
      guard let slot = entity.layout.slotByName[name],
        case .attribute(_, _, false) = entity.slots[slot]
      else { return true }
      return false
    }
  }

  // MARK: Constants

  private func set(
    _ values: [String: AttributeValue], _ request: StoreFetchRequest
  ) throws -> BatchOutcome {
    let ids = try transaction.matchingIDs(request)
    for rows in transaction.grouped(ids) {
      var bySlot: [Int: AttributeValue] = [:]
      for (name, value) in values { bySlot[try rows.entity.storedSlot(name)] = value }
      try transaction.change(rows, to: bySlot)
    }
    return BatchOutcome(updated: ids)
  }

  // MARK: Expressions

  /// Reads what SQL makes of the expressions, then writes it.
  ///
  /// - Returns: nil when SQL cannot say all of it.
  private func setComputed(
    _ values: [String: ObjectExpression], _ request: StoreFetchRequest, _ requested: SQLEntity
  ) throws -> BatchOutcome? {
    let names = values.keys.sorted()
    // Columns of the others are not what programs see.
    guard names.allSatisfy({ Self.isPlain($0, of: requested) }) else { return nil }
    var fetch = request
    var columns: [StoreFetchRequest.DictionaryColumns.Column] = [
      .init(key: "", expression: .expressionForEvaluatedObject(), type: .objectID)
    ]
    for name in names {
      guard let expression = values[name] else { continue }
      columns.append(.init(key: name, expression: expression, type: .undefined))
    }
    fetch.result = .dictionaries(.init(columns: columns))
    let plan = try SQLQueryPlan(fetch, schema: lookup.schema, store: lookup.reader.identity)
    guard plan.dictionary != nil, plan.remainder == nil else { return nil }
    let result = try SQLiteFetch(lookup: lookup, request: fetch, plan: plan).run()
    guard case .dictionaries(let rows) = result else { return nil }
    var updated: [ManagedObjectID] = []
    updated.reserveCapacity(rows.count)
    for row in rows {
      guard case .object(let id)? = row[""] else { continue }
      let entity = lookup.schema.entity(id.entity)
      var bySlot: [Int: AttributeValue] = [:]
      for name in names {
        let computed = row[name].flatMap { AttributeCoding.decode($0) }
        bySlot[try entity.storedSlot(name)] = try requested.encoded(computed, for: name)
      }
      try transaction.write(bySlot, to: id, entity)
      updated.append(id)
    }
    for rows in transaction.grouped(updated) where !rows.entity.derivedSlots.isEmpty {
      for keys in rows.portionsOfKeys {
        try DerivedValues.refresh(rows.entity, keys: keys, lookup)
      }
    }
    return BatchOutcome(updated: updated)
  }

  /// Whether the attribute's column holds its value as it is.
  private static func isPlain(_ name: String, of entity: SQLEntity) -> Bool {
    guard let slot = entity.layout.slotByName[name],
      let attribute = entity.layout.slots[slot].attribute
    else { return false }
    switch attribute.attributeType {
    case .integer16, .integer32, .integer64, .decimal, .double, .float, .string, .boolean, .date,
      .uuid, .uri:
      return true
    case .undefined, .binaryData, .transformable, .objectID, .composite: return false
    }
  }
}
