import CairnModel
import CairnSQL
import CairnStore
import Foundation
import GRDB
import GRDBSQLite

/// A connection inside a read or write of the store; never kept beyond it.
struct SQLiteConnection {
  private enum Source {
    case database(Database)
    case held(HeldReader)
  }
  private let source: Source

  init(database: Database) { source = .database(database) }
  /// For reads only.
  init(held reader: HeldReader) { source = .held(reader) }

  /// The connection as GRDB has it.
  var database: Database {
    switch source {
    case .database(let database): return database
    // Writes and schema reads get a database by their type; rows are read through statement(_:).
    case .held: fatalError("A held reader only runs prepared statements.")
    }
  }

  /// The prepared statement for a text, from the connection's cache.
  func statement(_ sql: String) throws -> SQLiteStatement {
    switch source {
    case .database(let database): return SQLiteStatement(try database.cachedStatement(sql: sql))
    case .held(let reader): return try reader.statement(sql)
    }
  }

  /// Runs a body with a statement of its own, which may stay open while the body runs others: neither one of the same
  /// text nor a cache that is full gets at it.
  func withOwnStatement<Result>(
    _ sql: String, _ body: (SQLiteStatement) throws -> Result
  ) throws -> Result {
    var made: OpaquePointer?
    guard sqlite3_prepare_v2(handle, sql, -1, &made, nil) == SQLITE_OK, let made else {
      throw SQLiteFailure(connection: handle)
    }
    defer { sqlite3_finalize(made) }
    return try body(SQLiteStatement(handle: made))
  }

  /// Runs a body in a write transaction, which commits when the body gives true and leaves no trace
  /// when it gives false or throws.
  ///
  /// The statements for that are prepared once: a small save would spend an eighth of its time on
  /// preparing them. Inside of ``holdingWrites(_:)`` the transaction that is open is used, and another
  /// one begun.
  ///
  /// - Parameter times: Where the time that the commit takes is added, unless it fails.
  func transaction(timedBy times: CommitTimes? = nil, _ body: () throws -> Bool) throws {
    let isHolding = database.isInsideTransaction
    if !isHolding { try statement("BEGIN IMMEDIATE").run() }
    defer { if isHolding { try? beginAgain() } }
    do {
      guard try body() else { return try statement("ROLLBACK").run() }
      let start = ContinuousClock.now
      try statement("COMMIT").run()
      times?.add(start.duration(to: .now))
    } catch {
      // Some errors end the transaction by themselves.
      if database.isInsideTransaction { try? statement("ROLLBACK").run() }
      throw error
    }
  }

  /// Runs a body inside a write transaction, which keeps other connections from writing; the body
  /// commits what it writes by ``transaction(_:)``.
  func holdingWrites<Result>(_ body: () throws -> Result) throws -> Result {
    if database.isInsideTransaction { return try body() }
    try statement("BEGIN IMMEDIATE").run()
    // Nothing has been written outside of a transaction of the body's own.
    defer { if database.isInsideTransaction { try? statement("ROLLBACK").run() } }
    return try body()
  }

  /// A body that finds the lock taken goes on without: it commits by transactions of its own.
  private func beginAgain() throws {
    if !database.isInsideTransaction { try statement("BEGIN IMMEDIATE").run() }
  }

  /// Runs reads that all see the same commit.
  func snapshot<Result>(_ body: () throws -> Result) throws -> Result {
    if database.isInsideTransaction { return try body() }
    try statement("BEGIN").run()
    do {
      let result = try body()
      try statement("COMMIT").run()
      return result
    } catch {
      if database.isInsideTransaction { try? statement("ROLLBACK").run() }
      throw error
    }
  }

  /// Runs statements that give no rows and are not worth caching.
  func execute(_ sql: String) throws {
    try database.execute(sql: sql)
  }

  /// Runs the first statement of a text, which gives no rows; the rest is not looked at.
  func executeFirstStatement(of sql: String) throws {
    let handle = database.sqliteConnection
    var statement: OpaquePointer?
    guard sqlite3_prepare_v2(handle, sql, -1, &statement, nil) == SQLITE_OK else {
      throw SQLiteFailure(connection: handle)
    }
    defer { sqlite3_finalize(statement) }
    guard let statement else { return }
    guard sqlite3_step(statement) == SQLITE_DONE else { throw SQLiteFailure(connection: handle) }
  }

