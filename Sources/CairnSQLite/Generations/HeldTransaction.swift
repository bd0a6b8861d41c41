import CairnModel
import CairnStore
import Foundation
import GRDB
import Synchronization

/// A read transaction that stays open: the store as it was when the transaction began.
///
/// It has a connection of its own, so it holds up no reader and no writer. But as long as it is
/// open SQLite cannot start the write-ahead log anew; so once it is old and the log has become
/// long, it is given up, and reading it throws.
// Unchecked: mutable state is `state`, inside a mutex; the connection is used on its own serial
// queue, where ending and reading exclude each other.
final class HeldTransaction: @unchecked Sendable {
  private struct State {
    /// Nil once it was given up, with the reason, or taken back.
    var connection: DatabaseQueue?
    var reason = "nobody holds it"
  }
  private let state: Mutex<State>
  private let path: String
  private let maximumAge: TimeInterval
  private let logSize: Int

  /// - Parameter connection: One for which ``begin(_:)`` succeeded.
  init(
    connection: DatabaseQueue, path: String, options: StoreOptions, lasting: GenerationLifetime
  ) {
    state = Mutex(State(connection: connection))
    self.path = path
    maximumAge = max(0, options.queryGenerationMaximumAge)
    logSize = max(0, options.queryGenerationLogSize)
    if lasting == .asConfigured { review(after: maximumAge) }
  }

  // MARK: Life

  var isOpen: Bool { state.withLock { $0.connection != nil } }

  /// Begins a read transaction that sees the last commit; false when the database keeps no log, so
  /// that the transaction would keep writers waiting.
  static func begin(_ connection: DatabaseQueue) throws -> Bool {
    try connection.unsafeRead { database in
      guard try String.fetchOne(database, sql: "PRAGMA journal_mode")?.lowercased() == "wal" else {
        return false
      }
      try database.execute(sql: "BEGIN")
      _ = try Row.fetchOne(database, sql: "SELECT 1 FROM sqlite_master LIMIT 1")
      return true
    }
  }

  /// Ends the transaction; who reads from now on learns why.
  func giveUp(_ reason: String) {
    let connection = state.withLock { state -> DatabaseQueue? in
      defer { state.connection = nil }
      if state.connection != nil { state.reason = reason }
      return state.connection
    }
    // Waits for a read that is under way.
    try? connection?.close()
  }

  /// Ends the transaction and gives its connection back; nil when there is none any more.
  func end() -> DatabaseQueue? {
    let connection = state.withLock { state -> DatabaseQueue? in
      defer { state.connection = nil }
      return state.connection
    }
    guard let connection else { return nil }
    do {
      try connection.unsafeRead { try $0.execute(sql: "ROLLBACK") }
      return connection
    } catch {
      try? connection.close()
      return nil
    }
  }

  private func review(after seconds: TimeInterval) {
    guard seconds.isFinite, seconds < 1e9 else { return }
    DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + seconds) { [weak self] in
      guard let self, isOpen else { return }
      let facts = try? FileManager.default.attributesOfItem(atPath: path + "-wal")
      let size = (facts?[.size] as? NSNumber)?.intValue ?? 0
      if size > logSize {
        giveUp("it was older than \(maximumAge) s and the write-ahead log had \(size) bytes")
      } else {
        review(after: max(0.05, maximumAge / 10))
      }
    }
  }

  // MARK: Reading

  /// - Throws: ``MissingFiles`` for files that are not there and not among those that are `lost`.
  func read<T>(
    _ reader: RowReader, lost: Set<String>, _ body: (RowLookup) throws -> T
  ) throws -> T {
    guard let connection = state.withLock({ $0.connection }) else { throw givenUp }
    do {
      return try connection.unsafeRead { database in
        // It may have been given up while this waited for the connection.
        guard database.isInsideTransaction else { throw givenUp }
        return try reader.lookUp(SQLiteConnection(database: database), lost: lost, body)
      }
    } catch {
      if !isOpen { throw givenUp }
      // SQLite ends a transaction in which the disk fails.
      if connection.unsafeReentrantRead({ !$0.isInsideTransaction }) {
        let reason = SQLiteResultCode.failure(in: error)?.message ?? "\(error)"
        giveUp("reading it failed (\(reason))")
      }
      throw SQLiteResultCode.translate(error, path: path, doing: "be read")
    }
  }

  var givenUp: CoreDataError {
    let reason = state.withLock { $0.reason }
    return CoreDataError(
      .persistentStoreOperation,
      "The query generation of the store at \(path) is no longer there: \(reason). Pin the context "
        + "to a new one with setQueryGenerationFrom(_:), then call refreshAllObjects().",
      userInfo: [NSFilePathErrorKey: path, "reason": reason])
  }
}
