import CairnStore
import Foundation
import GRDB
import GRDBSQLite
import Synchronization

/// Looks after the write-ahead log of one writing connection: moves it into the database when it has
/// grown, as SQLite would by itself, but hears when that fails; and sees to it that there is always
/// room to move it.
final class LogCare: Sendable {
  /// The log is moved after a commit that leaves it with at least so many pages; 0 for never.
  private let threshold: Int32
  /// Whether no name leads to the log any more, and another program may have begun one.
  private let isLost: @Sendable () -> Bool
  /// May be called from any thread.
  private let onFailure: @Sendable (SQLiteFailure) -> Void
  /// How the connection waits for locks.
  private let lockWait: LockWait
  /// The number of pages in the log at which readers are waited for next.
  private let nextWait: Atomic<Int32>
  /// In bytes; a file with a log keeps it.
  private let pageSize: Int64
  /// Whether the log has what there is no room for in the file, such as what has made the tables.
  private let gap = Atomic(Gap.unknown)

  private enum Gap: UInt8, AtomicRepresentable {
    case unknown, found, moved
  }

  /// How long a commit waits for readers to leave the log, in milliseconds.
  private static let longestWait: Int32 = 10

  /// The database file grows by so many bytes at a time.
  private static let growth: Int32 = 65_536

  /// Takes charge of a connection, which must be closed before this object goes.
  init(
    _ database: Database, lockWait: LockWait, isLost: @escaping @Sendable () -> Bool,
    onFailure: @escaping @Sendable (SQLiteFailure) -> Void
  ) throws {
    self.isLost = isLost
    self.onFailure = onFailure
    let connection = SQLiteConnection(database: database)
    threshold = Int32(
      truncatingIfNeeded: try connection.integer("PRAGMA wal_autocheckpoint") ?? 1000)
    pageSize = try connection.integer("PRAGMA page_size") ?? 4096
    self.lockWait = lockWait
    nextWait = Atomic(threshold.multipliedReportingOverflow(by: 2).partialValue)
    guard let handle = database.sqliteConnection else { return }
    var growth = Self.growth
    sqlite3_file_control(handle, "main", SQLITE_FCNTL_CHUNK_SIZE, &growth)
    sqlite3_wal_hook(
      handle,
      { context, connection, name, pages in
        CallbackContext.object(context, as: LogCare.self)?.didCommit(connection, name, pages)
        // The commit is done, whatever becomes of the log.
        return SQLITE_OK
      }, CallbackContext.unretained(self))
  }

  private func didCommit(
    _ connection: OpaquePointer?, _ name: UnsafePointer<CChar>?, _ pages: Int32
  ) {
    let isLong = threshold > 0 && pages >= threshold
    // Once: a reader or another program that keeps it from being moved would make each commit try.
    let closesGap =
      threshold > 0
      && gap.compareExchange(expected: .found, desired: .moved, ordering: .relaxed).exchanged
    guard isLong || closesGap, !isLost() else { return }
    switch sqlite3_wal_checkpoint_v2(connection, name, SQLITE_CHECKPOINT_PASSIVE, nil, nil) {
    case SQLITE_OK: startAnew(connection, name, pages)
    // Locked or busy: the next commit tries again.
    case SQLITE_BUSY, SQLITE_LOCKED: return
    default: onFailure(SQLiteFailure(connection: connection))
    }
  }

  /// Waits a moment for those who read in the log, where it has grown although it is being moved:
  /// SQLite begins it anew only when a commit meets no reader by chance, and readers that never pause
  /// would let it grow without end.
  ///
  /// The wait is as long as the reads that run. One that takes longer, such as a context that is pinned
  /// to a generation, costs a wait each time the log has grown by the threshold.
  private func startAnew(
    _ connection: OpaquePointer?, _ name: UnsafePointer<CChar>?, _ pages: Int32
  ) {
    let next = nextWait.load(ordering: .relaxed)
    let usual = threshold &* 2
    // It has begun anew by itself.
    if pages < usual { return nextWait.store(usual, ordering: .relaxed) }
    guard pages >= next else { return }
    LockWait(limit: min(lockWait.limit, Self.longestWait)).install(on: connection)
    let code = sqlite3_wal_checkpoint_v2(connection, name, SQLITE_CHECKPOINT_RESTART, nil, nil)
    lockWait.install(on: connection)
    nextWait.store(code == SQLITE_OK ? usual : pages &+ threshold, ordering: .relaxed)
  }

