import CairnModel

// Versions between which no row changes: columns and tables are added, and nothing else.

extension SQLMigrationPlan {
  /// The statements that add to the tables of the source what the destination has more, nil where
  /// rows must be written.
  ///
  /// They cost the same whatever the number of rows: SQLite notes a new column in the table's
  /// definition alone. Indexes are left to the caller.
  package func additions() -> [String]? {
    guard numbers.count == source.entities.count, numbers.allSatisfy({ $0.key == $0.value }),
      !source.hasDerivedValues, !destination.hasDerivedValues,
      source.locationIndexes.isEmpty, destination.locationIndexes.isEmpty,
      difference.entities.allSatisfy(keepsRows), joinTablesStay(), keyStatements().isEmpty
    else { return nil }
    var statements: [String] = []
    let new = Dictionary(uniqueKeysWithValues: destination.tables.map { ($0.name, $0) })
    let old = Dictionary(uniqueKeysWithValues: source.tables.map { ($0.name, $0) })
    for table in source.tables {
      guard let next = new[table.name], Set(table.columns).isSubset(of: next.columns) else {
        return nil
      }
      let known = Set(table.columns)
      statements += next.columns.filter { !known.contains($0) }.map {
        "ALTER TABLE \(table.name) ADD COLUMN \($0.name) \($0.type)"
      }
    }
    let oldJoins = Set(source.joinTables.values.flatMap { $0 })
    for table in destination.tables {
      if old[table.name] == nil { statements.append(table.createStatement) }
      for join in destination.joinTables[table.name] ?? [] where !oldJoins.contains(join) {
        statements.append(join.createStatement)
      }
    }
    return statements
  }

  /// Whether the rows of an entity are in the same table afterwards, each column with what was in
  /// it.
  private func keepsRows(_ change: ModelDifference.EntityChange) -> Bool {
    guard let formerEntity = change.source else { return true }
    let old = source.entity(formerEntity)
    let new = destination.entity(change.destination)
    guard old.table == new.table,
      let oldColumns = source.tables.first(where: { $0.name == old.table })?.columns.map(\.name),
      let newColumns = destination.tables.first(where: { $0.name == new.table })?.columns
        .map(\.name)
    else { return false }
    var settled: Set<String> = ["Z_PK", "Z_ENT", "Z_OPT"]
    for (column, value) in columnValues(of: change, from: old, to: new) {
      settled.insert(column)
      if value == column, oldColumns.contains(column) { continue }
      // A new column is empty; one of that name may hold what belonged to something else.
      guard value == "NULL", !oldColumns.contains(column) else { return false }
    }
    // The rest belongs to other entities of the table, or points at owners: both stay only where
    // every version says the same.
    let others = Set(newColumns).intersection(oldColumns).subtracting(settled)
    return others.allSatisfy { column in
      columnsOfOthers(new, in: destination).contains(column)
        && columnsOfOthers(old, in: source).contains(column)
    }
  }

  /// The columns of the attributes and to-one relationships of other entities in an entity's table.
  private func columnsOfOthers(_ entity: SQLEntity, in schema: SQLSchema) -> Set<String> {
    var result: Set<String> = []
    for other in schema.entities where other.table == entity.table && other !== entity {
      for slot in other.slots {
        switch slot {
        case .transient: continue
        case .attribute(let column, _, _): result.insert(column)
        case .toOne(let column, let companion, _):
          result.insert(column)
          if let companion { result.insert(companion) }
        }
      }
    }
    // What points at owners or orders members counts for the entities that it is read for, whose
    // own columns settle it there.
    for owner in schema.entities {
      for case .foreignKey(let table, let column, _, let order, let isHidden) in owner.links
      where table == entity.table {
        if isHidden { result.insert(column) }
        if let order { result.insert(order) }
      }
    }
    return result
  }

  /// Whether each join table continues itself, or is new and empty.
  private func joinTablesStay() -> Bool {
    let old = Dictionary(
      source.joinTables.values.flatMap { $0 }.map { ($0.name, $0) },
      uniquingKeysWith: { first, _ in first })
    let new = Dictionary(
      destination.joinTables.values.flatMap { $0 }.map { ($0.name, $0) },
      uniquingKeysWith: { first, _ in first })
    guard old.allSatisfy({ new[$0.key] == $0.value }) else { return false }
    let joins = Dictionary(
      joins().map { ($0.table, $0) }, uniquingKeysWith: { first, _ in first })
    return new.keys.allSatisfy { name in
      let sources = joins[name]?.sources ?? []
      if old[name] == nil { return sources.isEmpty }
      // The one statement that fills a join table takes it over from itself.
      return sources.count == 1
        && sources.allSatisfy {
          $0.isWhole && $0.table == name && $0.owner == "f.\(joins[name]?.ownerColumn ?? "")"
        }
    }
  }
}
