import CairnStore
import Foundation
import GRDB
import GRDBSQLite

/// A database that no other connection writes to until another one has taken its place.
///
/// The lock is that of SQLite's backup: `sqlite3_backup_step` takes the destination's write lock
/// with its first call, also when it is to copy no page, and keeps it until the backup is complete
/// or finished, so that there is no moment between the holding and the replacing. Readers are not
/// held up.
///
/// Used by the one thread that migrates.
final class HeldDatabase: StoreHold {
  private let store: URL
  private let replacement: URL
  private let options: StoreOptions
  private let from: DatabaseQueue
  private let to: DatabaseQueue
  /// The journal mode to go back to when the store is not replaced.
  private var formerJournal: String?
  /// Nil once the hold has ended.
  private var backup: OpaquePointer?

  init(_ store: URL, for replacement: URL, options: StoreOptions) throws {
    self.store = store
    self.replacement = replacement
    self.options = options
    do {
      to = try StoreFileAccess.open(store, options: options)
      from = try StoreFileAccess.open(replacement, options: options)
    } catch {
      throw SQLiteResultCode.translate(error, path: store.path, doing: "be migrated")
    }
    do {
      formerJournal = try Self.useLog(to)
      try prepareReplacement()
      backup = try begin()
    } catch {
      release()
      throw SQLiteResultCode.translate(error, path: store.path, doing: "be migrated")
    }
  }

  deinit { release() }

  /// Readers and a writer work side by side in a write-ahead log only.
  ///
  /// - Returns: The mode before, nil when nothing was changed.
  /// - Throws: 134070 when the mode cannot be changed, as while others are using the file.
  private static func useLog(_ database: DatabaseQueue) throws -> String? {
    try database.writeWithoutTransaction { connection in
      let mode = try String.fetchOne(connection, sql: "PRAGMA journal_mode") ?? ""
      if mode == "wal" { return nil }
      let now = try String.fetchOne(connection, sql: "PRAGMA journal_mode = WAL") ?? ""
      guard now == "wal" else {
        throw CoreDataError(
          .persistentStoreOperation,
          "The store at \(database.path) cannot be migrated: its journal mode (\(mode)) cannot be "
            + "changed to a write-ahead log for the time of the migration.",
          userInfo: [NSFilePathErrorKey: database.path])
      }
      return mode
    }
  }

  /// A database without tables and with pages of the store's size: a log takes no others, and a
  /// backup of no page at all would empty the store.
  private func prepareReplacement() throws {
    let (size, vacuum) = try to.writeWithoutTransaction { connection in
      (
        try Int.fetchOne(connection, sql: "PRAGMA page_size") ?? 4096,
        try Int.fetchOne(connection, sql: "PRAGMA auto_vacuum") ?? 0
      )
    }
    try from.writeWithoutTransaction { connection in
      try connection.execute(
        sql: """
          PRAGMA page_size = \(size); PRAGMA auto_vacuum = \(vacuum);
          CREATE TABLE made (x); DROP TABLE made
          """)
    }
  }

  private func begin() throws -> OpaquePointer {
    let source = from.writeWithoutTransaction { $0.sqliteConnection }
    return try to.writeWithoutTransaction { connection in
      guard let destination = connection.sqliteConnection, let source,
        let backup = sqlite3_backup_init(destination, "main", source, "main")
      else { throw SQLiteFailure(connection: connection.sqliteConnection) }
      let code = sqlite3_backup_step(backup, 0)
      guard code == SQLITE_OK else {
        sqlite3_backup_finish(backup)
        throw SQLiteFailure(code: code, message: String(cString: sqlite3_errstr(code)))
      }
      return backup
    }
  }

  func replace() throws {
    let files = ExternalDataCopying(from: replacement, to: store, options: options)
    do {
      try files.add()
      // The copy counts its own commits.
      try SQLiteFileSet(path: store.path, options: options).removeCommitNote()
      try copy()
    } catch {
      let isFatal = SQLiteResultCode.failure(in: error).map(SQLiteResultCode.isFatal) ?? false
      if !isFatal { files.takeBack() }
      throw SQLiteResultCode.translate(error, path: store.path, doing: "be replaced")
    }
    files.finish()
    formerJournal = nil
    // Else the next opening does it; the rows are there, and so are their files.
    try? to.writeWithoutTransaction { try $0.execute(sql: "PRAGMA journal_mode = WAL") }
  }

  private func copy() throws {
    guard let backup else {
      throw CoreDataError(.persistentStoreOperation, "\(store.path) is not held any more.")
    }
    let code = sqlite3_backup_step(backup, -1)
    sqlite3_backup_finish(backup)
    self.backup = nil
    guard code == SQLITE_DONE else {
      throw SQLiteFailure(code: code, message: String(cString: sqlite3_errstr(code)))
    }
  }

  func release() {
    if let backup { sqlite3_backup_finish(backup) }
    backup = nil
    if let formerJournal {
      // A store that stays in a log is the same store.
      try? to.writeWithoutTransaction {
        try $0.execute(sql: "PRAGMA journal_mode = \(formerJournal)")
      }
    }
    formerJournal = nil
    try? from.close()
    try? to.close()
  }
}

extension SQLiteStoreKind {
  public func hold(
    _ store: URL, for replacement: URL, options: StoreOptions
  ) throws -> (any StoreHold)? {
    try HeldDatabase(store, for: replacement, options: options)
  }
}