  /// The rows that the last statement changed, without those its triggers changed.
  var changes: Int { Int(sqlite3_changes(database.sqliteConnection)) }

  /// Runs a statement with integers and gives the first column of its first row.
  func integer(_ sql: String, _ arguments: Int64...) throws -> Int64? {
    let statement = try statement(sql)
    defer { statement.reset() }
    for (index, argument) in arguments.enumerated() {
      statement.bind(argument, at: Int32(index + 1))
    }
    guard try statement.step(), !statement.isNull(0) else { return nil }
    return statement.integer(0)
  }

  /// Runs a read that a monitor can stop even while SQLite looks for the next row.
  func interruptible<Result>(
    by monitor: FetchMonitor, _ body: () throws -> Result
  ) throws -> Result {
    let handle = database.sqliteConnection
    sqlite3_progress_handler(
      handle, 1000,
      { context in
        CallbackContext.object(context, as: FetchMonitor.self)?.isCancelled == true ? 1 : 0
      }, CallbackContext.unretained(monitor))
    defer { sqlite3_progress_handler(handle, 0, nil, nil) }
    do {
      return try withExtendedLifetime(monitor, body)
    } catch {
      // What SQLite says of a statement that was stopped is of no interest.
      try monitor.checkCancellation()
      throw error
    }
  }

  /// The greatest key that was given out in a table: what the counter says or what is there.
  ///
  /// A counter that a damaged file has lost is restored from the table.
  ///
  /// - Throws: ``CoreDataError`` for numbers near the end of what there is: only a damaged file has
  ///   them, and counting on from there would overflow.
  func lastKey(ofEntity number: Int, table: String) throws -> Int64 {
    let last = try greatestKey(ofEntity: number, table: table)
    guard last < Int64.max - 1 << 32 else {
      throw CoreDataError(
        .persistentStoreSave,
        "The file is damaged: the keys of table \(table) have come to \(last), and there are no "
          + "more. Restore the store from a backup.")
    }
    return last
  }

  /// Counts so many new keys of a root entity as given out, and all that its table has; returns the first.
  @discardableResult
  func reserveKeys(_ count: Int64, of root: SQLEntity) throws -> Int64 {
    let highest = try lastKey(ofEntity: root.number, table: root.table)
    let statement = try statement(
      "INSERT INTO Z_PRIMARYKEY (Z_ENT, Z_NAME, Z_SUPER, Z_MAX) VALUES (?1, ?2, 0, ?3) "
        + "ON CONFLICT (Z_ENT) DO UPDATE SET Z_MAX = ?3")
    defer { statement.reset() }
    statement.bind(Int64(root.number), at: 1)
    statement.bind(root.name, at: 2)
    statement.bind(highest + count, at: 3)
    try statement.run()
    return highest + 1
  }

  /// The same, whatever it is.
  func greatestKey(ofEntity number: Int, table: String) throws -> Int64 {
    let counter = try integer("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT = ?", Int64(number)) ?? 0
    return max(counter, try integer("SELECT MAX(Z_PK) FROM \(table)") ?? 0)
  }

  /// Asks what the connection knows of the schema: to look through `sqlite_master`, which has no index, takes
  /// longer than most of what is read from a table then.
  func hasTable(_ name: String) throws -> Bool {
    // Makes the connection read the schema again that another one has changed.
    let first = try statement("SELECT 1 FROM sqlite_master LIMIT 1")
    _ = try first.step()
    first.reset()
    return sqlite3_table_column_metadata(
      handle, "main", name, nil, nil, nil, nil, nil, nil) == SQLITE_OK
  }

  private var handle: OpaquePointer? {
    switch source {
    case .database(let database): database.sqliteConnection
    case .held(let reader): reader.connection
    }
  }
}

/// A prepared statement, stepped through the C interface.
struct SQLiteStatement {
  /// Keeps the handle alive; nil when its owner does.
  private let statement: Statement?
  let handle: OpaquePointer

  init(_ statement: Statement) {
    self.statement = statement
    handle = statement.sqliteStatement
  }

  /// A statement that its caller, or a ``HeldReader``, keeps.
  init(handle: OpaquePointer) {
    statement = nil
    self.handle = handle
  }

  // MARK: Running

  /// Goes to the next row; false after the last.
  func step() throws -> Bool {
    switch sqlite3_step(handle) {
    case SQLITE_ROW: return true
    case SQLITE_DONE: return false
    default:
      let failure = SQLiteFailure(connection: sqlite3_db_handle(handle))
      sqlite3_reset(handle)
      throw failure
    }
  }

