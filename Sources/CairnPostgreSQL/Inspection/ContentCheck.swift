import CairnModel
import CairnSQL
import CairnStore

/// Checks what every row has, what is unique, what is derived, and history.
struct ContentCheck {
  let content: StoreContent

  private var schema: PostgreSQLSchema { content.schema }
  private static let key = SQLText.name(PostgreSQLSchemaBuilder.identifier)
  private static let entity = SQLText.name(PostgreSQLSchemaBuilder.entity)
  private static let version = SQLText.name(PostgreSQLSchemaBuilder.version)

  var queries: [IntegrityQuery] {
    schema.sql.entities.filter { $0.superNumber == 0 }.flatMap(rows)
      + schema.sql.entities.flatMap(uniqueness) + derived + history
  }

  private func rows(_ root: SQLEntity) -> [IntegrityQuery] {
    let place = schema.place(ofTable: root.table)
    let concrete = root.subtree.filter {
      schema.sql.entity(number: $0)?.entity.isAbstract == false
    }
    let list = concrete.isEmpty ? "NULL" : concrete.map(String.init).joined(separator: ", ")
    let table = SQLText.literal(place)
    let sequence =
      "pg_catalog.pg_get_serial_sequence(\(table), \(SQLText.literal(PostgreSQLSchemaBuilder.identifier)))"
    return [
      IntegrityQuery(
        "SELECT \(Self.key), \(Self.entity) FROM \(place) WHERE (\(Self.entity) IN (\(list))) IS NOT TRUE"
      ) { rows, row in
        "\(root.name)/p\(rows.integer(row, 0) ?? 0) is of entity number \(rows.integer(row, 1) ?? 0), "
          + "which has no rows in this table."
      },
      IntegrityQuery(
        "SELECT \(Self.key), \(Self.version) FROM \(place) WHERE \(Self.version) < 1"
      ) { rows, row in
        "\(root.name)/p\(rows.integer(row, 0) ?? 0) has the version \(rows.integer(row, 1) ?? 0)."
      },
      IntegrityQuery(
        "SELECT k.highest, k.last FROM (SELECT (SELECT max(\(Self.key)) FROM \(place)) AS highest, "
          + "coalesce(pg_catalog.pg_sequence_last_value(\(sequence)::regclass), 0) AS last) k "
          + "WHERE k.highest > k.last"
      ) { rows, row in
        "\(root.name): the sequence is at \(rows.integer(row, 1) ?? 0), and there is a row with the key "
          + "\(rows.integer(row, 0) ?? 0), which new objects would get once more; set it with setval."
      },
    ]
  }

  private func uniqueness(_ entity: SQLEntity) -> [IntegrityQuery] {
    guard let table = schema.table(sqlName: entity.table) else { return [] }
    let constraints = entity.constraints.filter { $0.entity === entity.entity }
    return constraints.compactMap { constraint in
      let columns = constraint.columns.compactMap { table.column(sqlName: $0) }
      let compared = columns.flatMap { column in
        [column.name] + (table.exactColumn(of: column).map { [$0.name] } ?? [])
      }.map(SQLText.name)
      if compared.isEmpty { return nil }
      let present = columns.map { "\(SQLText.name($0.name)) IS NOT NULL" }
      return IntegrityQuery(
        "SELECT max(\(Self.key)), count(*) FROM \(schema.place(ofTable: entity.table)) "
          + "WHERE \(present.joined(separator: " AND ")) AND \(Self.entity) BETWEEN "
          + "\(entity.subtree.lowerBound) AND \(entity.subtree.upperBound) "
          + "GROUP BY \(compared.joined(separator: ", ")) HAVING count(*) > 1"
      ) { rows, row in
        "\(rows.integer(row, 1) ?? 0) rows of \(entity.name), \(entity.name)/p\(rows.integer(row, 0) ?? 0) among them, "
          + "have the same \(constraint.names.joined(separator: ", "))."
      }
    }
  }

  private var derived: [IntegrityQuery] {
    DerivedColumn.all(in: schema).compactMap { column in
      guard let value = DerivedValue(column, in: schema) else { return nil }
      return IntegrityQuery(
        "SELECT r.\(Self.key) FROM \(SQLText.name(schema.name.text, column.table.name)) r "
          + "WHERE r.\(Self.entity) IN (\(column.numbers)) AND \(value.differs(from: column))"
      ) { rows, row in
        "\(column.entity.name)/p\(rows.integer(row, 0) ?? 0): \(column.name) is not what it is derived from."
      }
    }
  }

  private var history: [IntegrityQuery] {
    let transactions = PostgreSQLHistoryTables.place(
      PostgreSQLHistoryTables.transactions, in: schema.name)
    let changes = PostgreSQLHistoryTables.place(PostgreSQLHistoryTables.changes, in: schema.name)
    let numbers = PostgreSQLHistoryTables.sequence(PostgreSQLHistoryTables.numbers, in: schema.name)
    let deleted = schema.sql.entities.filter { $0.superNumber == 0 }.map { root in
      IntegrityQuery(
        "SELECT l.row_key FROM (SELECT DISTINCT ON (c.row_key) c.row_key, c.kind FROM \(changes) c "
          + "JOIN \(transactions) t ON t.key = c.transaction_key "
          + "WHERE c.entity BETWEEN \(root.subtree.lowerBound) AND \(root.subtree.upperBound) "
          + "ORDER BY c.row_key, t.number DESC, c.number DESC) l "
          + "JOIN \(schema.place(ofTable: root.table)) r ON r.\(Self.key) = l.row_key WHERE l.kind = 2"
      ) { rows, row in
        "History says that \(root.name)/p\(rows.integer(row, 0) ?? 0) was deleted, and its row is there."
      }
    }
    return [
      IntegrityQuery(
        "SELECT c.transaction_key, c.number FROM \(changes) c WHERE NOT EXISTS "
          + "(SELECT 1 FROM \(transactions) t WHERE t.key = c.transaction_key)"
      ) { rows, row in
        "The change \(rows.integer(row, 1) ?? 0) is of transaction \(rows.integer(row, 0) ?? 0), which does not exist."
      },
      IntegrityQuery("SELECT key FROM \(transactions) WHERE number IS NULL") { rows, row in
        "The transaction with the key \(rows.integer(row, 0) ?? 0) has no number, so that no reader finds it."
      },
      IntegrityQuery(
        "SELECT k.highest, k.last FROM (SELECT (SELECT max(number) FROM \(transactions)) AS highest, "
          + "coalesce(pg_catalog.pg_sequence_last_value(\(numbers)), 0) AS last) k "
          + "WHERE k.highest > k.last"
      ) { rows, row in
        "The sequence of transactions is at \(rows.integer(row, 1) ?? 0), and there is one with the number "
          + "\(rows.integer(row, 0) ?? 0); set it with setval."
      },
    ] + deleted
  }
}
