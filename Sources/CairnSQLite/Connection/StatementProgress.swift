import CairnStore
import GRDBSQLite

/// Tells, while a long statement of a connection runs, that it gets on; ends one whose time is over.
enum StatementProgress {
  /// SQLite calls back after so many of its instructions, every few milliseconds.
  static let instructions: Int32 = 100_000

  /// Makes a connection tell from now on.
  static func install(on connection: OpaquePointer?) {
    let handler: @convention(c) (UnsafeMutableRawPointer?) -> Int32 = { _ in
      QueueWork.gotOn()
      return ReadLimit.isOver ? 1 : 0
    }
    sqlite3_progress_handler(connection, instructions, handler, nil)
  }
}
