import CairnSQL
import CairnStore
import Foundation

/// The tables of persistent history.
enum HistoryTables {
  static let changeNumber = 16001
  static let transactionNumber = 16002
  static let stringNumber = 16003

  /// Creates what is missing; called inside a write transaction.
  static func create(for schema: SQLSchema, _ connection: SQLiteConnection) throws {
    let tombstones = schema.entities.map(\.history.tombstoneSlots.count).max() ?? 0
    let tombstoneColumns = (0..<tombstones).map { "ZTOMBSTONE\($0)" }
    try create(
      "ACHANGE",
      [
        "Z_PK INTEGER PRIMARY KEY", "Z_ENT INTEGER", "Z_OPT INTEGER", "ZCHANGETYPE INTEGER",
        "ZENTITY INTEGER", "ZENTITYPK INTEGER", "ZTRANSACTIONID INTEGER", "ZCOLUMNS BLOB",
      ] + tombstoneColumns.map { "\($0) BLOB" }, connection)
    try create(
      "ATRANSACTION",
      [
        "Z_PK INTEGER PRIMARY KEY", "Z_ENT INTEGER", "Z_OPT INTEGER", "ZAUTHORTS INTEGER",
        "ZBUNDLEIDTS INTEGER", "ZCONTEXTNAMETS INTEGER", "ZPROCESSIDTS INTEGER",
        "ZTIMESTAMP FLOAT", "ZAUTHOR VARCHAR", "ZBUNDLEID VARCHAR", "ZCONTEXTNAME VARCHAR",
        "ZPROCESSID VARCHAR", "ZQUERYGEN BLOB",
      ], connection)
    try create(
      "ATRANSACTIONSTRING",
      [
        "Z_PK INTEGER PRIMARY KEY", "Z_ENT INTEGER", "Z_OPT INTEGER", "ZNAME VARCHAR",
      ], connection)
    for statement in indexes where try !hasIndex(statement.name, connection) {
      try connection.execute(
        "CREATE \(statement.isUnique ? "UNIQUE " : "")INDEX \(statement.name) ON \(statement.on)")
    }
    for (number, name) in [
      (changeNumber, "CHANGE"), (transactionNumber, "TRANSACTION"),
      (stringNumber, "TRANSACTIONSTRING"),
    ] {
      try connection.execute(
        "INSERT OR IGNORE INTO Z_PRIMARYKEY (Z_ENT, Z_NAME, Z_SUPER, Z_MAX) "
          + "VALUES (\(number), '\(name)', 0, IFNULL((SELECT MAX(Z_PK) FROM A\(name)), 0))")
    }
  }

  private static let indexes: [(name: String, on: String, isUnique: Bool)] = [
    ("ACHANGE_ZTRANSACTIONID_INDEX", "ACHANGE (ZTRANSACTIONID)", false),
    ("ATRANSACTION_ZAUTHORTS_INDEX", "ATRANSACTION (ZAUTHORTS)", false),
    ("ATRANSACTION_ZBUNDLEIDTS_INDEX", "ATRANSACTION (ZBUNDLEIDTS)", false),
    ("ATRANSACTION_ZCONTEXTNAMETS_INDEX", "ATRANSACTION (ZCONTEXTNAMETS)", false),
    ("ATRANSACTION_ZPROCESSIDTS_INDEX", "ATRANSACTION (ZPROCESSIDTS)", false),
    (
      "Z_TRANSACTION_TransactionAuthorIndex", "ATRANSACTION (ZAUTHOR COLLATE BINARY ASC)", false
    ),
    (
      "Z_TRANSACTION_TransactionTimestampIndex", "ATRANSACTION (ZTIMESTAMP COLLATE BINARY ASC)",
      false
    ),
    (
      "Z_TRANSACTIONSTRING_UNIQUE_NAME", "ATRANSACTIONSTRING (ZNAME COLLATE BINARY ASC)", true
    ),
  ]

  private static func hasIndex(_ name: String, _ connection: SQLiteConnection) throws -> Bool {
    let statement = try connection.statement(
      "SELECT 1 FROM sqlite_master WHERE type = 'index' AND name = ?")
    defer { statement.reset() }
    statement.bind(name, at: 1)
    return try statement.step()
  }

  /// Creates a table, or adds the columns that an older one lacks.
  private static func create(
    _ table: String, _ columns: [String], _ connection: SQLiteConnection
  ) throws {
    guard try connection.hasTable(table) else {
      try connection.execute("CREATE TABLE \(table) ( \(columns.joined(separator: ", ")) )")
      return
    }
    let existing = try Set(self.columns(of: table, connection))
    for column in columns {
      let name = column.split(separator: " ").first.map(String.init) ?? column
      if !existing.contains(name) {
        try connection.execute("ALTER TABLE \(table) ADD COLUMN \(column)")
      }
    }
  }

  static func columns(of table: String, _ connection: SQLiteConnection) throws -> [String] {
    let statement = try connection.statement("SELECT name FROM pragma_table_info(?)")
    defer { statement.reset() }
    statement.bind(table, at: 1)
    var result: [String] = []
    while try statement.step() { result.append(statement.string(0)) }
    return result
  }
}
