import CairnModel
import CairnSQL
import CairnStore

/// Deletes what a fetch finds, with the delete rules of its relationships: a few statements for
/// each entity, however many rows, which are not read unless history keeps values of theirs.
struct BatchDeletion {
  let transaction: BatchTransaction
  private var lookup: RowLookup { transaction.lookup }

  init(transaction: BatchTransaction) {
    self.transaction = transaction
  }

  func delete(_ request: StoreFetchRequest) throws -> BatchOutcome {
    let (rows, groups) = try withCascades(try transaction.matchingRows(request))
    var outcome = BatchOutcome()
    for run in rows {
      outcome.deleted.append(run.keys, of: run.entity.entity, in: lookup.reader.identity)
    }
    if groups.contains(where: { Self.hasRules($0.entity) }) {
      let deleted = Set(outcome.deleted.ids)
      for group in groups { try checkDenied(group, deleted: deleted) }
      for group in groups { outcome.updated += try nullify(group, deleted: deleted) }
    }
    for group in groups {
      try record(group)
      _ = try transaction.deleter.delete(group.keys, entity: group.entity, expected: nil)
    }
    return outcome
  }

  /// Writes the deletions down, before the rows are gone.
  private func record(_ rows: EntityRows) throws {
    guard transaction.recordsHistory else { return }
    let slots = rows.entity.history.tombstoneSlots
    if slots.isEmpty {
      for key in rows.keys { try transaction.record(.delete, rows.entity, key: key) }
      return
    }
    for keys in rows.portions(of: 1000) {
      let ids = EntityRows(rows.entity, Array(keys)).ids(lookup.reader)
      for (key, row) in zip(keys, try lookup.snapshots(for: ids)) {
        try transaction.record(
          .delete, rows.entity, key: key,
          tombstone: row.map { row in slots.map { row[$0] } } ?? [])
      }
    }
  }

  // MARK: Relationships

  /// The rows and everything that cascades from them, and the same by their entities.
  private func withCascades(
    _ rows: [EntityRows]
  ) throws -> ([EntityRows], [EntityRows]) {
    var result = rows
    var groups: [EntityRows] = []
    var known = KnownRows()
    var level = rows.grouped
    while !level.isEmpty {
      Self.add(level, to: &groups)
      var new: [EntityRows] = []
      for group in level {
        for relationship in group.entity.relationships(.cascade) {
          let members = try allMembers(of: relationship, group)
          if members.isEmpty { continue }
          if known.isEmpty { _ = known.insert(rows) }
          let related = known.insert(members)
          // Members of to-many relationships are read from their rows.
          new += relationship.isToMany ? related : try existing(related)
        }
      }
      level = new.grouped
      result += new
    }
    return (result, groups.sorted { $0.entity.number < $1.entity.number })
  }

  private static func add(_ level: [EntityRows], to groups: inout [EntityRows]) {
    if groups.isEmpty {
      groups = level
      return
    }
    for rows in level {
      if let place = groups.firstIndex(where: { $0.entity === rows.entity }) {
        groups[place].keys += rows.keys
      } else {
        groups.append(rows)
      }
    }
  }

  /// Whether other rows have a say in, or are changed by, the deletion of rows of the entity.
  private static func hasRules(_ entity: SQLEntity) -> Bool {
    !entity.relationships(.deny).isEmpty || !entity.nullified.isEmpty
  }

  /// The members of a relationship of any of the rows, in no particular order.
  private func allMembers(
    of relationship: RelationshipDescription, _ rows: EntityRows
  ) throws -> [EntityRows] {
    if relationship.isToMany,
      let members = try lookup.memberKeys(of: relationship, owners: rows.keys)
    {
      return members
    }
    return transaction.runs(of: try members(of: relationship, rows).flatMap { $0 })
  }

  /// The members of a relationship of rows of one entity, in the order of the rows.
  private func members(
    of relationship: RelationshipDescription, _ rows: EntityRows
  ) throws -> [[ManagedObjectID]] {
    if relationship.isToMany {
      return try lookup.members(of: relationship, owners: rows.ids(lookup.reader))
    }
    let found = try destinations(of: relationship.name, rows)
    return rows.keys.map { key in found[key].map { [$0] } ?? [] }
  }

  /// Where a to-one relationship of rows leads, by the rows' keys.
  private func destinations(
    of name: String, _ rows: EntityRows
  ) throws -> [Int64: ManagedObjectID] {
    let entity = rows.entity
    guard let slot = entity.layout.slotByName[name],
      case .toOne(let column, let companion, let destination) = entity.slots[slot]
    else { return [:] }
    var result: [Int64: ManagedObjectID] = [:]
    for keys in rows.portionsOfKeys {
      let statement = try lookup.connection.statement(
        "SELECT Z_PK, \(column), IFNULL(\(companion ?? "NULL"), \(destination)) "
          + "FROM \(entity.table) WHERE Z_PK IN (SELECT value FROM json_each(?)) "
          + "AND \(column) IS NOT NULL")
      defer { statement.reset() }
      statement.bind(KeyList.json(keys), at: 1)
      while try statement.step() {
        let number = Int(truncatingIfNeeded: statement.integer(2))
        result[statement.integer(0)] = lookup.reader.objectID(
          entity: number, key: statement.integer(1))
      }
    }
    return result
  }

  /// The objects that have a row, under their exact entities; only damaged files refer to others.
  private func existing(_ runs: [EntityRows]) throws -> [EntityRows] {
    var found: [EntityRows] = []
    for rows in runs.grouped {
      for keys in rows.portionsOfKeys {
        let statement = try lookup.connection.statement(
          "SELECT Z_ENT, Z_PK FROM \(rows.entity.table) "
            + "WHERE Z_PK IN (SELECT value FROM json_each(?))")
        defer { statement.reset() }
        statement.bind(KeyList.json(keys), at: 1)
        while try statement.step() {
          let number = Int(truncatingIfNeeded: statement.integer(0))
          if let entity = lookup.schema.entity(number: number) {
            found.add(statement.integer(1), of: entity)
          }
        }
      }
    }
    return found
  }

  private func checkDenied(_ rows: EntityRows, deleted: Set<ManagedObjectID>) throws {
    for relationship in rows.entity.relationships(.deny) {
      for (key, members) in zip(rows.keys, try members(of: relationship, rows))
      where !members.allSatisfy(deleted.contains) {
        throw SQLBatch.deniedDelete(
          of: lookup.reader.objectID(rows.entity, key: key), relationship)
      }
    }
  }

  /// Takes deleted objects out of the to-one keys of objects that stay.
  ///
  /// - Returns: The objects that were changed.
  private func nullify(
    _ rows: EntityRows, deleted: Set<ManagedObjectID>
  ) throws -> [ManagedObjectID] {
    var changed: [ManagedObjectID] = []
    for relationship in rows.entity.nullified {
      guard let inverse = relationship.inverseRelationship else { continue }
      let staying = try members(of: relationship, rows).flatMap { $0 }
        .filter { !deleted.contains($0) }
      for var group in try existing(transaction.runs(of: staying)).grouped {
        guard let slot = group.entity.layout.slotByName[inverse.name] else { continue }
        let owners = try destinations(of: inverse.name, group)
        group.keys.removeAll { key in
          guard let owner = owners[key] else { return true }
          return !deleted.contains(owner)
        }
        if group.keys.isEmpty { continue }
        try transaction.change(group, to: [slot: .null])
        changed += group.ids(lookup.reader)
      }
    }
    return changed
  }
}
