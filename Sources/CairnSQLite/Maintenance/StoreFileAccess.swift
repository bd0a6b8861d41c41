import CairnStore
import Foundation
import GRDB
import GRDBSQLite

/// Work on a store file that is not open as a store.
enum StoreFileAccess {
  /// - Parameter waits: Whether it waits for others, as the options ask, or fails at once.
  static func open(
    _ url: URL, options: StoreOptions, waits: Bool = true
  ) throws -> DatabaseQueue {
    var configuration = Configuration()
    configuration.busyMode = waits ? .timeout(options.timeout) : .immediateError
    configuration.foreignKeysEnabled = false
    // Old schemas may quote text like names; they must still be readable.
    configuration.acceptsDoubleQuotedStringLiterals = true
    configuration.prepareDatabase { database in
      SQLiteDefences.install(on: database)
      try TemporaryFiles.install(on: database)
      // With a rollback journal a commit is durable only once the journal's name is gone for good.
      try database.execute(sql: "PRAGMA synchronous = EXTRA")
      SQLiteFunctions.register(on: database)
    }
    try configuration.takesPartInIndex(
      of: url.path, LockWait(seconds: waits ? options.timeout : 0))
    return try DatabaseQueue(path: url.path, configuration: configuration)
  }

  /// Runs `body` in one write transaction.
  static func write<T>(
    _ url: URL, options: StoreOptions, doing: String, _ body: (SQLiteConnection) throws -> T
  ) throws -> T {
    do {
      let queue = try open(url, options: options)
      defer { try? queue.close() }
      return try queue.writeWithoutTransaction { database in
        var result: Result<T, any Error>?
        try database.inTransaction(.immediate) {
          result = .success(try body(SQLiteConnection(database: database)))
          return .commit
        }
        guard let result else {
          throw CoreDataError(.persistentStoreOperation, "\(url.path) was not written.")
        }
        return try result.get()
      }
    } catch {
      throw SQLiteResultCode.translate(error, path: url.path, doing: doing)
    }
  }

  /// Leaves a valid database without any table.
  static func empty(_ url: URL, options: StoreOptions) throws {
    do {
      let queue = try open(url, options: options)
      defer { try? queue.close() }
      try queue.erase()
      // One that stays is of another store than that which comes.
      try? SQLiteFileSet(path: url.path, options: options).removeCommitNote()
    } catch {
      throw SQLiteResultCode.translate(error, path: url.path, doing: "be destroyed")
    }
  }

  /// Makes `destination` a copy of `source`, with what is still in its write-ahead log and with its
  /// external data.
  ///
  /// Whatever fails, and wherever it stops, the destination is as it was, or the copy.
  static func copy(from source: URL, to destination: URL, options: StoreOptions) throws {
    let target = SQLiteFileSet(path: destination.path, options: options)
    let isNew = !target.exists
    let files = ExternalDataCopying(from: source, to: destination, options: options)
    do {
      // Names are never given twice, so these stand beside the files of the rows to be replaced.
      try files.add()
      let from = try open(source, options: options)
      defer { try? from.close() }
      let to = try open(destination, options: options)
      defer { try? to.close() }
      // The copy may be an older one of the same store.
      try target.removeCommitNote()
      try copyPages(from: from, to: to)
      // Else the next opening does it; the rows are there, and so must their files be.
      try? to.writeWithoutTransaction { try $0.execute(sql: "PRAGMA journal_mode = WAL") }
    } catch {
      let isGone = isNew && (try? target.removeDatabase()) != nil
      let isFatal = SQLiteResultCode.failure(in: error).map(SQLiteResultCode.isFatal) ?? false
      if isGone || !isFatal { files.takeBack() }
      throw SQLiteResultCode.translate(error, path: destination.path, doing: "be replaced")
    }
    files.finish()
  }

  /// Copies every page of one moment: at once, or in steps that are reported.
  private static func copyPages(from: DatabaseQueue, to: DatabaseQueue) throws {
    guard CopyProgress.isWanted else { return try from.backup(to: to) }
    try to.writeWithoutTransaction { destination in
      try from.read { source in
        // The reading begins with the first statement, and lasts for all steps: SQLite starts a copy anew when
        // others commit between two steps that read by themselves.
        _ = try Int.fetchOne(source, sql: "SELECT COUNT(*) FROM sqlite_master")
        let size = try Int.fetchOne(source, sql: "PRAGMA page_size") ?? 0
        try source.backup(to: destination, pagesPerStep: pagesInStep) { step in
          CopyProgress.report(
            done: step.completedPageCount * size, total: step.totalPageCount * size)
        }
      }
    }
  }

  /// A mebibyte of pages of the usual size.
  private static let pagesInStep: Int32 = 256
}
