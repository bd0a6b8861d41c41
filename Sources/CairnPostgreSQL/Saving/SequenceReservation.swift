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
    let results = try draw(counts.map { ($0.key, $0.value.count) }, "n")
    for ((table, _), rows) in zip(counts, results) {
      keys[table] = (0..<rows.count).compactMap { rows.integer($0, 1) }.reversed()
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
      let results = try draw(missing.map { ($0.key, $0.value) }, "min(n), max(n)")
      for ((table, count), rows) in zip(missing, results) {
        guard let first = rows.integer(0, 1), let last = rows.integer(0, 2),
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

  /// Draws keys of tables.
  ///
  /// A sequence that is behind its rows goes on after them, and is drawn from anew: the two come apart where rows are
  /// copied without it, as logical replication and a dump of data alone do, and where SQL gives rows keys of its own.
  ///
  /// - Returns: For each table the columns, behind one of ``drawing(_:of:_:)``.
  private func draw(
    _ counts: [(table: String, count: Int)], _ columns: String
  ) throws -> [PostgreSQLRows] {
    var results = try connection.run(counts.map { drawing($0.count, of: $0.table, columns) })
    for ((sqlName, _), rows) in zip(counts, results) where rows.integer(0, 1) == nil {
      guard let table = schema.table(sqlName: sqlName) else { continue }
      throw CoreDataError(.persistentStoreIncompatibleSchema, schema.missingKeys(of: table))
    }
    let behind = results.indices.filter { results[$0].integer(0, 0) != nil }
    if behind.isEmpty { return results }
    try connection.run(
      [TransactionLock.sequences.statement(of: schema.name)]
        + behind.map { goingOn(behindRowsOf: counts[$0].table) })
    let again = try connection.run(
      behind.map { drawing(counts[$0].count, of: counts[$0].table, columns) })
    for (place, rows) in zip(behind, again) { results[place] = rows }
    return results
  }

  private func parameters(of table: String) -> ParameterList {
    var parameters = ParameterList()
    parameters.append(schema.place(ofTable: table))
    parameters.append(PostgreSQLSchemaBuilder.identifier)
    return parameters
  }

  private static let key = SQLText.name(PostgreSQLSchemaBuilder.identifier)
  private static let sequence =
    "(SELECT pg_catalog.pg_get_serial_sequence($1, $2)::regclass AS place OFFSET 0) s"

  /// Before the columns there is a key among those that were drawn which a row has, NULL where none has: a row's key
  /// was drawn before, if from this sequence at all.
  private func drawing(_ count: Int, of table: String, _ columns: String) -> Statement {
    var parameters = parameters(of: table)
    parameters.append(Int64(count))
    return Statement(
      "WITH k AS MATERIALIZED (SELECT pg_catalog.nextval(s.place) AS n FROM \(Self.sequence), "
        + "pg_catalog.generate_series(1, $3)) "
        + "SELECT (SELECT max(\(Self.key)) FROM \(schema.place(ofTable: table)) "
        + "WHERE \(Self.key) BETWEEN (SELECT min(n) FROM k) AND (SELECT max(n) FROM k)), "
        + "\(columns) FROM k", parameters)
  }

  /// No key beyond is followed: SQL that gave one so large used the rest of the sequence up.
  private static let furthest = Int64(1) << 62

  private func goingOn(behindRowsOf table: String) -> Statement {
    Statement(
      "SELECT pg_catalog.setval(s.place, m.highest) FROM \(Self.sequence), "
        + "(SELECT max(\(Self.key)) AS highest FROM \(schema.place(ofTable: table)) "
        + "WHERE \(Self.key) < \(Self.furthest)) m "
        + "WHERE m.highest > coalesce(pg_catalog.pg_sequence_last_value(s.place), 0)",
      parameters(of: table))
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
