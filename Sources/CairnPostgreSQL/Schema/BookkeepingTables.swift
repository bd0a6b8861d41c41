import CairnModel
import CairnModelCache
import CairnStore
import Foundation

/// The tables of a store that are about the store: which it is, its model, its entities, and what its names stand for.
enum BookkeepingTables {
  static let store = "cairn_store"
  static let entities = "cairn_entity"
  static let names = "cairn_name"
  static let sidecar = "cairn_sidecar"

  /// All of them, without sequences.
  static let tables =
    [
      store, entities, names, sidecar, PostgreSQLHistoryTables.transactions,
      PostgreSQLHistoryTables.changes,
    ]
  /// All names that are taken by them.
  static let all = [store, entities, names, sidecar] + PostgreSQLHistoryTables.all

  /// The version of the layout that these tables and the names in them have.
  static let format: Int64 = 1

  static func statements(in schema: SchemaName) -> [String] {
    func table(_ name: String, _ columns: String, _ comment: String) -> [String] {
      let place = SQLText.name(schema.text, name)
      return [
        "CREATE TABLE \(place) (\(columns))",
        "COMMENT ON TABLE \(place) IS \(SQLText.literal(comment))",
      ]
    }
    return table(
      store,
      "one boolean PRIMARY KEY DEFAULT true CHECK (one), format bigint NOT NULL, "
        + "identifier text NOT NULL, metadata bytea NOT NULL, model bytea, "
        + "history boolean NOT NULL DEFAULT false, version bigint NOT NULL DEFAULT 1, "
        + "purged bigint NOT NULL DEFAULT 0, captures boolean NOT NULL DEFAULT false, "
        + "announces boolean NOT NULL DEFAULT false",
      "Cairn's store in this schema: its identifier, its metadata, its model and how often that was changed, whether "
        + "it keeps history, and the last transaction that was taken out of it")
      + table(
        entities,
        "number integer PRIMARY KEY, name text NOT NULL, parent integer, table_name text NOT NULL",
        "The entities of the store's model by the numbers in the column "
          + PostgreSQLSchemaBuilder.entity)
      + table(
        names,
        "table_name text NOT NULL, column_name text NOT NULL, entity text NOT NULL, "
          + "property text NOT NULL, role text NOT NULL, PRIMARY KEY (table_name, column_name)",
        "What of the store's model each table (with an empty column name) and column stands for")
      + table(
        sidecar,
        "map text COLLATE pg_catalog.\"C\", key bytea, value bytea NOT NULL, PRIMARY KEY (map, key)",
        "Bookkeeping of sync, which commits with the rows")
      + PostgreSQLHistoryTables.statements(in: schema)
  }

  /// What goes into the tables of a new store.
  static func contents(
    of schema: PostgreSQLSchema, identifier: String, metadata: Data
  ) -> [Statement] {
    [storeRow(in: schema, identifier: identifier, metadata: metadata)]
      + entityRows(of: schema) + nameRows(of: schema)
  }

  private static func storeRow(
    in schema: PostgreSQLSchema, identifier: String, metadata: Data
  ) -> Statement {
    var parameters = ParameterList()
    parameters.append(format)
    parameters.append(identifier)
    parameters.append(data: metadata)
    // A model that no archive can hold, such as one with block predicates, is not remembered.
    parameters.append(data: try? ModelCache.encode(schema.sql.model))
    return Statement(
      "INSERT INTO \(SQLText.name(schema.name.text, store)) (format, identifier, metadata, model) "
        + "VALUES ($1, $2, $3, $4)", parameters, isKept: false)
  }

  /// What changes in the tables when the store's model does; names of what is gone stay, so that nothing else gets them.
  static func renewal(of schema: PostgreSQLSchema, metadata: Data) -> [Statement] {
    let place = SQLText.name(schema.name.text, store)
    var parameters = ParameterList()
    parameters.append(data: metadata)
    parameters.append(data: try? ModelCache.encode(schema.sql.model))
    return [
      Statement(
        "UPDATE \(place) SET metadata = $1, model = $2, version = version + 1", parameters,
        isKept: false),
      Statement("DELETE FROM \(SQLText.name(schema.name.text, entities))", isKept: false),
    ] + entityRows(of: schema) + nameRows(of: schema)
  }

  /// Writes other metadata in place of the store's.
  static func metadataUpdate(
    in schema: SchemaName, identifier: String?, metadata: Data
  ) -> Statement {
    var parameters = ParameterList()
    parameters.append(identifier)
    parameters.append(data: metadata)
    return Statement(
      "UPDATE \(SQLText.name(schema.text, store)) SET identifier = COALESCE($1, identifier), metadata = $2",
      parameters)
  }

  private static func entityRows(of schema: PostgreSQLSchema) -> [Statement] {
    schema.sql.entities.map { entity in
      var parameters = ParameterList()
      parameters.append(Int64(entity.number))
      parameters.append(entity.name)
      parameters.append(entity.superNumber == 0 ? nil : Int64(entity.superNumber))
      parameters.append(schema.table(sqlName: entity.table)?.name ?? "")
      return Statement(
        "INSERT INTO \(SQLText.name(schema.name.text, entities)) (number, name, parent, table_name) "
          + "VALUES ($1::integer, $2, $3::integer, $4)", parameters)
    }
  }

  private static func nameRows(of schema: PostgreSQLSchema) -> [Statement] {
    schema.names.map { origin, table, column in
      var parameters = ParameterList()
      parameters.append(table)
      parameters.append(column ?? "")
      parameters.append(origin.entity)
      parameters.append(origin.property)
      parameters.append(origin.role?.rawValue ?? "table")
      return Statement(
        "INSERT INTO \(SQLText.name(schema.name.text, names)) VALUES ($1, $2, $3, $4, $5) "
          + "ON CONFLICT (table_name, column_name) DO UPDATE SET entity = excluded.entity, "
          + "property = excluded.property, role = excluded.role", parameters)
    }
  }

  /// The names that a store has given.
  static func keptNames(
    in schema: SchemaName, on connection: PostgreSQLConnection
  ) throws -> KeptNames {
    let rows = try connection.run(
      "SELECT table_name, column_name, entity, property, role FROM "
        + SQLText.name(schema.text, names))
    var kept = KeptNames()
    for row in 0..<rows.count {
      guard let table = rows.text(row, 0), let column = rows.text(row, 1),
        let entity = rows.text(row, 2), let property = rows.text(row, 3),
        let role = rows.text(row, 4)
      else { continue }
      let origin = NameOrigin(entity: entity, property: property, role: ColumnRole(rawValue: role))
      if column.isEmpty {
        kept.tables[origin] = table
      } else {
        kept.columns[table, default: [:]][origin] = column
      }
    }
    return kept
  }
}
