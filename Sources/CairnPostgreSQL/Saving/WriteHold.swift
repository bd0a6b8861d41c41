import CairnStore

/// A connection whose transaction keeps all others from writing rows, until it is let go.
///
/// It has the lock that Cairn's own writers take with others, and locks the tables for those who write plain SQL, unless
/// something keeps it from them. What the holder writes, it writes over this connection: a commit ends the locks, which are
/// taken anew then.
// Unchecked: used by the one thread that holds, as `current` sees to.
final class WriteHold: @unchecked Sendable {
  /// What the calling thread holds.
  @TaskLocal static var current: WriteHold?

  let connection: PostgreSQLConnection
  private let schema: PostgreSQLSchema
  private let pool: ConnectionPool
  private var isFinished = false

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

  /// Whether it holds up the writers of the store in a place, or did until its connection ended.
  func isHolding(_ place: StorePlace) -> Bool {
    !isFinished && schema.name == place.schema
      && connection.settings.description == place.settings.description
  }

  /// How long it waits for the tables, in milliseconds: a vacuum may keep them for hours, and the server ends one of
  /// its own for a session that waits for a second.
  private static let patience = 500

  /// Takes the locks; without a connection there is nothing left to hold.
  private func begin() throws {
    try connection.run([
      PostgreSQLTransaction.beginning(), TransactionLock.schema.statement(of: schema.name),
    ])
    let tables = schema.tables.map { SQLText.name(schema.name.text, $0.name) }
    if tables.isEmpty { return }
    let savepoint = "cairn_tables"
    let usual = connection.settings.lockTimeout.milliseconds
    do {
      try connection.run([
        Statement("SAVEPOINT \(savepoint)"), Statement("SET LOCAL lock_timeout = \(Self.patience)"),
        Statement("LOCK TABLE \(tables.joined(separator: ", ")) IN SHARE ROW EXCLUSIVE MODE"),
        Statement("SET LOCAL lock_timeout = \(usual)"), Statement("RELEASE SAVEPOINT \(savepoint)"),
      ])
    } catch let failure as PostgreSQLFailure where failure.state == .lockTimeout {
      // Those who write plain SQL may come in between, as they may where no caller holds them up.
      try connection.run("ROLLBACK TO SAVEPOINT \(savepoint)")
    }
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

  /// Runs the last transaction of the holder, which has begun; the others can write from then on.
  func finish<Result>(_ body: (PostgreSQLConnection) throws -> Result) throws -> Result {
    defer {
      end()
      isFinished = true
    }
    return try body(connection)
  }

  /// Lets the others write.
  func end() {
    guard connection.end == nil, connection.transactionStatus != .idle else { return }
    _ = try? connection.run("ROLLBACK")
  }
}