  /// Makes the commits that are in the write-ahead log durable.
  static func synchronizeLog(of database: Database) throws {
    var log: UnsafeMutablePointer<sqlite3_file>?
    let code = sqlite3_file_control(
      database.sqliteConnection, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log)
    // Without methods the file is not open, and nothing has been written to it.
    guard code == SQLITE_OK, let log, let methods = log.pointee.pMethods,
      let synchronize = methods.pointee.xSync
    else { return }
    let result = synchronize(log, SQLITE_SYNC_NORMAL)
    guard result == SQLITE_OK else {
      throw SQLiteFailure(code: result, message: "the log could not be written to disk")
    }
  }

  /// How many pages the database has at the begin of a transaction.
  func pages(of database: Database) throws -> Int64 {
    try SQLiteConnection(database: database).integer("PRAGMA page_count") ?? 0
  }

  /// Makes the database file as large as it will be once the log is moved, and a step larger; called
  /// in a transaction that is about to commit.
  ///
  /// On a disk that has become full, the log can then still be moved and used from its beginning,
  /// and the step is there for what deletes write besides. What was in the log before has its room once it is
  /// moved: for the first time when this commit is done.
  ///
  /// - Parameter committed: The pages of the database before the transaction. What belongs to them is not touched:
  ///   another program may be moving them out of the log.
  func reserveRoom(
    _ database: Database, after committed: Int64, mayUseReserve: Bool
  ) throws {
    var file: UnsafeMutablePointer<sqlite3_file>?
    let found = sqlite3_file_control(
      database.sqliteConnection, "main", SQLITE_FCNTL_FILE_POINTER, &file)
    // In place: the methods of a file layer made for an older SQLite are fewer than the type has.
    guard found == SQLITE_OK, let file, let methods = file.pointee.pMethods,
      let measure = methods.pointee.xFileSize, let write = methods.pointee.xWrite
    else { return }
    let step = Int64(Self.growth)
    let pages = try pages(of: database) * pageSize
    // Moving the log cuts the reserve off the file again; a delete takes what it needs of it.
    let needed = (mayUseReserve ? pages : pages + step).roundedUp(to: step)
    var size: Int64 = 0
    var code = measure(file, &size)
    if size < committed * pageSize {
      _ = gap.compareExchange(expected: .unknown, desired: .found, ordering: .relaxed)
    }
    var place = max(size, committed * pageSize)
    while code == SQLITE_OK, place < needed {
      let count = min(step, needed - place)
      code = Self.zeros.withUnsafeBytes { write(file, $0.baseAddress, Int32(count), place) }
      place += count
    }
    guard code != SQLITE_OK else { return }
    // SQLite calls a full disk a failed write here.
    guard code == SQLITE_FULL || Self.room(besides: database) < 2 * step else {
      throw SQLiteFailure(
        code: code, message: "disk I/O error",
        systemCode: code == SQLiteFailure.failedWrite ? SQLiteFailure.lastSystemCode(of: file) : 0)
    }
    throw SQLiteFailure(code: SQLITE_FULL, message: "database or disk is full")
  }

  private static let zeros = [UInt8](repeating: 0, count: Int(growth))

  /// The bytes that are free on the file's disk.
  private static func room(besides database: Database) -> Int64 {
    guard let name = sqlite3_db_filename(database.sqliteConnection, "main"),
      let facts = try? FileManager.default.attributesOfFileSystem(forPath: String(cString: name)),
      let free = facts[.systemFreeSize] as? NSNumber
    else { return .max }
    return free.int64Value
  }
}

extension Int64 {
  fileprivate func roundedUp(to step: Int64) -> Int64 { (self + step - 1) / step * step }
}
