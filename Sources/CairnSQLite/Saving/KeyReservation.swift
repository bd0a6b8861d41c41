import CairnModel
import CairnSQL
import CairnStore

/// Hands out primary keys: the counter of the root entity in `Z_PRIMARYKEY`, advanced inside a
/// write transaction, so that no two processes ever get the same key.
enum KeyReservation {
  static func reserve(
    for entities: [EntityDescription], _ lookup: RowLookup
  ) throws -> [ManagedObjectID] {
    let runs = runs(of: entities)
    var result: [ManagedObjectID] = []
    result.reserveCapacity(entities.count)
    for (run, first) in zip(runs, try reserve(for: runs, lookup)) {
      let entity = lookup.schema.entity(run.entity)
      for key in first..<first + Int64(run.count) {
        result.append(lookup.reader.objectID(entity, key: key))
      }
    }
    return result
  }

  /// The first key of each run.
  static func reserve(for runs: [RowKeyRun], _ lookup: RowLookup) throws -> [Int64] {
    let roots = runs.map { lookup.schema.entity($0.entity).rootNumber }
    var counts: [Int: Int64] = [:]
    for (run, root) in zip(runs, roots) { counts[root, default: 0] += Int64(run.count) }
    var next: [Int: Int64] = [:]
    for (root, count) in counts {
      guard let entity = lookup.schema.entity(number: root) else { continue }
      next[root] = try reserve(count, root: entity, lookup.connection)
    }
    return zip(runs, roots).map { run, root in
      let first = next[root] ?? 1
      next[root] = first + Int64(run.count)
      return first
    }
  }

  /// Entities that stand together, because new objects come in runs of one entity.
  private static func runs(of entities: [EntityDescription]) -> [RowKeyRun] {
    var result: [RowKeyRun] = []
    for entity in entities {
      if let last = result.last, last.entity === entity {
        result[result.count - 1].count += 1
      } else {
        result.append(RowKeyRun(entity: entity, count: 1))
      }
    }
    return result
  }

  /// The first of `count` new keys of a table.
  static func reserve(
    _ count: Int64, root: SQLEntity, _ connection: SQLiteConnection
  ) throws -> Int64 {
    let highest = try connection.lastKey(ofEntity: root.number, table: root.table)
    let statement = try connection.statement(
      "INSERT INTO Z_PRIMARYKEY (Z_ENT, Z_NAME, Z_SUPER, Z_MAX) VALUES (?1, ?2, 0, ?3) "
        + "ON CONFLICT (Z_ENT) DO UPDATE SET Z_MAX = ?3")
    defer { statement.reset() }
    statement.bind(Int64(root.number), at: 1)
    statement.bind(root.name, at: 2)
    statement.bind(highest + count, at: 3)
    try statement.run()
    return highest + 1
  }
}
