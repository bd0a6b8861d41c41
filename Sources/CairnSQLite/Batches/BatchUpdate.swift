import CairnModel
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
    for name in values.keys { _ = try transaction.slot(name, of: requested) }
    if !needsRows(values, of: requested) {
      if let constants = try constants(values, of: requested) {
        return try set(constants, request)
      }
      if let outcome = try setComputed(values, request, requested) { return outcome }
    }
    let graph = StoredGraph(lookup: lookup)
    // All new values are computed from the rows as they were before the first is written.
    let changed = try transaction.matches(request).map { row in
      (row, try newValues(values, of: row, graph))
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

  /// The values where all are constants.
  private func constants(
    _ values: [String: ObjectExpression], of entity: SQLEntity
  ) throws -> [String: AttributeValue]? {
    var result: [String: AttributeValue] = [:]
    for (name, expression) in values {
      guard case .constant = expression.node else { return nil }
      result[name] = try value(expression.value(for: nil), for: name, of: entity)
    }
    return result
  }

  private func set(
    _ values: [String: AttributeValue], _ request: StoreFetchRequest
  ) throws -> BatchOutcome {
    let ids = try transaction.matchingIDs(request)
    for rows in transaction.grouped(ids) {
      var bySlot: [Int: AttributeValue] = [:]
      for (name, value) in values { bySlot[try transaction.slot(name, of: rows.entity)] = value }
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
    let result = try FetchExecution(lookup: lookup, request: fetch, plan: plan).run()
    guard case .dictionaries(let rows) = result else { return nil }
    var updated: [ManagedObjectID] = []
    updated.reserveCapacity(rows.count)
    for row in rows {
      guard case .object(let id)? = row[""] else { continue }
      let entity = lookup.schema.entity(id.entity)
      var bySlot: [Int: AttributeValue] = [:]
      for name in names {
        let computed = row[name].flatMap { AttributeCoding.decode($0) }
        bySlot[try transaction.slot(name, of: entity)] = try value(
          computed, for: name, of: requested)
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

  // MARK: Values

  /// A new value as the attribute stores it.
  private func value(
    _ value: Any?, for name: String, of entity: SQLEntity
  ) throws -> AttributeValue {
    let slot = try transaction.slot(name, of: entity)
    guard let attribute = entity.layout.slots[slot].attribute else { return .null }
    do {
      return try AttributeCoding.encode(value, for: attribute)
    } catch {
      throw CoreDataError(.persistentStoreOperation, "\(error)", underlyingError: error)
    }
  }

  private func newValues(
    _ values: [String: ObjectExpression], of row: RowSnapshot, _ graph: StoredGraph
  ) throws -> [Int: AttributeValue] {
    let entity = lookup.schema.entity(row.objectID.entity)
    var result: [Int: AttributeValue] = [:]
    for (name, expression) in values {
      let slot = try transaction.slot(name, of: entity)
      let new = try expression.value(for: graph.view(row))
      if entity.layout.slots[slot].attribute != nil {
        result[slot] = try value(new, for: name, of: entity)
      } else if let object = AttributeCoding.unwrapped(new) {
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
