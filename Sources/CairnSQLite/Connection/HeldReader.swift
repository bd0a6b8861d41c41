import CairnStore
import Foundation
import GRDB
import GRDBSQLite
import Synchronization

/// A connection for short reads in a row, such as faults that fire one after the other: it keeps
/// its read transaction open between them.
///
/// Beginning and ending a read transaction costs more than looking up a row. Each read still sees
/// the last commit of any connection: the header of the WAL index, which every commit changes, is
/// compared first, and the transaction begun anew when it differs. When no caller reads any more a
/// transaction ends after two hundredths of a second at most, and one that is read in all the time
/// is begun anew each hundredth, so that the log can be recycled.
// Unchecked: what is mutable is used only while `lock` is held, but for `isOverdue`, which is
// atomic; `queue` guards itself, and only this class uses its connection after `init`.
final class HeldReader: @unchecked Sendable {
  private let lock = Mutex<Void>(())
  /// Owns the connection, its functions and its settings.
  private let queue: DatabaseQueue
  private var handle: OpaquePointer?
  /// By the SQL's text.
  private var statements: [String: OpaquePointer] = [:]
  /// The two used last: texts that a form or a schema keeps are the same strings each time, which
  /// is seen at a glance, where the dictionary reads a text from end to end.
  private var recent: (sql: String, statement: OpaquePointer)?
  private var earlier: (sql: String, statement: OpaquePointer)?
  private var isHolding = false
  private var isReleaseScheduled = false
  /// Whether the transaction has lasted long enough: the next read begins another one.
  private let isOverdue = Atomic(false)
  /// Mapped as long as the connection is open.
  private var index: WALIndex?
  /// The header before the transaction began.
  private var header = WALIndex.Header()

  private static let longestHold = DispatchTimeInterval.milliseconds(10)
  private static let statementLimit = 64

  /// Nil when the file is not in WAL mode.
  init?(_ queue: DatabaseQueue) throws {
    self.queue = queue
    handle = queue.unsafeReentrantRead { $0.sqliteConnection }
    guard try lock.withLock({ _ in try mapIndex() }) else {
      close()
      return nil
    }
  }

  // A statement that is left behind would keep SQLite's connection for good.
  deinit { finalizeStatements() }

  // MARK: Reading

  /// Runs a read that sees the last commit; nil when another thread is reading here.
  ///
  /// - Parameter check: Called first in each new transaction.
  @inline(__always)
  func read<Result: Sendable>(
    beginning check: (SQLiteConnection) throws -> Void, _ body: (SQLiteConnection) throws -> Result
  ) throws -> Result? {
    try lock.withLockIfAvailable { _ -> Result? in
      guard handle != nil else { return nil }
      do {
        try hold(check)
        return try body(SQLiteConnection(held: self))
      } catch {
        endHold()
        throw error
      }
    } ?? nil
  }

  /// The prepared statement for a text; called inside ``read(_:)`` only.
  func statement(_ sql: String) throws -> SQLiteStatement {
    if let recent, recent.sql == sql { return SQLiteStatement(handle: recent.statement) }
    if let earlier, earlier.sql == sql {
      swap(&self.recent, &self.earlier)
      return SQLiteStatement(handle: earlier.statement)
    }
    if let known = statements[sql] {
      note(sql, known)
      return SQLiteStatement(handle: known)
    }
    if statements.count >= Self.statementLimit { finalizeStatements() }
    var made: OpaquePointer?
    let code = sqlite3_prepare_v3(handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &made, nil)
    guard code == SQLITE_OK, let made else { throw SQLiteFailure(connection: handle) }
    statements[sql] = made
    note(sql, made)
    return SQLiteStatement(handle: made)
  }

  /// SQLite's connection; asked for inside ``read(_:)`` only.
  var connection: OpaquePointer? { handle }

  private func note(_ sql: String, _ statement: OpaquePointer) {
    earlier = recent
    recent = (sql, statement)
  }

  /// What every connection's commit changes; nil while another thread reads here, and once it is closed.
  ///
  /// Never waits. What a commit is writing meanwhile is another header, too.
  func headerIfFree() -> WALIndex.Header? {
    lock.withLockIfAvailable { _ in index?.header } ?? nil
  }

  // MARK: Holding

  private func hold(_ check: (SQLiteConnection) throws -> Void) throws {
    let now = index?.header ?? WALIndex.Header()
    if isHolding {
      if now == header, !isOverdue.load(ordering: .relaxed) { return }
      endHold()
    }
    // Taken before the transaction begins: a commit in between makes the next read begin anew.
    header = now
    try execute("BEGIN")
    isHolding = true
    isOverdue.store(false, ordering: .relaxed)
    if !isReleaseScheduled {
      isReleaseScheduled = true
      scheduleRelease()
    }
    try check(SQLiteConnection(held: self))
  }

  private func scheduleRelease() {
    // Kept until then: a weak reference would make every read dearer from now on.
    DispatchQueue.global().asyncAfter(deadline: .now() + Self.longestHold) { self.release() }
  }

  /// Ends the transaction that is kept open, if no read is under way.
  func letGo() {
    _ = lock.withLockIfAvailable { _ in endHold() }
  }

  /// Gives up what the connection keeps of the file, if no read is under way.
  func releaseMemory() {
    _ = lock.withLockIfAvailable { _ in
      endHold()
      finalizeStatements()
      if let handle { sqlite3_db_release_memory(handle) }
    }
  }

  /// Ends a transaction that no read uses.
  ///
  /// A reader that is busy is not waited for: reads that find the lock taken go a longer way. Its
  /// next read begins anew, and if there is none this comes again.
  private func release() {
    isOverdue.store(true, ordering: .relaxed)
    let isReleased = lock.withLockIfAvailable { _ in
      isReleaseScheduled = false
      endHold()
      return true
    }
    if isReleased != true { scheduleRelease() }
  }

  private func endHold() {
    guard isHolding else { return }
    isHolding = false
    // Fails only when SQLite has ended the transaction by itself.
    try? execute("ROLLBACK")
  }

  private func execute(_ sql: String) throws {
    guard sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK else {
      throw SQLiteFailure(connection: handle)
    }
  }

  /// Finds the WAL index through SQLite's own mapping of it; false without WAL.
  private func mapIndex() throws -> Bool {
    let mode = try statement("PRAGMA journal_mode")
    let isLog = try mode.step() && mode.string(0).lowercased() == "wal"
    mode.reset()
    guard isLog else { return false }
    // The index is mapped by the first read.
    let first = try statement("SELECT 1 FROM sqlite_master LIMIT 1")
    _ = try first.step()
    defer { first.reset() }
    index = WALIndex(of: handle)
    return index != nil
  }

  // MARK: Closing

  private func finalizeStatements() {
    recent = nil
    earlier = nil
    for statement in statements.values { sqlite3_finalize(statement) }
    statements = [:]
  }

  /// Ends everything; later reads find the reader unavailable.
  func close() {
    lock.withLock { _ in
      endHold()
      finalizeStatements()
      index = nil
      handle = nil
    }
    try? queue.close()
  }
}
