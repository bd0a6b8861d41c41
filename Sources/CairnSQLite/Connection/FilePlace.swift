import CairnPlatform
import CairnStore
import Foundation
import GRDB
import GRDBSQLite

/// Which files stood behind a store's name when it was opened: the database, and its write-ahead log.
struct FilePlace: Equatable {
  private struct File: Equatable {
    let device: UInt64
    let inode: UInt64

    /// Nil where there is none.
    init?(_ path: String) {
      guard let facts = try? FileFacts(path: path) else { return nil }
      (device, inode) = (facts.device, facts.inode)
    }
  }
  private let database: File
  /// Nil without a log; SQLite keeps one for as long as a connection is open.
  private let log: (path: String, file: File)?

  /// - Throws: 134070 when the name leads to another file than the one that is open.
  init(of path: String, openIn connection: Database) throws {
    guard let file = File(path) else { throw Self.lost(path) }
    database = file
    // Beside the file that a symbolic link leads to.
    let name = sqlite3_db_filename(connection.sqliteConnection, "main")
    let logPath = (name.map { String(cString: $0) } ?? path) + "-wal"
    log = File(logPath).map { (logPath, $0) }
    // The file may have been replaced between its opening and the look at its name.
    var hasMoved: Int32 = 0
    let isKnown = sqlite3_file_control(
      connection.sqliteConnection, "main", SQLITE_FCNTL_HAS_MOVED, &hasMoved)
    if isKnown == SQLITE_OK, hasMoved != 0 { throw Self.lost(path) }
  }

  /// - Throws: 134070 when the name leads elsewhere now.
  func check(_ path: String) throws {
    if File(path) != database { throw Self.lost(path) }
  }

  /// Whether the log was removed or replaced: no other program reads what is written to it, and it ends with the
  /// last connection.
  var hasLostLog: Bool { log.map { File($0.path) != $0.file } ?? false }

  /// Whether there is a log in the place of the lost one, which others write to.
  var hasAnotherLog: Bool {
    log.map { ((try? FileFacts(path: $0.path))?.size ?? 0) > 0 } ?? false
  }

  static func == (a: FilePlace, b: FilePlace) -> Bool {
    a.database == b.database && a.log?.file == b.log?.file
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
