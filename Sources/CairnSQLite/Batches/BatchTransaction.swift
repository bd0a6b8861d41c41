import CairnModel
import CairnSQL
import CairnStore

/// The work of one batch request inside its transaction.
final class BatchTransaction {
  let lookup: RowLookup
  let rows: RowWriter
  let deleter: RowDeleter
  private let history: HistoryWriter?

  init(lookup: RowLookup, history: HistoryWriter?) {
    self.lookup = lookup
    self.history = history
    rows = RowWriter(lookup: lookup)
    deleter = RowDeleter(lookup: lookup)
  }

  func discardFiles() { lookup.reader.files.remove(rows.newFiles) }
  /// Files that nothing refers to any more once the transaction has committed.
  var obsoleteFiles: [String] { rows.obsoleteFiles + deleter.obsoleteFiles }
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
    guard case .snapshots(let rows) = try fetch(request, .snapshots) else { return [] }
    return rows
  }

  /// The IDs of the rows a request finds; their values are read only where memory must decide.
  func matchingIDs(_ request: StoreFetchRequest) throws -> [ManagedObjectID] {
    guard case .objectIDs(let ids) = try fetch(request, .objectIDs) else { return [] }
    return ids
  }

  /// The same, by their keys and in runs of one entity.
  func matchingRows(_ request: StoreFetchRequest) throws -> [EntityRows] {
    try execution(of: request, .objectIDs).rowKeys()
  }

  private func fetch(
    _ request: StoreFetchRequest, _ form: StoreFetchRequest.Result
  ) throws -> StoreFetchResult {
    try execution(of: request, form).run()
  }

  private func execution(
    of request: StoreFetchRequest, _ form: StoreFetchRequest.Result
  ) throws -> SQLiteFetch {
    var request = request
    request.result = form
    let plan = try SQLQueryPlan(request, schema: lookup.schema, store: lookup.reader.identity)
    return SQLiteFetch(lookup: lookup, request: request, plan: plan)
  }

  /// Rows by their exact entity, in the order of the entities' numbers.
  func grouped(_ ids: [ManagedObjectID]) -> [EntityRows] { runs(of: ids).grouped }

  /// The same in the order of the list.
  func runs(of ids: [ManagedObjectID]) -> [EntityRows] {
    var runs: [EntityRows] = []
    var recent: (description: EntityDescription, entity: SQLEntity)?
    for id in ids {
      guard let key = id.rowKey else { continue }
      if recent?.description !== id.entity {
        recent = (id.entity, lookup.schema.entity(id.entity))
      }
      if let recent { runs.add(key, of: recent.entity) }
    }
    return runs
  }

  // MARK: History

  var recordsHistory: Bool { history != nil }

  func record(
    _ kind: HistoryChangeKind, _ entity: SQLEntity, key: Int64, slots: [Int] = [],
    tombstone: [AttributeValue] = []
  ) throws {
    guard history != nil else { return }
    switch kind {
    case .insert: try history?.record(.insert, entity: entity, key: key)
    case .update:
      try history?.record(
        .update, entity: entity, key: key, columns: entity.history.mask(slots: slots, toManys: []))
    case .delete: try history?.record(.delete, entity: entity, key: key, tombstone: tombstone)
    }
  }

  // MARK: Changes

  /// Gives many rows of one entity the same new values, whatever their versions, in a few
  /// statements.
  ///
  /// - Parameter values: by slot; attributes that are not kept in files, and nil for to-ones.
  func change(_ rows: EntityRows, to values: [Int: AttributeValue]) throws {
    let entity = rows.entity
    let slots = values.keys.sorted()
    let settings = slots.flatMap { slot -> [(column: String, value: AttributeValue)] in
      switch entity.slots[slot] {
      case .transient: return []
      case .attribute(let column, _, _): return [(column, values[slot] ?? .null)]
      case .toOne(let column, let companion, _):
        return [(column, .null)] + (companion.map { [($0, .null)] } ?? [])
      }
    }
    let list = settings.map { "\($0.column) = ?, " }.joined()
    for keys in rows.portionsOfKeys {
      let statement = try lookup.connection.statement(
        "UPDATE \(entity.table) SET \(list)Z_OPT = IFNULL(Z_OPT, 0) + 1 "
          + "WHERE Z_PK IN (SELECT value FROM json_each(?))")
      defer { statement.reset() }
      for (index, setting) in settings.enumerated() {
        statement.bind(setting.value, at: Int32(index + 1))
      }
      statement.bind(KeyList.json(keys), at: Int32(settings.count + 1))
      try statement.run()
      for key in keys where recordsHistory {
        try record(.update, entity, key: key, slots: slots)
      }
      try DerivedValues.refresh(entity, keys: keys, lookup)
    }
  }

  /// Writes new values of attributes of one row, whatever its version; without what is derived from
  /// them.
  func write(
    _ values: [Int: AttributeValue], to id: ManagedObjectID, _ entity: SQLEntity
  ) throws {
    let slots = values.keys.sorted()
    let columns = slots.compactMap { entity.slots[$0].column }
    let key = id.rowKey ?? 0
    let statement = try lookup.connection.statement(
      "UPDATE \(entity.table) SET \(columns.map { "\($0) = ?, " }.joined())"
        + "Z_OPT = IFNULL(Z_OPT, 0) + 1 WHERE Z_PK = ?")
    defer { statement.reset() }
    for (index, slot) in slots.enumerated() {
      statement.bind(values[slot] ?? .null, at: Int32(index + 1))
    }
    statement.bind(key, at: Int32(slots.count + 1))
    try statement.run()
    try record(.update, entity, key: key, slots: slots)
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
    try record(.update, entity, key: row.objectID.rowKey ?? 0, slots: slots)
    if !entity.derivedSlots.isEmpty {
      try DerivedValues.refresh(entity, key: row.objectID.rowKey ?? 0, lookup)
    }
  }
}
