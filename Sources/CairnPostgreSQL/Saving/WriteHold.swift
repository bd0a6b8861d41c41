import CairnStore

/// A connection whose transaction keeps all others from writing rows, until it is let go.
///
/// It has the lock that Cairn's own writers take with others, and locks the tables for those who write plain SQL. What
/// the holder writes, it writes over this connection: a commit ends the locks, which are taken anew then.
// Unchecked: used by the one thread that holds, as `current` sees to.
final class WriteHold: @unchecked Sendable {
  /// What the calling thread holds.
  @TaskLocal static var current: WriteHold?

  let connection: PostgreSQLConnection
  private let schema: PostgreSQLSchema
  private let pool: ConnectionPool

  init(
    _ connection: PostgreSQLConnection, of schema: PostgreSQLSchema, in pool: ConnectionPool
  ) throws {
    self.connection = connection
    self.schema = schema
    self.pool = pool
    try begin()
  }

  /// Whether it is the open store's own.
  func isOf(_ state: PostgreSQLStore.State) -> Bool { pool === state.pool }

  /// Takes the locks; without a connection there is nothing left to hold.
  private func begin() throws {
    let tables = schema.tables.map { SQLText.name(schema.name.text, $0.name) }
    let locks =
      tables.isEmpty
      ? []
      : [Statement("LOCK TABLE \(tables.joined(separator: ", ")) IN SHARE ROW EXCLUSIVE MODE")]
    try connection.run(
      [PostgreSQLTransaction.beginning(), TransactionLock.schema.statement(of: schema.name)] + locks
    )
  }

  /// Runs a transaction of the holder.
  func write<Result>(_ body: (PostgreSQLConnection) throws -> Result) throws -> Result {
    let result: Swift.Result<Result, any Error>
    do {
      result = .success(try body(connection))
    } catch {
      result = .failure(error)
    }
    if connection.end == nil {
      end()
      do {
        try begin()
      } catch {
        // What was committed is so; others come in from now on.
        end()
      }
    }
    return try result.get()
  }

  /// Lets the others write.
  func end() {
    guard connection.end == nil, connection.transactionStatus != .idle else { return }
    _ = try? connection.run("ROLLBACK")
  }
}
