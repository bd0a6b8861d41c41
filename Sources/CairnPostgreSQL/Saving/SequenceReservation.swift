import CairnModel
import CairnSQL
import CairnStore

/// Draws the keys of new rows from the sequences of their tables.
///
/// What is drawn is never drawn again, be it used or not.
struct SequenceReservation {
  let content: StoreContent
  let connection: PostgreSQLConnection

  private var schema: PostgreSQLSchema { content.schema }

  /// So often runs are drawn anew that other programs drew from in between.
  private static let attempts = 3

  /// The IDs of new objects, in the order of their entities.
  func objectIDs(for entities: [EntityDescription]) throws -> [ManagedObjectID] {
    let runs = RowKeyRun.runs(of: entities)
    // Two numbers a table instead of one a row.
    guard let firsts = try firstKeys(of: runs, attempts: 1) else { return try each(entities) }
    var ids: [ManagedObjectID] = []
    ids.reserveCapacity(entities.count)
    for (run, first) in zip(runs, firsts) {
      let number = schema.sql.entity(run.entity).number
      for offset in 0..<Int64(run.count) {
        // What was drawn fits; the number behind the last key of a sequence may not.
        if let id = content.objectID(entity: number, key: first &+ offset) { ids.append(id) }
      }
    }
    return ids
  }

  /// Keys that do not follow one another, where other programs drew some in between.
  private func each(_ entities: [EntityDescription]) throws -> [ManagedObjectID] {
    let tables = entities.map { schema.sql.entity($0).table }
    var keys: [String: [Int64]] = [:]
    let counts = Dictionary(grouping: tables, by: { $0 }).sorted { $0.key < $1.key }
    let results = try connection.run(
      counts.map { drawing($0.value.count, of: $0.key, "nextval") })
    for ((table, _), rows) in zip(counts, results) {
      keys[table] = (0..<rows.count).compactMap { rows.integer($0, 0) }.reversed()
    }
    return try zip(entities, tables).map { entity, table in
      guard let key = keys[table]?.popLast(),
        let id = content.objectID(entity: schema.sql.entity(entity).number, key: key)
      else {
        throw PostgreSQLFailure(.client, "the server gave fewer keys than it was asked for")
      }
      return id
    }
  }

  /// The first key of each run of new objects; nil where other programs draw keys all the time, so that none follow one
  /// another.
  func firstKeys(of runs: [RowKeyRun], attempts: Int = attempts) throws -> [Int64]? {
    let tables = runs.map { schema.sql.entity($0.entity).table }
    var counts: [String: Int] = [:]
    for (run, table) in zip(runs, tables) { counts[table, default: 0] += run.count }
    var next: [String: Int64] = [:]
    for _ in 0..<attempts {
      let missing = counts.filter { $0.value > 0 && next[$0.key] == nil }.sorted { $0.key < $1.key }
      if missing.isEmpty { break }
      let results = try connection.run(
        missing.map { drawing($0.value, of: $0.key, "min(nextval), max(nextval)") })
      for ((table, count), rows) in zip(missing, results) {
        guard let first = rows.integer(0, 0), let last = rows.integer(0, 1),
          last &- first &+ 1 == Int64(count)
        else { continue }
        next[table] = first
      }
    }
    var firsts: [Int64] = []
    for (run, table) in zip(runs, tables) {
      guard run.count > 0 else {
        firsts.append(0)
        continue
      }
      guard let first = next[table] else { return nil }
      firsts.append(first)
      next[table] = first &+ Int64(run.count)
    }
    return firsts
  }

  private func drawing(_ count: Int, of table: String, _ columns: String) -> Statement {
    var parameters = ParameterList()
    parameters.append(schema.place(ofTable: table))
    parameters.append(PostgreSQLSchemaBuilder.identifier)
    parameters.append(Int64(count))
    return Statement(
      "SELECT \(columns) FROM (SELECT pg_catalog.nextval(s.place) FROM "
        + "(SELECT pg_catalog.pg_get_serial_sequence($1, $2)::regclass AS place OFFSET 0) s, "
        + "pg_catalog.generate_series(1, $3)) k", parameters)
  }
}

extension PostgreSQLStore: RowKeyReserving {
  package func reserveRowKeys(for runs: [RowKeyRun]) throws -> [Int64]? {
    if runs.isEmpty { return [] }
    return try work("take keys from") { state, connection in
      try SequenceReservation(content: state.content, connection: connection).firstKeys(of: runs)
    }
  }
}