  /// Runs a statement that gives no rows, and resets it.
  func run() throws {
    while try step() {}
    sqlite3_reset(handle)
  }

  func reset() {
    sqlite3_reset(handle)
    sqlite3_clear_bindings(handle)
  }

  // MARK: Binding

  func bind(_ value: Int64, at index: Int32) { sqlite3_bind_int64(handle, index, value) }
  func bind(_ value: Double, at index: Int32) { sqlite3_bind_double(handle, index, value) }
  func bindNull(at index: Int32) { sqlite3_bind_null(handle, index) }

  func bind(_ value: String, at index: Int32) {
    var value = value
    value.withUTF8 { bytes in
      bytes.withCharacters { characters in
        // An empty string may have no base address, and a null pointer would mean NULL.
        guard let characters else {
          sqlite3_bind_text(handle, index, "", 0, SQLiteDestructor.transient)
          return
        }
        sqlite3_bind_text64(
          handle, index, characters, UInt64(bytes.count), SQLiteDestructor.transient,
          UInt8(SQLITE_UTF8))
      }
    }
  }

  func bind(_ value: Data, at index: Int32) {
    value.withUnsafeBytes { bind(copying: $0, at: index) }
  }

  /// Binds the bytes of a text.
  func bindText(_ bytes: [UInt8], at index: Int32) {
    bytes.withUnsafeBufferPointer { bytes in
      bytes.withCharacters { characters in
        _ = sqlite3_bind_text64(
          handle, index, characters, UInt64(bytes.count), SQLiteDestructor.transient,
          UInt8(SQLITE_UTF8))
      }
    }
  }

  func bind(_ bytes: [UInt8], at index: Int32) {
    bytes.withUnsafeBytes { bind(copying: $0, at: index) }
  }

  func bind(copying bytes: UnsafeRawBufferPointer, at index: Int32) {
    guard let base = bytes.baseAddress, !bytes.isEmpty else {
      sqlite3_bind_zeroblob(handle, index, 0)
      return
    }
    sqlite3_bind_blob64(handle, index, base, UInt64(bytes.count), SQLiteDestructor.transient)
  }

  /// Binds bytes without copying them: another value must be bound before they go.
  func bindInPlace(_ bytes: UnsafeRawBufferPointer, at index: Int32) {
    guard let base = bytes.baseAddress, !bytes.isEmpty else {
      sqlite3_bind_zeroblob(handle, index, 0)
      return
    }
    sqlite3_bind_blob64(handle, index, base, UInt64(bytes.count), nil)
  }

  /// Runs the statement with bytes that are bound without a copy, nil as `NULL`, and bound no more
  /// afterwards.
  func run(binding bytes: [UInt8]?, at index: Int32) throws {
    defer { bindNull(at: index) }
    guard let bytes else {
      bindNull(at: index)
      return try run()
    }
    try bytes.withUnsafeBytes { bytes in
      bindInPlace(bytes, at: index)
      try run()
    }
  }

  // MARK: Columns

  func type(_ column: Int32) -> Int32 { sqlite3_column_type(handle, column) }
  func isNull(_ column: Int32) -> Bool { type(column) == SQLITE_NULL }
  func isDouble(_ column: Int32) -> Bool { type(column) == SQLITE_FLOAT }
  func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(handle, column) }
  func double(_ column: Int32) -> Double { sqlite3_column_double(handle, column) }

  func string(_ column: Int32) -> String {
    guard let bytes = sqlite3_column_text(handle, column) else { return "" }
    let count = Int(sqlite3_column_bytes(handle, column))
    return String(decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
  }

  /// The bytes of a value, which are there until the next step or reset.
  func bytes(_ column: Int32) -> UnsafeRawBufferPointer {
    let start = sqlite3_column_blob(handle, column)
    return UnsafeRawBufferPointer(
      start: start, count: start == nil ? 0 : Int(sqlite3_column_bytes(handle, column)))
  }

  func data(_ column: Int32) -> Data {
    guard let bytes = sqlite3_column_blob(handle, column) else { return Data() }
    return Data(bytes: bytes, count: Int(sqlite3_column_bytes(handle, column)))
  }
}

extension String {
  /// The text as a name in SQL, whatever it contains: names in a file can be any.
  var quotedAsName: String {
    "\"" + replacingOccurrences(of: "\"", with: "\"\"") + "\""
  }
}
