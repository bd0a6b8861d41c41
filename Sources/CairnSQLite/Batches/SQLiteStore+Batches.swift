import CairnModel
import CairnSQL
import CairnStore
import Foundation

// Batch requests: one transaction inside the store, without objects.

extension SQLiteStore: BatchExecuting {
  public func executeBatch(
    _ request: StoreBatchRequest, author: String?, contextName: String?
  ) throws -> [ManagedObjectID] {
    let records = state.withLock { $0.recordsHistory }
    var batch: BatchTransaction?
    do {
      let ids = try write(doing: "execute a batch request") { lookup -> [ManagedObjectID]? in
        let work = BatchTransaction(
          lookup: lookup,
          history: records
            ? try HistoryWriter(
              lookup: lookup, author: author, contextName: contextName, date: Date()) : nil)
        batch = work
        let ids = try work.run(request)
        try work.finish()
        return ids
      }
      batch?.removeObsoleteFiles()
      return ids ?? []
    } catch {
      batch?.discardFiles()
      throw error
    }
  }
}

/// The work of one batch request inside its transaction.
final class BatchTransaction {
  let lookup: RowLookup
  let rows: RowWriter
  private var history: HistoryWriter?

  init(lookup: RowLookup, history: HistoryWriter?) {
    self.lookup = lookup
    self.history = history
    rows = RowWriter(lookup: lookup)
  }

  func discardFiles() { lookup.reader.files.remove(rows.newFiles) }
  func removeObsoleteFiles() { lookup.reader.files.remove(rows.obsoleteFiles) }
  func finish() throws { try history?.finish() }

  func run(_ request: StoreBatchRequest) throws -> [ManagedObjectID] {
    switch request {
    case .insert(let entity, let rows): return try insert(entity, rows)
    case .update(let entity, let includesSubentities, let predicate, let values):
      return try update(
        StoreFetchRequest(
          entity: entity, includesSubentities: includesSubentities, predicate: predicate), values)
    case .delete(let request): return try BatchDeletion(transaction: self).delete(request)
    }
  }

  /// The rows a request finds.
  func matches(_ request: StoreFetchRequest) throws -> [RowSnapshot] {
    var request = request
    request.result = .snapshots
    let plan = try SQLQueryPlan(request, schema: lookup.schema)
    let result = try FetchExecution(lookup: lookup, request: request, plan: plan).run()
    guard case .snapshots(let rows) = result else { return [] }
    return rows
  }

  func record(
    _ kind: HistoryChangeKind, _ entity: SQLEntity, _ row: RowSnapshot, slots: [Int] = []
  ) throws {
    guard history != nil else { return }
    let key = row.objectID.rowKey ?? 0
    switch kind {
    case .insert: try history?.record(.insert, entity: entity, key: key)
    case .update:
      try history?.record(
        .update, entity: entity, key: key, columns: entity.history.mask(slots: slots, toManys: []))
    case .delete:
      try history?.record(
        .delete, entity: entity, key: key,
        tombstone: entity.history.tombstoneSlots.map { row[$0] })
    }
  }

  // MARK: Insert

  private func insert(
    _ description: EntityDescription, _ dictionaries: [[String: AttributeValue]]
  ) throws -> [ManagedObjectID] {
    let entity = lookup.schema.entity(description)
    if description.isAbstract {
      throw CoreDataError(
        .persistentStoreOperation, "\(entity.name) is abstract; it has no objects of its own.")
    }
    let ids = try KeyReservation.reserve(
      for: [EntityDescription](repeating: description, count: dictionaries.count), lookup)
    for (id, dictionary) in zip(ids, dictionaries) {
      var values = entity.layout.defaultValues
      for (name, value) in dictionary { values[try slot(name, of: entity)] = value }
      let row = RowSnapshot.make(objectID: id, version: 0, values: values)
      try rows.insert(row, entity: entity, version: 1)
      try record(.insert, entity, row)
      if !entity.derivedSlots.isEmpty {
        try DerivedValues.refresh(entity, key: id.rowKey ?? 0, lookup)
      }
    }
    return ids
  }

  private func slot(_ name: String, of entity: SQLEntity) throws -> Int {
    guard let slot = entity.layout.slotByName[name], entity.slots[slot].column != nil else {
      throw SQLQueryError.unknownKeyPath(name, entity)
    }
    return slot
  }

  // MARK: Update

  private func update(
    _ request: StoreFetchRequest, _ values: [String: ObjectExpression]
  ) throws -> [ManagedObjectID] {
    let requested = lookup.schema.entity(request.entity)
    for name in values.keys { _ = try slot(name, of: requested) }
    let graph = StoredGraph(lookup: lookup)
    let found = try matches(request)
    // All new values are computed from the rows as they were before the first is written.
    let changed = try found.map { row in
      (row, try newValues(values, of: row, graph))
    }
    try graph.checkReading()
    for (row, values) in changed {
      let entity = lookup.schema.entity(row.objectID.entity)
      var all = row.values
      for (slot, value) in values { all[slot] = value }
      let slots = values.keys.sorted()
      let new = RowSnapshot.make(objectID: row.objectID, version: row.version, values: all)
      _ = try rows.update(new, slots: slots, entity: entity, to: row.version + 1, expected: nil)
      try record(.update, entity, new, slots: slots)
      if !entity.derivedSlots.isEmpty {
        try DerivedValues.refresh(entity, key: row.objectID.rowKey ?? 0, lookup)
      }
    }
    return changed.map(\.0.objectID)
  }

  private func newValues(
    _ values: [String: ObjectExpression], of row: RowSnapshot, _ graph: StoredGraph
  ) throws -> [Int: AttributeValue] {
    let entity = lookup.schema.entity(row.objectID.entity)
    var result: [Int: AttributeValue] = [:]
    for (name, expression) in values {
      let slot = try slot(name, of: entity)
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
