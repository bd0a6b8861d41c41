import CairnStore
import Foundation

/// A connection with a read transaction that stays open: the store as it was when the transaction began.
///
/// It has a connection of its own, and holds up no writer. But the server keeps all rows that it may still see, so it is
/// given up after a time.
// Unchecked: `connection`, `isLent` and `reason` are read and changed under `condition` alone; the connection is used by
// the one caller that it is lent to.
final class HeldSnapshot: @unchecked Sendable {
  private let condition = NSCondition()
  /// Nil once it was given up.
  private var connection: PostgreSQLConnection?
  private var isLent = false
  private var reason = "the store was closed"
  private let place: String

  /// - Parameters:
  ///   - connection: One that serves nothing else.
  ///   - age: Seconds after which it is given up; nil for never.
  /// - Throws: ``StoreChange`` when the store is of another version of its model.
  init(
    _ connection: PostgreSQLConnection, of schema: SchemaName, version: Int64, place: String,
    age: TimeInterval?
  ) throws {
    self.place = place
    _ = try PostgreSQLTransaction(on: connection, .repeatableRead, readOnly: true)
    // Standing still is what it is for. The first query takes the snapshot.
    try connection.run("SET LOCAL idle_in_transaction_session_timeout = 0", isKept: false)
    let query = StoreState.query(in: schema)
    let found = StoreState(try connection.run(query.text, query.parameters))
    guard found?.version == version else { throw StoreChange(found: found) }
    self.connection = connection
    guard let age, age.isFinite, age < 1e9 else { return }
    DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + max(0, age)) { [weak self] in
      self?.giveUp("it was older than \(age) s")
    }
  }

  var isOpen: Bool {
    condition.lock()
    defer { condition.unlock() }
    return connection != nil
  }

  /// Ends the transaction, at once or after the read that is under way; who reads from now on learns why.
  func giveUp(_ reason: String) {
    condition.lock()
    let ended = connection
    if ended != nil { self.reason = reason }
    connection = nil
    condition.broadcast()
    condition.unlock()
    // Ending a connection writes to the network, so it happens after the lock is released.
    withExtendedLifetime(ended) {}
  }

  /// Reads over the connection, one caller at a time.
  func read<Result>(_ body: (PostgreSQLConnection) throws -> Result) throws -> Result {
    condition.lock()
    while isLent, connection != nil { condition.wait() }
    guard let connection else {
      condition.unlock()
      throw givenUp
    }
    isLent = true
    condition.unlock()
    defer {
      condition.lock()
      isLent = false
      condition.signal()
      condition.unlock()
    }
    do {
      return try Self.reading(on: connection) { try body(connection) }
    } catch {
      // A statement that fails ends with what came after the savepoint, and the snapshot stays.
      do {
        try connection.run("ROLLBACK TO SAVEPOINT \(Self.savepoint)")
        try connection.run(Self.end)
      } catch let failure as PostgreSQLFailure {
        giveUp("reading it failed (\(failure))")
        throw givenUp
      }
      if let failure = error as? PostgreSQLFailure { throw failure.error("read rows of", place) }
      throw error
    }
  }

  /// Runs work in a transaction that is open, such that ``goOn(on:)`` can take back a statement that failed.
  static func reading<Result>(
    on connection: PostgreSQLConnection, _ body: () throws -> Result
  ) throws -> Result {
    try connection.run(beginning)
    let result = try body()
    try connection.run(end)
    return result
  }

  private static let savepoint = "cairn_read"
  private static let beginning = "SAVEPOINT \(savepoint)"
  private static let end = "RELEASE SAVEPOINT \(savepoint)"

  /// Has a read of a generation go on after a statement that failed; does nothing elsewhere.
  static func goOn(on connection: PostgreSQLConnection) throws {
    guard connection.transactionStatus == .inFailedTransaction else { return }
    try connection.run("ROLLBACK TO SAVEPOINT \(savepoint)")
  }

  private var givenUp: CoreDataError {
    condition.lock()
    let reason = reason
    condition.unlock()
    return CoreDataError(
      .persistentStoreOperation,
      "The query generation of the store in \(place) is no longer there: \(reason). Pin the context "
        + "to a new one with setQueryGenerationFrom(_:), then call refreshAllObjects().",
      userInfo: ["reason": reason])
  }
}
