import CSQLiteConduct
import CairnStore
import Foundation
import GRDB

// Write transactions, and what becomes of the store when one fails.

extension SQLiteStore: WriteHolding {
  /// A write transaction.
  ///
  /// It commits when `body` gives a result, and leaves no trace when `body` gives nil or throws.
  ///
  /// - Parameters:
  ///   - isRepeatable: Whether `body` may run a second time, when the disk was full and room could be
  ///     made.
  ///   - deletes: Whether it is there to delete, for which some room is kept.
  ///   - isCounted: Whether a commit that gets lost must be noticed when the store is opened.
  func write<T>(
    doing: String, isRepeatable: Bool = true, deletes: Bool = false, isCounted: Bool = true,
    _ body: (RowLookup) throws -> T?
  ) throws -> T? {
    do {
      return try writeOnce(doing: doing, deletes: deletes, isCounted: isCounted, body)
    } catch let error as CoreDataError
      where error.code == .fileWriteOutOfSpace && isRepeatable && makeRoom()
    {
      return try writeOnce(doing: doing, deletes: deletes, isCounted: isCounted, body)
    }
  }

  private func writeOnce<T>(
    doing: String, deletes: Bool, isCounted: Bool, _ body: (RowLookup) throws -> T?
  ) throws -> T? {
    try checkWritable()
    let (database, reader, snapshots) = (try database, try reader, try snapshots)
    let (care, checksums, limit, held) = state.withLock {
      ($0.logCare, $0.checksums, $0.writeLimit, $0.heldReader)
    }
    // What it looks at in the log would keep SQLite from using the log from its beginning again.
    held?.letGo()
    do {
      var result: T?
      try onWriter(of: database) { connection in
        var commit: ChecksumKeeping.Commit?
        func work() throws -> Bool {
          result = try Deadline.holding(limit, on: connection.sqliteConnection) {
            try reader.lookUp(SQLiteConnection(database: connection), lost: nil, body)
          }
          return result != nil
        }
        try SQLiteConnection(database: connection).transaction(timedBy: commitTimes) {
          try snapshots.check(SQLiteConnection(database: connection))
          let pages = try care?.pages(of: connection) ?? 0
          if let checksums {
            commit = try checksums.summing(
              connection, files: files, isCounted: isCounted, work)
            if commit == nil { return false }
          } else if try !work() {
            return false
          }
          try care?.reserveRoom(connection, after: pages, mayUseReserve: deletes)
          return true
        }
        if let commit { checksums?.didCommit(commit, connection) }
      }
      return result
    } catch {
      throw failed(error, doing: doing)
    }
  }

  public func holdingWrites<Result>(_ work: () throws -> Result) throws -> Result {
    try checkWritable()
    // With a rollback journal readers would wait for the writer, which is the caller itself.
    guard let pool = try database as? DatabasePool else { return try work() }
    var result: Swift.Result<Result, any Error>?
    do {
      try onWriter(of: pool) { connection in
        try SQLiteConnection(database: connection).holdingWrites {
          result = Swift.Result(catching: work)
        }
      }
    } catch {
      throw failed(error, doing: "be held")
    }
    guard let result else { return try work() }
    return try result.get()
  }

  /// Runs work on the connection that writes, and tells those who watch over the process of it.
  func onWriter<Result>(
    of database: any DatabaseWriter, _ work: (Database) throws -> Result
  ) throws -> Result {
    writerWork.begin()
    defer { writerWork.end() }
    // Reentrant for ``holdingWrites(_:)``.
    return try database.unsafeReentrantWrite { connection in
      try writerWork.run { try work(connection) }
    }
  }

  private func checkWritable() throws {
    if let failure { throw failure }
    try checkFilePlace()
    guard isReadOnly else { return }
    throw CoreDataError(
      .persistentStoreSave,
      "The store at \(path) is read-only; open it without \(StoreOptionKey.readOnly) to save.")
  }

  // MARK: Failures

  public var failure: CoreDataError? { state.withLock { $0.failure } }

  /// The declared error for what was thrown while the file was being written; after one that leaves
  /// the file in doubt nothing is written any more.
  func failed(_ error: any Error, doing: String) -> any Error {
    let translated = SQLiteResultCode.translate(
      error, path: path, doing: doing, endsWriting: true)
    guard let failure = SQLiteResultCode.failure(in: error), SQLiteResultCode.isFatal(failure),
      let declared = translated as? CoreDataError
    else { return translated }
    isReadOnly = true
    state.withLock { state in
      if state.failure == nil { state.failure = declared }
    }
    return translated
  }

  /// Whether a commit that threw may have reached the file all the same, so that what it refers to
  /// must stay.
  static func isInDoubt(_ error: any Error) -> Bool {
    guard let error = error as? CoreDataError,
      let code = error.userInfo[SQLiteResultCode.errorDomain] as? NSNumber
    else { return false }
    return SQLiteResultCode.isFatal(SQLiteFailure(code: code.int32Value, message: ""))
  }

  /// Closing the last connection would sync the log again.
  func leaveLog(of database: (any DatabaseWriter)?) {
    database?.unsafeReentrantWrite { connection in
      if let handle = connection.sqliteConnection { _ = csqlite_leave_log_on_close(handle) }
    }
  }

  // MARK: A full disk

  /// Moves what is in the log to where it belongs, so that the log's room can be used again.
  ///
  /// - Returns: Whether all of it was moved.
  private func makeRoom() -> Bool {
    guard failure == nil, !hasLostLog, let pool = try? database as? DatabasePool else {
      return false
    }
    // A reader that looks at the log keeps it from being used from its beginning.
    state.withLock { $0.heldReader }?.letGo()
    do {
      return try onWriter(of: pool) { connection in
        if connection.isInsideTransaction { return false }
        let (frames, moved) = try connection.checkpoint(.passive)
        return frames > 0 && frames == moved
      }
    } catch {
      _ = failed(error, doing: "be checkpointed")
      return false
    }
  }
}
