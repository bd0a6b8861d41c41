import CairnModel
import CairnSQL
import CairnStore

/// Hands out primary keys: the counter of the root entity in `Z_PRIMARYKEY`, advanced inside a
/// write transaction, so that no two processes ever get the same key.
enum KeyReservation {
  static func reserve(
    for entities: [EntityDescription], _ lookup: RowLookup
  ) throws -> [ManagedObjectID] {
    let runs = runs(of: entities, lookup.schema)
    var counts: [Int: Int64] = [:]
    for run in runs { counts[run.entity.rootNumber, default: 0] += Int64(run.count) }
    var next: [Int: Int64] = [:]
    for (root, count) in counts {
      guard let entity = lookup.schema.entity(number: root) else { continue }
      next[root] = try reserve(count, root: entity, lookup.connection)
    }
    var result: [ManagedObjectID] = []
    result.reserveCapacity(entities.count)
    for run in runs {
      let first = next[run.entity.rootNumber] ?? 1
      let end = first + Int64(run.count)
      for key in first..<end { result.append(lookup.reader.objectID(run.entity, key: key)) }
      next[run.entity.rootNumber] = end
    }
    return result
  }

  /// Entities that stand together, because new objects come in runs of one entity.
  private static func runs(
    of entities: [EntityDescription], _ schema: SQLSchema
  ) -> [(entity: SQLEntity, count: Int)] {
    var result: [(entity: SQLEntity, count: Int)] = []
    var current: EntityDescription?
    for entity in entities {
      if entity !== current {
        current = entity
        result.append((schema.entity(entity), 0))
      }
      result[result.count - 1].count += 1
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
