import CairnModel
import CairnSQL
import CairnStore
import Foundation

// Batch requests: one transaction inside the store, without objects.

extension SQLiteStore: BatchExecuting {
  public func executeBatch(
    _ request: StoreBatchRequest, author: String?, contextName: String?
  ) throws -> BatchOutcome {
    let records = state.withLock { $0.recordsHistory }
    var batch: BatchTransaction?
    do {
      let outcome = try write(doing: "execute a batch request") { lookup -> BatchOutcome? in
        let work = BatchTransaction(
          lookup: lookup,
          history: records
            ? try HistoryWriter(
              lookup: lookup, author: author, contextName: contextName, date: Date()) : nil)
        batch = work
        let outcome = try work.run(request)
        try work.finish()
        return outcome
      }
      removeUnneededFiles(batch?.rows.obsoleteFiles ?? [])
      return outcome ?? BatchOutcome()
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
  func finish() throws { try history?.finish() }

  func run(_ request: StoreBatchRequest) throws -> BatchOutcome {
    switch request {
    case .insert(let entity, let rows, let duplicates):
      return try BatchInsertion(transaction: self, entity: entity, duplicates: duplicates)
        .insert(rows)
    case .update(let entity, let includesSubentities, let predicate, let values):
      return try BatchUpdate(transaction: self).update(
        StoreFetchRequest(
          entity: entity, includesSubentities: includesSubentities, predicate: predicate), values)
    case .delete(let request): return try BatchDeletion(transaction: self).delete(request)
    }
  }

  /// The rows a request finds.
  func matches(_ request: StoreFetchRequest) throws -> [RowSnapshot] {
    var request = request
    request.result = .snapshots
    let plan = try SQLQueryPlan(request, schema: lookup.schema, store: lookup.reader.identity)
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

  /// Writes new values of a row that is there, whatever its version, and computes what is derived
  /// from them.
  func change(_ row: RowSnapshot, to values: [Int: AttributeValue]) throws {
    let entity = lookup.schema.entity(row.objectID.entity)
    var all = row.values
    for (slot, value) in values { all[slot] = value }
    let slots = values.keys.sorted()
    let new = RowSnapshot.make(objectID: row.objectID, version: row.version, values: all)
    _ = try rows.update(new, slots: slots, entity: entity, to: row.version &+ 1, expected: nil)
    try record(.update, entity, new, slots: slots)
    if !entity.derivedSlots.isEmpty {
      try DerivedValues.refresh(entity, key: row.objectID.rowKey ?? 0, lookup)
    }
  }

  /// The slot of a property that rows of the entity store.
  ///
  /// - Throws: 134060 for a name that is none.
  func slot(_ name: String, of entity: SQLEntity) throws -> Int {
    guard let slot = entity.layout.slotByName[name], entity.slots[slot].column != nil else {
      throw SQLQueryError.unknownKeyPath(name, entity)
    }
    return slot
  }
}
