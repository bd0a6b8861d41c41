import CairnSQL
import CairnStore
import Foundation
import GRDB

/// What a database file contains, read before it is opened for use and without changing it.
struct SQLiteFileFacts {
  /// Tables of the file with their columns.
  let catalog: SQLCatalog
  /// Nil when the file has no `Z_METADATA` row.
  let metadata: [String: Any]?
  var isEmpty: Bool { catalog.tables.isEmpty }

  /// A file that a program left in the middle of a transaction is brought back to where it was
  /// before, unless the options want it to be only read.
  ///
  /// - Throws: ``CoreDataError`` for a file that is no store of Core Data.
  static func read(at path: String, options: StoreOptions) throws -> SQLiteFileFacts {
    let log = LeftLog(path: path)
    do {
      // A journal may hold the header that a power cut has torn.
      if !FileManager.default.fileExists(atPath: path + "-journal"),
        let reason = DatabaseHeader.refusal(at: path)
      {
        throw CoreDataError(
          .persistentStoreInvalidType, "\(path) \(reason).", userInfo: [NSFilePathErrorKey: path])
      }
      do {
        return try read(at: path, log, options, isReadOnly: true)
      } catch {
        guard let failure = SQLiteResultCode.failure(in: error),
          SQLiteResultCode.asksForWriter(failure), !options.isReadOnly
        else { throw error }
        return try read(at: path, log, options, isReadOnly: false)
      }
    } catch {
      throw SQLiteResultCode.translate(log.explain(error), path: path, doing: "be opened")
    }
  }

  private static func read(
    at path: String, _ log: LeftLog, _ options: StoreOptions, isReadOnly: Bool
  ) throws -> SQLiteFileFacts {
    var configuration = Configuration()
    configuration.readonly = isReadOnly
    configuration.busyMode = .timeout(options.timeout)
    configuration.foreignKeysEnabled = false
    // Old schemas may quote text like names; they must still be readable.
    configuration.acceptsDoubleQuotedStringLiterals = true
    configuration.prepareDatabase(SQLiteDefences.installForInspection)
    try configuration.takesPartInIndex(of: path, LockWait(seconds: options.timeout))
    let queue = try DatabaseQueue(path: path, configuration: configuration)
    defer { try? queue.close() }
    return try queue.read { database in
      let connection = SQLiteConnection(database: database)
      let facts = try read(connection, path: path)
      try log.check(facts.metadata, connection)
      return facts
    }
  }

  static func read(_ connection: SQLiteConnection, path: String) throws -> SQLiteFileFacts {
    let catalog = try catalog(connection)
    let facts = SQLiteFileFacts(
      catalog: catalog,
      metadata: catalog.tables["Z_METADATA"] == nil
        ? nil : try MetadataTable.read(connection, path: path))
    guard facts.isEmpty || (facts.metadata != nil && catalog.tables["Z_PRIMARYKEY"] != nil) else {
      throw CoreDataError(
        .persistentStoreInvalidType,
        "\(path) is a database of another application: it has tables but none of Core Data's "
          + "bookkeeping (Z_METADATA, Z_PRIMARYKEY). Choose another file name for the store.",
        userInfo: [NSFilePathErrorKey: path])
    }
    return facts
  }

  static func catalog(_ connection: SQLiteConnection) throws -> SQLCatalog {
    var tables: [String: [String]] = [:]
    let statement = try connection.statement(
      "SELECT m.name, c.name FROM sqlite_master m LEFT JOIN pragma_table_info(m.name) c "
        + "WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite_%' ORDER BY m.name, c.cid")
    defer { statement.reset() }
    while try statement.step() {
      tables[statement.string(0), default: []].append(statement.string(1))
    }
    return SQLCatalog(tables: tables)
  }
}
