import CairnPlatform
import CairnStore
import Foundation
import GRDB
import GRDBSQLite

// What becomes of commits whose write-ahead log was removed under the open store, as those do who put a backup in a
// file's place by hand, or clean up what they take for leftovers.

extension SQLiteStore: PlaceChecking {
  public func checkFilePlace() throws {
    guard let place = state.withLock({ $0.place }) else { return }
    try place.check(path)
    if place.hasLostLog { throw rescueLog(of: place) }
  }

  /// - Throws: 134070 when the log is not the one that the store has opened: its connections read what others write
  ///   there as if it were their own.
  func checkLog() throws {
    guard let place = state.withLock({ $0.place }), place.hasLostLog else { return }
    if let failure { throw failure }
    try place.checkLog(path)
  }

  /// Whether the log was removed or replaced since the store was opened, so that it must not be moved into the file
  /// without a look at who else has it.
  var hasLostLog: Bool { state.withLock { $0.place }?.hasLostLog ?? false }

  public var fileNames: Int? {
    state.withLock { $0.place } == nil ? nil : (try? FileFacts(path: path))?.names
  }
}

extension SQLiteStore {
  /// Puts what the log holds into the file, if file and log belong together still, and has nothing more written.
  ///
  /// The connections have the log open although no name leads to it, and no other program will ever read it. Where
  /// the file was changed in place, too, as by copying a backup over it, the log would damage it: it is left alone.
  /// The program that opened the store opens it again.
  ///
  /// - Returns: What to throw.
  private func rescueLog(of place: FilePlace) -> CoreDataError {
    if let failure { return failure }
    let outcome = place.keepingOthersOut(lockWait, moveLog) ?? .left
    if outcome == .inTransaction {
      return CoreDataError(
        .persistentStoreOperation,
        "The write-ahead log of the store at \(path) was removed while it was open. Try again once what runs has "
          + "ended.", userInfo: [NSFilePathErrorKey: path])
    }
    let failure = CoreDataError(
      .persistentStoreOperation,
      outcome == .moved
        ? "The write-ahead log of the store at \(path) was removed while it was open. All that it held is in the "
          + "file now. The store is to be closed and opened again, as a restart does."
        : "The write-ahead log of the store at \(path) was removed while it was open, and what it held cannot "
          + "be put into the file, which another program has changed or uses: what was saved last may be lost. The "
          + "store is to be closed and opened again, as a restart does.",
      userInfo: [NSFilePathErrorKey: path])
    isReadOnly = true
    return state.withLock { state in
      if state.failure == nil { state.failure = failure }
      return state.failure ?? failure
    }
  }

  private enum Rescue {
    /// The file has all of the log.
    case moved
    case left
    /// It cannot be done inside a transaction.
    case inTransaction
  }

  /// Moves the whole log into the file.
  ///
  /// All on the connection that writes: others would open another log under the name.
  private func moveLog() -> Rescue {
    guard !isReadOnly, let pool = try? database as? DatabasePool, let reader = try? reader else {
      return .left
    }
    let held = state.withLock { $0.heldReader }
    do {
      return try onWriter(of: pool) { connection in
        if connection.isInsideTransaction { return .inTransaction }
        held?.letGo()
        // What it has in memory is not what the file has, where another program has changed that.
        sqlite3_db_release_memory(connection.sqliteConnection)
        let findings = try reader.lookUp(
          SQLiteConnection(database: connection), lost: nil, findings(in:))
        guard !findings.contains(where: { $0.severity == .damage }) else { return .left }
        let (frames, moved) = try connection.checkpoint(.passive)
        return frames == moved ? .moved : .left
      }
    } catch {
      return .left
    }
  }
}
