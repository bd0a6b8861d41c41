import CairnModel
import CairnSQL
import CairnStore

/// Hands out primary keys: the counter of the root entity in `Z_PRIMARYKEY`, advanced inside a
/// write transaction, so that no two processes ever get the same key.
enum KeyReservation {
  static func reserve(
    for entities: [EntityDescription], _ lookup: RowLookup
  ) throws -> [ManagedObjectID] {
    var counts: [Int: Int64] = [:]
    for entity in entities { counts[lookup.schema.entity(entity).rootNumber, default: 0] += 1 }
    var next: [Int: Int64] = [:]
    for (root, count) in counts {
      guard let entity = lookup.schema.entity(number: root) else { continue }
      next[root] = try reserve(count, root: entity, lookup.connection)
    }
    return entities.map { description in
      let entity = lookup.schema.entity(description)
      let key = next[entity.rootNumber] ?? 1
      next[entity.rootNumber] = key + 1
      return lookup.reader.objectID(entity, key: key)
    }
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
