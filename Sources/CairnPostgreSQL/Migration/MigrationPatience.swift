import CairnSQL
import CairnStore
import Foundation

/// Waits for the sessions that read and write a store that is to be migrated, and holds up others for moments only.
///
/// PostgreSQL has a session that asks for a lock wait behind all that asked before it, this one among them. So each attempt
/// is a short one, after which the migration lets go of all that it has.
struct MigrationPatience {
  let schema: SchemaName
  let connection: PostgreSQLConnection

  /// How long an attempt waits, in milliseconds.
  private static let longest: Int64 = 500
  /// How long the others have the store to themselves between two attempts, in seconds.
  private static let pause = 0.1

  private var usual: Int64 { connection.settings.lockTimeout.milliseconds }

  /// Runs attempts until one has its locks, or the store's time is over.
  ///
  /// - Throws: 134090 with the names of the sessions that had the locks at the end.
  func run(_ attempt: () throws -> Void) throws {
    let end = ContinuousClock.now + connection.settings.lockTimeout
    while true {
      do {
        return try attempt()
      } catch let failure as PostgreSQLFailure where failure.state == .lockTimeout {
        if ContinuousClock.now < end, connection.settings.abandonment?.isOn != true {
          Thread.sleep(forTimeInterval: Self.pause)
          continue
        }
        throw CoreDataError(
          .persistentStoreTimeout,
          "Cannot migrate the schema \(schema) of \(connection.place): other sessions kept it for longer than the timeout, "
            + "\(holders()). The store is as it was; have them end, and try again.",
          userInfo: [PostgreSQLFailure.sqlStateKey: SQLState.lockTimeout.code])
      }
    }
  }

  /// Makes the waits of a transaction short ones.
  func begin() throws {
    try connection.run(
      "SET LOCAL lock_timeout = \(min(Self.longest, usual))", isKept: false)
  }

  /// Takes all tables at once, and makes waits as long as usual again.
  func take(_ tables: PostgreSQLSchema) throws {
    let places = tables.tables.map { SQLText.name(schema.text, $0.name) }
    let locking =
      places.isEmpty
      ? [] : ["LOCK TABLE \(places.joined(separator: ", ")) IN ACCESS EXCLUSIVE MODE"]
    try connection.run(
      (locking + ["SET LOCAL lock_timeout = \(usual)"]).map { Statement($0, isKept: false) })
  }

  /// The same in a transaction that holds other writers up and goes on holding: of what an attempt did, only the wait for the
  /// tables is taken back.
  func takeInHold(_ tables: PostgreSQLSchema) throws {
    let savepoint = "cairn_tables"
    try run {
      try connection.run("SAVEPOINT \(savepoint)", isKept: false)
      do {
        try begin()
        try take(tables)
      } catch let failure as PostgreSQLFailure where failure.state == .lockTimeout {
        try connection.run("ROLLBACK TO SAVEPOINT \(savepoint)", isKept: false)
        throw failure
      }
      try connection.run("RELEASE SAVEPOINT \(savepoint)", isKept: false)
    }
  }

  /// The sessions that have locks of the store, and prepared transactions.
  private func holders() -> String {
    var parameters = ParameterList()
    parameters.append(schema.text)
    parameters.append("cairn \(TransactionLock.schema.rawValue) \(schema.text)")
    let rows = try? connection.run(
      "SELECT DISTINCT COALESCE('process ' || a.pid || ' (' || concat_ws(', ', nullif(a.application_name, ''), "
        + "a.usename, a.state) || ')', 'a prepared transaction (see pg_prepared_xacts)') "
        + "FROM pg_catalog.pg_locks l LEFT JOIN pg_catalog.pg_stat_activity a ON a.pid = l.pid "
        + "WHERE l.granted AND l.pid IS DISTINCT FROM pg_catalog.pg_backend_pid() AND l.database = "
        + "(SELECT oid FROM pg_catalog.pg_database WHERE datname = pg_catalog.current_database()) AND (l.relation IN "
        + "(SELECT c.oid FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace "
        + "WHERE n.nspname = $1 AND c.relkind IN ('r', 'p')) OR l.locktype = 'advisory' AND l.objsubid = 1 "
        + "AND (l.classid::bigint << 32) | l.objid::bigint = pg_catalog.hashtextextended($2, 0)) ORDER BY 1",
      parameters, isKept: false)
    let names = rows.map { rows in (0..<rows.count).compactMap { rows.text($0, 0) } } ?? []
    return names.isEmpty ? "which have ended meanwhile" : names.joined(separator: ", ")
  }
}
