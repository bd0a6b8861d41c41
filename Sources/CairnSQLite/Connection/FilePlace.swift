import CairnPlatform
import CairnStore
import Foundation
import GRDB
import GRDBSQLite

/// Which file stood behind a store's name when it was opened.
struct FilePlace: Equatable {
  private let device: UInt64
  private let inode: UInt64

  /// - Throws: 134070 when the name leads to another file than the one that is open.
  init(of path: String, openIn connection: Database) throws {
    guard let facts = try? FileFacts(path: path) else { throw Self.lost(path) }
    device = facts.device
    inode = facts.inode
    // The file may have been replaced between its opening and the look at its name.
    var hasMoved: Int32 = 0
    let isKnown = sqlite3_file_control(
      connection.sqliteConnection, "main", SQLITE_FCNTL_HAS_MOVED, &hasMoved)
    if isKnown == SQLITE_OK, hasMoved != 0 { throw Self.lost(path) }
  }

  /// - Throws: 134070 when the name leads elsewhere now.
  func check(_ path: String) throws {
    let facts = try? FileFacts(path: path)
    if facts?.device != device || facts?.inode != inode { throw Self.lost(path) }
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

extension SQLiteStore: PlaceChecking {
  public func checkFilePlace() throws { try state.withLock { $0.place }?.check(path) }
  public var fileNames: Int? {
    state.withLock { $0.place } == nil ? nil : (try? FileFacts(path: path))?.names
  }
}
