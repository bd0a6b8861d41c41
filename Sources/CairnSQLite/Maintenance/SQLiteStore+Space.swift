import CairnStore
import Foundation
import GRDB
import GRDBSQLite

extension SQLiteStore {
  /// Free pages up to this part of the file stay: they are used again soon.
  private static let keptPart: Int64 = 8
  /// So many stay in any file.
  private static let keptPages: Int64 = 32

  public func releaseSpace(atMost limit: Int64) throws -> Int64 {
    try write(doing: "give back room", deletes: true, isCounted: false) { lookup -> Int64? in
      let connection = lookup.connection
      // Other files keep their free pages, and use them again.
      guard try connection.integer("PRAGMA auto_vacuum") == 2,
        let free = try connection.integer("PRAGMA freelist_count"),
        let pages = try connection.integer("PRAGMA page_count"),
        let size = try connection.integer("PRAGMA page_size"), size > 0
      else { return nil }
      let surplus = free - max(Self.keptPages, (pages - free) / Self.keptPart)
      let count = min(surplus, max(1, limit / size))
      guard count > 0 else { return nil }
      try connection.execute("PRAGMA incremental_vacuum(\(count))")
      return count * size
    } ?? 0
  }

  public func settleFile() throws -> Bool {
    if let failure { throw failure }
    try checkFilePlace()
    guard !isReadOnly, let pool = try database as? DatabasePool else { return true }
    state.withLock { $0.heldReader }?.letGo()
    do {
      return try onWriter(of: pool) { connection in
        guard let handle = connection.sqliteConnection else { return false }
        LockWait(limit: 0).install(on: handle)
        defer { lockWait.install(on: handle) }
        // The file is cut to its size when the log begins anew, which readers must not hold up.
        return try Self.moveLog(SQLITE_CHECKPOINT_PASSIVE, of: handle)
          && Self.moveLog(SQLITE_CHECKPOINT_TRUNCATE, of: handle)
      }
    } catch {
      throw failed(error, doing: "be checkpointed")
    }
  }

  /// - Returns: Whether all of the log is in the file; others may hold it up.
  private static func moveLog(_ mode: CInt, of handle: OpaquePointer) throws -> Bool {
    var (frames, moved): (CInt, CInt) = (-1, -1)
    let code = sqlite3_wal_checkpoint_v2(handle, "main", mode, &frames, &moved)
    if code == SQLITE_BUSY || code == SQLITE_LOCKED { return false }
    guard code == SQLITE_OK else { throw SQLiteFailure(connection: handle) }
    return frames == moved
  }
}
