import CairnModel
import CairnSQL
import CairnStore
import Foundation

/// Takes old commits out of history, and keeps of their inserts what sync has not taken up.
struct HistoryPurge {
  let content: StoreContent
  let connection: PostgreSQLConnection

  private var schema: SchemaName { content.schema.name }
  private var transactions: String {
    PostgreSQLHistoryTables.place(PostgreSQLHistoryTables.transactions, in: schema)
  }
  private var changes: String {
    PostgreSQLHistoryTables.place(PostgreSQLHistoryTables.changes, in: schema)
  }
  private var sidecar: String { SidecarReading.table(in: schema) }

  /// - Parameters:
  ///   - number: The first commit that stays.
  ///   - date: As ``HistoryKeeping/purgeHistory(before:date:)`` has it: commits of an earlier date go.
  /// - Returns: How many went.
  func run(before number: Int64?, date: Date?) throws -> Int {
    var limit = number ?? 0
    if let date {
      var parameters = ParameterList()
      parameters.append(double: date.timeIntervalSinceReferenceDate)
      let rows = try connection.run(
        "SELECT COALESCE((SELECT min(number) FROM \(transactions) WHERE seconds >= $1), "
          + "(SELECT max(number) + 1 FROM \(transactions)), 0)", parameters)
      limit = max(limit, rows.integer(0, 0) ?? 0)
    }
    // What commits meanwhile has a greater number, and its births are not looked at here.
    let last = try PostgreSQLHistoryReading(content: content, connection: connection).ends().last
    limit = min(limit, last + 1)
    for entity in content.schema.sql.entities where entity.superNumber == 0 {
      try keepBirths(of: entity, before: limit)
    }
    var parameters = ParameterList()
    parameters.append(limit)
    let rows = try connection.run(
      "WITH gone AS (DELETE FROM \(transactions) WHERE number < $1 RETURNING key, number), "
        + "also AS (DELETE FROM \(changes) WHERE transaction_key IN (SELECT key FROM gone)) "
        + "SELECT count(*), max(number) FROM gone", parameters)
    guard let purged = rows.integer(0, 1) else { return 0 }
    var end = ParameterList()
    end.append(purged)
    try connection.run(
      "UPDATE \(SQLText.name(schema.text, BookkeepingTables.store)) "
        + "SET purged = GREATEST(purged, $1)", end)
    return Int(clamping: rows.integer(0, 0) ?? 0)
  }

  /// Keeps the births of rows that are there, and forgets those of rows that were deleted.
  ///
  /// - Parameter root: The entity of a table.
  private func keepBirths(of root: SQLEntity, before limit: Int64) throws {
    var parameters = ParameterList()
    parameters.append(limit)
    parameters.append(keys: root.subtree.map(Int64.init))
    // As RowBirth.key(of:) has it.
    parameters.append(data: Data(root.name.utf8) + [0])
    let last =
      "WITH last AS (SELECT DISTINCT ON (c.row_key) c.row_key, c.kind, "
      + "$3 || int8send(c.row_key) AS key, t.number, t.seconds FROM \(changes) c "
      + "JOIN \(transactions) t ON t.key = c.transaction_key "
      + "WHERE t.number < $1 AND c.kind <> 1 AND c.entity = ANY ($2) "
      + "AND NOT \(PostgreSQLHistoryTables.isOfReplacement("c", in: schema)) "
      + "ORDER BY c.row_key, t.number DESC, c.number DESC) "
    let (births, taken) = (SQLText.literal(RowBirth.map), SQLText.literal(RowBirth.takenUpMap))
    let table = content.schema.place(ofTable: root.table)
    let key = SQLText.name(PostgreSQLSchemaBuilder.identifier)
    try connection.run([
      Statement(
        last + "DELETE FROM \(sidecar) s USING last WHERE s.map = \(births) AND s.key = last.key "
          + "AND last.kind = 2", parameters),
      Statement(
        last + "INSERT INTO \(sidecar) (map, key, value) SELECT \(births), last.key, "
          + "int8send(last.number) || float8send(last.seconds) FROM last WHERE last.kind = 0 "
          + "AND EXISTS (SELECT 1 FROM \(table) r WHERE r.\(key) = last.row_key) "
          + "AND NOT EXISTS (SELECT 1 FROM \(sidecar) s WHERE s.map = \(taken) AND s.key = last.key) "
          + "ON CONFLICT (map, key) DO UPDATE SET value = excluded.value", parameters),
    ])
  }
}
