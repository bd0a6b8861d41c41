import CairnStore
import Foundation
import GRDB
import GRDBSQLite

/// Work on a store file that is not open as a store.
enum StoreFileAccess {
  static func open(_ url: URL, options: StoreOptions) throws -> DatabaseQueue {
    var configuration = Configuration()
    configuration.busyMode = .timeout(options.timeout)
    configuration.foreignKeysEnabled = false
    // Old schemas may quote text like names; they must still be readable.
    configuration.acceptsDoubleQuotedStringLiterals = true
    configuration.prepareDatabase { SQLiteFunctions.register(on: $0) }
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
      SQLiteFileSet(path: url.path).removeCommitNote()
    } catch {
      throw SQLiteResultCode.translate(error, path: url.path, doing: "be destroyed")
    }
  }

  /// Makes `destination` a copy of `source`, with what is still in its write-ahead log and with its
  /// external data.
  ///
  /// Whatever fails, and wherever it stops, the destination is as it was, or the copy.
  static func copy(from source: URL, to destination: URL, options: StoreOptions) throws {
    let target = SQLiteFileSet(path: destination.path)
    let isNew = !target.exists
    let files = ExternalDataCopying(from: source, to: destination)
    do {
      // Names are never given twice, so these stand beside the files of the rows to be replaced.
      try files.add()
      let from = try open(source, options: options)
      defer { try? from.close() }
      let to = try open(destination, options: options)
      defer { try? to.close() }
      try from.backup(to: to)
      target.removeCommitNote()
      try to.writeWithoutTransaction { try $0.execute(sql: "PRAGMA journal_mode = WAL") }
    } catch {
      if isNew { target.removeDatabase() }
      let failure = SQLiteResultCode.failure(in: error)
      if failure.map({ !SQLiteResultCode.isFatal($0) }) ?? true { files.takeBack() }
      throw SQLiteResultCode.translate(error, path: destination.path, doing: "be replaced")
    }
    files.finish()
  }
}
