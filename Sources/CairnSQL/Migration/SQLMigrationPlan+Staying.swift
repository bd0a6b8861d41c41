import CairnModel

// Tables that a migration leaves where they are: SQLite notes a column that they get more in their
// definition alone, whatever the number of rows. At most the entities' numbers are written anew.

extension SQLMigrationPlan {
  // MARK: Statements

  /// The statements that add what the destination has more to tables that stay.
  package func additionStatements() -> [String] {
    let old = tables(of: source)
    return destination.tables.filter { stayingTables.contains($0.name) }.flatMap { table in
      let known = Set(old[table.name]?.columns ?? [])
      return table.columns.filter { !known.contains($0) }.map {
        "ALTER TABLE \(table.name) ADD COLUMN \($0.name) \($0.type)"
      }
    }
  }

  /// The statements that make the tables of the destination that do not stay.
  package func creationStatements() -> [String] {
    destination.tables.flatMap { table in
      (stayingTables.contains(table.name) ? [] : [table.createStatement])
        + (destination.joinTables[table.name] ?? [])
        .filter { !stayingJoinTables.contains($0.name) }.map(\.createStatement)
    }
  }

  /// The statements that write entities' new numbers into the rows of tables that stay; they change
  /// the rows of those entities alone that have another number.
  package func numberStatements() -> [String] {
    source.tables.filter { stayingTables.contains($0.name) }.compactMap { table in
      let changed = source.entities.compactMap { entity -> (old: Int, new: Int)? in
        guard entity.table == table.name, let new = numbers[entity.number],
          new != entity.number
        else { return nil }
        return (entity.number, new)
      }
      if changed.isEmpty { return nil }
      let cases = changed.map { "WHEN \($0.old) THEN \($0.new)" }.joined(separator: " ")
      let old = changed.map { "\($0.old)" }.joined(separator: ", ")
      return "UPDATE \(table.name) SET Z_ENT = CASE Z_ENT \(cases) END WHERE Z_ENT IN (\(old))"
    }
  }

  /// The statements that make the destination's indexes and triggers; location indexes that stay are
  /// not among them.
  package func indexStatements() -> [String] {
    let staying = Set(
      destination.locationIndexes.filter { stayingLocationIndexes.contains($0.name) }
        .map(\.tableStatement))
    return destination.indexStatements().filter { !staying.contains($0) }
  }

  /// The statements that take rows into the location indexes that do not stay.
  package func indexFillStatements() -> [String] {
    destination.locationIndexes.filter { !stayingLocationIndexes.contains($0.name) }
      .map(\.fillStatement)
  }

  /// The names of the location indexes that have the same rows afterwards.
  package var stayingLocationIndexes: Set<String> {
    let former = Dictionary(
      source.locationIndexes.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    let staying = destination.locationIndexes.filter { index in
      guard let old = former[index.name], old.columns == index.columns,
        old.entity.table == index.entity.table, stayingTables.contains(index.entity.table),
        catalog.map({ $0.tables[index.name] != nil }) ?? true
      else { return false }
      return source.entities.allSatisfy { entity in
        entity.table != old.entity.table
          || old.entity.subtree.contains(entity.number)
            == numbers[entity.number].map(index.entity.subtree.contains)
      }
    }
    return Set(staying.map(\.name))
  }

  // MARK: Which tables stay

  /// The tables of entities of which each row stays with all that it holds.
  func findStayingTables() -> Set<String> {
    let keyed = Set(keyStatements().map(\.table))
    let next = tables(of: destination)
    let staying = source.tables.filter { table in
      guard let new = next[table.name], !keyed.contains(table.name) else { return false }
      return hasRoom(table, for: new) && keepsRows(table)
    }
    return Set(staying.map(\.name))
  }

  /// Whether a table has columns for all that it held, and those that it gets more are not there.
  private func hasRoom(_ table: SQLTable, for next: SQLTable) -> Bool {
    let known = Set(table.columns)
    guard known.isSubset(of: next.columns) else { return false }
    let taken = Set((catalog?.tables[table.name] ?? []).map { $0.uppercased() })
    return next.columns.allSatisfy { known.contains($0) || !taken.contains($0.name.uppercased()) }
  }

  private func keepsRows(_ table: SQLTable) -> Bool {
    // Derived values are computed as rows are copied, so that no row stays as it is.
    func isDerived(_ entity: SQLEntity) -> Bool {
      !recomputesStaying && entity.table == table.name && !entity.derivedSlots.isEmpty
    }
    let members = source.entities.filter { $0.table == table.name }
    guard members.allSatisfy({ numbers[$0.number] != nil }),
      !source.entities.contains(where: isDerived),
      !destination.entities.contains(where: isDerived)
    else { return false }
    let columns = Set(table.columns.map(\.name))
    return difference.entities.allSatisfy { change in
      guard let former = change.source else { return true }
      let (old, new) = (source.entity(former), destination.entity(change.destination))
      // Nothing of it goes elsewhere, and nothing comes in.
      guard (old.table == table.name) == (new.table == table.name) else { return false }
      return old.table != table.name || keepsRows(of: change, from: old, to: new, columns)
    }
  }

  /// Whether each column of an entity's rows holds what it held, and a new one nothing.
  private func keepsRows(
    of change: ModelDifference.EntityChange, from old: SQLEntity, to new: SQLEntity,
    _ columns: Set<String>
  ) -> Bool {
    let used = self.columns(of: new, memberLinks)
    guard self.columns(of: old, formerMemberLinks).isSubset(of: used) else { return false }
    let values = Dictionary(
      columnValues(of: change, from: old, to: new).map { ($0.column, $0.value) },
      uniquingKeysWith: { $1 })
    return used.allSatisfy { column in
      let value = values[column] ?? "NULL"
      return columns.contains(column) ? value == column : value == "NULL"
    }
  }

  /// The columns that have a meaning in an entity's rows: those of its own, and those that point at
  /// owners or order members.
  private func columns(
    of entity: SQLEntity, _ links: [(relationship: RelationshipDescription, link: MemberLink)]
  ) -> Set<String> {
    var result: Set<String> = []
    for slot in entity.slots {
      switch slot {
      case .transient: continue
      case .attribute(let column, _, _): result.insert(column)
      case .toOne(let column, let companion, _):
        result.insert(column)
        if let companion { result.insert(companion) }
      }
    }
    for (relationship, link) in links where link.table == entity.table {
      guard let members = relationship.destinationEntity, entity.entity.isKindOf(entity: members)
      else { continue }
      if link.isHidden { result.insert(link.column) }
      if let order = link.order { result.insert(order) }
    }
    return result
  }

  /// The tables of links that are filled from themselves alone.
  func findStayingJoinTables() -> Set<String> {
    let old = Dictionary(
      source.joinTables.values.joined().map { ($0.name, $0) },
      uniquingKeysWith: { first, _ in first })
    let new = Dictionary(
      destination.joinTables.values.joined().map { ($0.name, $0) },
      uniquingKeysWith: { first, _ in first })
    let staying = joins().filter { join in
      join.continuesItself && old[join.table] != nil && old[join.table] == new[join.table]
    }
    return Set(staying.map(\.table))
  }

  private func tables(of schema: SQLSchema) -> [String: SQLTable] {
    Dictionary(schema.tables.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
  }
}
