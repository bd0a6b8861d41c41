import CairnModel
import CairnSQL
import CairnStore
import Foundation

/// Fills an empty database: tables, indexes, triggers and bookkeeping.
enum StoreCreation {
  /// Runs inside the transaction of the caller.
  static func create(
    _ schema: SQLSchema, uuid: String, metadata extra: [String: Any], tracksHistory: Bool,
    _ connection: SQLiteConnection
  ) throws {
    try schema.checkNames()
    try schema.checkDerivations(in: "SQLite")
    for statement in schema.createStatements() { try connection.execute(statement) }
    try writeEntityRows(of: schema, connection)
    var metadata = MetadataTable.modelEntries(of: schema.model)
    // The options may ask for another way to return free pages than Core Data's.
    if let level = try connection.integer("PRAGMA auto_vacuum") {
      metadata[StoreMetadataKey.autoVacuumLevel] = String(level)
    }
    for (key, value) in extra where metadata[key] == nil { metadata[key] = value }
    metadata[StoreMetadataKey.uuid] = uuid
    try MetadataTable.write(metadata, connection)
    try ModelCacheTable.write(schema.model, connection)
    if tracksHistory { try HistoryTables.create(for: schema, connection) }
  }

  static func writeEntityRows(of schema: SQLSchema, _ connection: SQLiteConnection) throws {
    let statement = try connection.statement(
      "INSERT INTO Z_PRIMARYKEY (Z_ENT, Z_NAME, Z_SUPER, Z_MAX) VALUES (?, ?, ?, 0)")
    defer { statement.reset() }
    for entity in schema.entities {
      statement.bind(Int64(entity.number), at: 1)
      statement.bind(entity.name, at: 2)
      statement.bind(Int64(entity.superNumber), at: 3)
      try statement.run()
    }
  }
}
