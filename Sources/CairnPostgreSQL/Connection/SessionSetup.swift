import CairnStore

/// What is known of the server behind a connection.
package struct ServerFacts: Sendable, Equatable {
  /// The number that `initdb` drew, which a standby shares with its primary; nil where the role may not ask for it.
  package var systemIdentifier: Int64?
  /// Counts the fail-overs in the server's past; nil at a standby, which has no log of its own.
  package var timeline: String?
  /// When the server began to count its statistics, which it begins anew when it recovers from a crash, and only then.
  package var statisticsSince: String?
  /// Whether it takes no writes: a standby.
  package var isInRecovery = false
  package var version = 0

  /// Whether transaction IDs of the one mean the same at the other.
  ///
  /// Not where one has taken over from the other. And not after a crash: a transaction that never reached the log leaves
  /// its ID to another one, by which the server would say "committed" of what is lost. A server that recovers resets all
  /// statistics (PostgreSQL's manual, "The Cumulative Statistics System"); one that was stopped in order keeps them.
  func sharesTransactions(with other: ServerFacts) -> Bool {
    systemIdentifier == other.systemIdentifier && timeline != nil && timeline == other.timeline
      && statisticsSince != nil && statisticsSince == other.statisticsSince
  }
}

/// Makes a new session one in which the store's statements mean what they say, whatever the server, the database or
/// the role are set to.
struct SessionSetup {
  let settings: ConnectionParameters

  /// The settings of the session.
  ///
  /// Statements name the schema of each table and function. A search path without any schema that others may write
  /// to keeps operators, which have none, from meaning anything else.
  ///
  /// - Parameter version: That of the server.
  private func values(at version: Int32) -> [(name: String, value: String)] {
    let patience =
      (version >= 14_00_00 ? ["idle_session_timeout"] : [])
      + (version >= 17_00_00 ? ["transaction_timeout"] : [])
    return [
      ("search_path", "pg_catalog, pg_temp"),
      ("TimeZone", "UTC"),
      ("standard_conforming_strings", "on"),
      ("transform_null_equals", "off"),
      // Names of types are compared as text.
      ("quote_all_identifiers", "off"),
      ("default_transaction_read_only", "off"),
      ("default_transaction_isolation", "read committed"),
      // Rows that a policy hides would be taken for deleted ones; now they are an error.
      ("row_security", "off"),
      // Triggers that record the changes of other programs leave those of this session alone.
      (SQLCapture.ownSessions, "on"),
      ("statement_timeout", settings.statementTimeout.map { "\($0.milliseconds)ms" } ?? "0"),
      ("lock_timeout", "\(settings.lockTimeout.milliseconds)ms"),
      (
        "idle_in_transaction_session_timeout",
        settings.idleTransactionTimeout.map { "\($0.milliseconds)ms" } ?? "0"
      ),
    ]
      // A session that listens says nothing for hours, and a first sync or a generation takes its time.
      + patience.map { ($0, "0") }
  }

  /// Has the server notice, as soon as this side does, that the network is gone.
  ///
  /// Its own defaults keep the sessions of machines that fell silent for two hours, with their locks and their places among
  /// `max_connections`. An administrator may have set less.
  private static let liveness: [String] = {
    func current(_ name: String) -> String {
      "CAST(pg_catalog.current_setting('\(name)') AS pg_catalog.int4)"
    }
    func setting(_ name: String, _ value: String) -> String {
      "pg_catalog.set_config('\(name)', CAST(\(value) AS pg_catalog.text), false)"
    }
    let keepalives = [
      ("idle", ConnectionParameters.keepalivesIdle),
      ("interval", ConnectionParameters.keepalivesInterval),
      ("count", ConnectionParameters.keepalivesCount),
    ].map { word, most in
      let name = "tcp_keepalives_\(word)"
      return setting(name, "LEAST(\(current(name)), \(most))")
    }
    let name = "tcp_user_timeout"
    let most = ConnectionParameters.userTimeout
    // Zero is none there.
    let value =
      "CASE \(current(name)) WHEN 0 THEN \(most) ELSE LEAST(\(current(name)), \(most)) END"
    return keepalives + [setting(name, value)]
  }()

  /// - Parameter setsUpPooled: Whether a session behind a pooler is set to anything: it may be lent to other clients.
  /// - Returns: What is known of the server, and the number of the process that serves the session, as it says itself.
  func run(
    on connection: PostgreSQLConnection, setsUpPooled: Bool
  ) throws -> (facts: ServerFacts, process: Int32) {
    let version = connection.libpq.serverVersion(connection.handle)
    let values = values(at: version)
    var parameters = ParameterList()
    for (name, value) in values {
      parameters.append(name)
      parameters.append(value)
    }
    let settings = values.indices.map { index in
      "pg_catalog.set_config($\(2 * index + 1), $\(2 * index + 2), false)"
    }
    // A pooler gives its clients numbers of its own.
    let process = connection.libpq.backendProcess(connection.handle)
    let calls = (settings + Self.liveness).map { call in
      setsUpPooled ? call : "CASE WHEN pg_catalog.pg_backend_pid() = \(process) THEN \(call) END"
    }
    // The name of a file of the log begins with the timeline; a standby has no place to write.
    let rows = try connection.run(
      "SELECT pg_catalog.pg_is_in_recovery(), CASE WHEN pg_catalog.pg_is_in_recovery() THEN NULL ELSE "
        + "pg_catalog.substr(pg_catalog.pg_walfile_name(pg_catalog.pg_current_wal_lsn()), 1, 8) END, "
        + "pg_catalog.has_function_privilege('pg_catalog.pg_control_system()', 'EXECUTE'), "
        + "(SELECT CAST(pg_catalog.date_part('epoch', stats_reset) AS pg_catalog.text) "
        + "FROM pg_catalog.pg_stat_bgwriter), pg_catalog.current_setting('server_encoding'), pg_catalog.pg_backend_pid(), "
        + calls.joined(separator: ", "), parameters, isKept: false)
    try check(encoding: rows.text(0, 4))
    var facts = ServerFacts()
    facts.version = Int(version)
    facts.isInRecovery = rows.flag(0, 0) ?? false
    facts.timeline = rows.text(0, 1)
    facts.statisticsSince = rows.text(0, 3)
    if rows.flag(0, 2) == true {
      let system = try connection.run(
        "SELECT system_identifier FROM pg_catalog.pg_control_system()", isKept: false)
      facts.systemIdentifier = system.integer(0, 0)
    }
    return (facts, Int32(truncatingIfNeeded: rows.integer(0, 5) ?? 0))
  }

  /// Refuses a database that does not keep texts as Unicode: it lacks characters, or does not know where one ends, and its
  /// order is another.
  private func check(encoding: String?) throws {
    guard let encoding, encoding != "UTF8" else { return }
    throw CoreDataError(
      .persistentStoreOpen,
      "The database of \(settings.description) has the encoding \(encoding); stores need UTF8. Make another database: "
        + "createdb --encoding=UTF8 --template=template0")
  }
}
