import CairnStore

/// Tells a pooler that gives a session to several clients by the transaction from one that leaves each its own.
///
/// What a store prepares, sets and listens to belongs to a session: in one that changes hands, a statement would be that of
/// another program, and no commit would be told of. Such a pooler hands out a session that a client holds, to a second
/// one or in exchange for another; a pooler by the session does neither.
struct PoolerCheck {
  let connection: PostgreSQLConnection

  /// The other connection may have to wait for a session; then nothing is known.
  private static let patience = Duration.seconds(2)

  /// Makes a connection that has a session of its own.
  ///
  /// Nothing is set in a session that other clients use.
  ///
  /// - Throws: 134080 behind a pooler by the transaction.
  static func connection(_ settings: ConnectionParameters) throws -> PostgreSQLConnection {
    let connection = try PostgreSQLConnection(settings, setsUpPooled: false)
    guard connection.isPooled else { return connection }
    do {
      try PoolerCheck(connection: connection).run()
      try connection.setUp()
    } catch let failure as PostgreSQLFailure {
      throw failure.error("open", settings.description)
    }
    return connection
  }

  private func run() throws {
    var settings = connection.settings
    settings.connectTimeout = Self.patience
    settings.statementTimeout = Self.patience
    settings.networkPatience = Self.patience
    guard let other = try? PostgreSQLConnection(settings, setsUpPooled: false) else { return }
    let now = try connection.run("SELECT pg_catalog.pg_backend_pid()", isKept: false)
    let process = connection.backendProcess
    if other.backendProcess != process, now.integer(0, 0) == Int64(process) { return }
    throw CoreDataError(
      .persistentStoreOpen,
      "Before \(connection.place) stands a pooler that gives a session to several clients by the transaction. "
        + Self.advice)
  }

  static let advice =
    "A store needs sessions of its own: set PgBouncer's pool_mode to session for this database or user, or "
    + "connect to the server itself."
}
