import CSQLiteConduct
import GRDB
import GRDBSQLite

/// What keeps the schema of a file, which any program may have written, from doing more than keeping rows.
enum SQLiteDefences {
  /// Core Data's triggers call none of each other; a trigger that calls itself ends here.
  private static let triggerDepth: Int32 = 64
  /// The longest statement that Cairn makes, for a predicate with 100,000 keys, has 2 MB.
  private static let statementLength: Int32 = 50_000_000

  /// Every connection to a store has them.
  ///
  /// Its triggers may call functions that are not marked as harmless and use virtual tables: those that keep
  /// location indexes write to R-trees, which SQLite does not count as harmless everywhere. Cairn's functions that
  /// are neither quick nor harmless are for direct calls only.
  ///
  /// - Parameter mayGoWithoutJournal: Whether the program asked for `journal_mode = OFF`, which SQLite takes for
  ///   an attack otherwise.
  static func install(on database: Database, mayGoWithoutJournal: Bool = false) {
    let connection = database.sqliteConnection
    if !mayGoWithoutJournal { _ = csqlite_be_defensive(connection) }
    sqlite3_limit(connection, SQLITE_LIMIT_TRIGGER_DEPTH, triggerDepth)
    sqlite3_limit(connection, SQLITE_LIMIT_SQL_LENGTH, statementLength)
  }

  /// A file that is looked at before it is a store: what its schema brings may call harmless functions only, and each
  /// page is checked as it is read, which a store that is used every day does not pay for.
  static func installForInspection(on database: Database) throws {
    install(on: database)
    // SQLite knows it since 3.31; one that does not goes without.
    _ = csqlite_distrust_schema(database.sqliteConnection)
    try database.execute(sql: "PRAGMA cell_size_check = ON")
  }
}
