import CairnModel
import CairnSQL
import CairnStore

/// Inserts rows given by property name, and deals with those whose unique values are taken.
struct BatchInsertion {
  let transaction: BatchTransaction
  let entity: SQLEntity
  let duplicates: BatchDuplicateRule
  private var lookup: RowLookup { transaction.lookup }

  init(
    transaction: BatchTransaction, entity: EntityDescription, duplicates: BatchDuplicateRule
  ) {
    self.transaction = transaction
    self.entity = transaction.lookup.schema.entity(entity)
    self.duplicates = duplicates
  }

  func insert(_ source: BatchRowSource) throws -> BatchOutcome {
    try SQLBatch.checkIsConcrete(entity)
    var outcome = BatchOutcome()
    var overwritten: Set<ManagedObjectID> = []
    while let rows = try source.next() { try insert(rows, &outcome, &overwritten) }
    if overwritten.isEmpty { return outcome }
    // A row that came and was overwritten in the same batch is a new one.
    let new = Set(outcome.inserted)
    outcome.updated.removeAll(where: new.contains)
    return outcome
  }

  private func insert(
    _ dictionaries: [BatchRowSource.Row], _ outcome: inout BatchOutcome,
    _ overwritten: inout Set<ManagedObjectID>
  ) throws {
    let ids = try KeyReservation.reserve(
      for: [EntityDescription](repeating: entity.entity, count: dictionaries.count), lookup)
    for (id, dictionary) in zip(ids, dictionaries) {
      let row = try entity.newRow(id, dictionary)
      guard let (other, constraint) = try duplicate(of: row) else {
        try insert(row)
        outcome.inserted.append(id)
        continue
      }
      switch duplicates {
      case .skip: continue
      case .refuse: throw SQLBatch.refusal(of: row, entity, constraint)
      case .overwrite:
        try overwrite(other, with: dictionary)
        if overwritten.insert(other.objectID).inserted { outcome.updated.append(other.objectID) }
      }
    }
  }

  private func insert(_ row: RowSnapshot) throws {
    try transaction.rows.insert(row, entity: entity, version: 1)
    try transaction.record(.insert, entity, key: row.objectID.rowKey ?? 0)
    if !entity.derivedSlots.isEmpty {
      try DerivedValues.refresh(entity, key: row.objectID.rowKey ?? 0, lookup)
    }
  }

  /// The given columns replace those of the row that is there.
  private func overwrite(
    _ other: RowSnapshot, with dictionary: [String: AttributeValue]
  ) throws {
    let target = lookup.schema.entity(other.objectID.entity)
    try transaction.change(other, to: target.overwritten(by: dictionary))
  }

  // MARK: Duplicates

  /// The stored row that has the unique values of a new one, and the constraint that says so.
  private func duplicate(of row: RowSnapshot) throws -> (RowSnapshot, SQLConstraint)? {
    if entity.constraints.isEmpty { return nil }
    let root = lookup.schema.entity(number: entity.rootNumber) ?? entity
    let shape = lookup.schema.shape(root, includingSubentities: true)
    for constraint in entity.constraints
    where !constraint.slots.contains(where: { row[$0].isNull }) {
      let conditions = constraint.columns.map { "t0.\($0) = ?" }.joined(separator: " AND ")
      let statement = try lookup.connection.statement(
        "SELECT \(shape.list) FROM \(entity.table) t0 WHERE \(conditions) LIMIT 1")
      defer { statement.reset() }
      for (index, slot) in constraint.slots.enumerated() {
        statement.bind(row[slot], at: Int32(index + 1))
      }
      if try statement.step(), let other = lookup.reader.snapshot(statement, shape: shape) {
        return (other, constraint)
      }
    }
    return nil
  }
}
