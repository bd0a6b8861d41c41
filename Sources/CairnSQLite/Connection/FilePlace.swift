import CairnPlatform
import CairnStore
import Foundation
import GRDB
import GRDBSQLite

/// Which files stood behind a store's name when it was opened: the database, and its write-ahead log.
struct FilePlace: Equatable {
  struct File: Equatable {
    private let device: UInt64
    private let inode: UInt64

    /// Nil where there is none.
    init?(_ path: String) {
      guard let facts = try? FileFacts(path: path) else { return nil }
      (device, inode) = (facts.device, facts.inode)
    }
  }
  private struct Companion: Equatable {
    let path: String
    let file: File

    init?(_ path: String) {
      guard let file = File(path) else { return nil }
      (self.path, self.file) = (path, file)
    }

    /// Whether its name leads elsewhere now, or nowhere.
    var isLost: Bool { File(path) != file }
  }
  private let database: File
  /// Nil without a log; SQLite keeps one for as long as a connection is open.
  private let log: Companion?
  /// The index of the log, by which processes share it; nil without.
  private let index: Companion?

  /// - Throws: 134070 when the name leads to another file than the one that is open, or the log's does.
  init(of path: String, openIn connection: Database) throws {
    guard let file = File(path) else { throw Self.lost(path) }
    database = file
    // Beside the file that a symbolic link leads to.
    let name = sqlite3_db_filename(connection.sqliteConnection, "main")
    let stem = name.map { String(cString: $0) } ?? path
    log = Companion(stem + "-wal")
    index = Companion(stem + "-shm")
    // The file may have been replaced between its opening and the look at its name.
    var hasMoved: Int32 = 0
    let isKnown = sqlite3_file_control(
      connection.sqliteConnection, "main", SQLITE_FCNTL_HAS_MOVED, &hasMoved)
    if isKnown == SQLITE_OK, hasMoved != 0 { throw Self.lost(path) }
    // So may the log, for which SQLite has no such question.
    guard try String.fetchOne(connection, sql: "PRAGMA journal_mode") == "wal" else { return }
    let companions = [log, index].compactMap(\.self)
    let facts = companions.compactMap { try? FileFacts(path: $0.path) }
    guard log != nil, facts.count == companions.count, FileUsers.areOpenHere(facts) else {
      throw RemovedLog.failure(path)
    }
  }

  /// - Throws: 134070 when the name leads elsewhere now.
  func check(_ path: String) throws {
    if File(path) != database { throw Self.lost(path) }
  }

  /// - Throws: 134070 when the log is not the one that was opened, which names the file where that is another, too.
  func checkLog(_ path: String) throws {
    guard hasLostLog else { return }
    try check(path)
    throw RemovedLog.failure(path)
  }

  /// Whether the log, or its index, was removed or replaced: no other program reads what is written to it, and it ends
  /// with the last connection.
  var hasLostLog: Bool { log?.isLost == true || index?.isLost == true }

  /// Runs work on the lost log while no program can begin another one in its place.
  ///
  /// - Parameter wait: For those who have the same log open, and do the same.
  /// - Returns: Nil where another program has done so already, or may have.
  func keepingOthersOut<Result>(_ wait: LockWait, _ work: () throws -> Result) rethrows -> Result? {
    guard let log, !hasAnother(log) else { return nil }
    guard let index, index.isLost else { return try work() }
    guard let lock = lockIndex(at: index.path, wait) else { return nil }
    defer { lock.release() }
    // One that was there until the lock was free.
    return hasAnother(log) ? nil : try work()
  }

  private func hasAnother(_ log: Companion) -> Bool {
    log.isLost && ((try? FileFacts(path: log.path))?.size ?? 0) > 0
  }

  private func lockIndex(at path: String, _ wait: LockWait) -> WALIndexLock? {
    let name = String(path.dropLast("-shm".count))
    guard let database = try? FileFacts(path: name) else { return nil }
    return RemovedLog.patience(wait).retrying {
      try? WALIndexLock.attempt(index: path, of: database)
    }
  }

  static func == (a: FilePlace, b: FilePlace) -> Bool {
    a.database == b.database && a.log?.file == b.log?.file && a.index?.file == b.index?.file
  }

  private static func lost(_ path: String) -> CoreDataError {
    CoreDataError(
      .persistentStoreOperation,
      "The file of the store at \(path) was removed, moved or replaced while it was open; what is "
        + "written to it would be lost. Put that file back; what is there now is used once the store is "
        + "closed and opened again, as a restart does.",
      userInfo: [NSFilePathErrorKey: path])
  }
}
