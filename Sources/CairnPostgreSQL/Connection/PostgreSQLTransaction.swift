import CairnPlatform
import CairnStore
import Foundation

/// A transaction, and what became of it where the connection ended at its commit.
package struct PostgreSQLTransaction {
  /// What a transaction sees of others.
  package enum Isolation: String, Sendable, CaseIterable {
    case readCommitted = "READ COMMITTED"
    case repeatableRead = "REPEATABLE READ"
  }

  /// How a transaction ended whose commit got no answer.
  package enum Outcome: Sendable, Equatable {
    case committed
    case rolledBack
    /// Another server answers now, or one that has crashed, which may lack it, or has a different one with its number.
    case unknown
  }

  package static let outcomeUnknownKey = "CairnPostgreSQLOutcomeUnknown"

  package let connection: PostgreSQLConnection

  /// The statement that begins one, to be the first of a batch.
  ///
  /// `SessionSetup` sees to it that a transaction writes unless it says otherwise. A standby refuses `READ WRITE` as if
  /// it were a feature that it lacks; without it, it says at the first write that it is read-only.
  static func beginning(_ isolation: Isolation = .readCommitted, readOnly: Bool = false)
    -> Statement
  {
    Statement("BEGIN ISOLATION LEVEL \(isolation.rawValue)\(readOnly ? " READ ONLY" : "")")
  }

  /// Asks for the transaction's ID, to be the last of a batch that writes; nothing as long as nothing was written.
  static let identification = Statement("SELECT pg_catalog.pg_current_xact_id_if_assigned()")

  /// The one that a batch has begun.
  init(begunOn connection: PostgreSQLConnection) { self.connection = connection }

  /// Begins one.
  package init(
    on connection: PostgreSQLConnection, _ isolation: Isolation = .readCommitted,
    readOnly: Bool = false
  ) throws {
    self.connection = connection
    try connection.run(Self.beginning(isolation, readOnly: readOnly).text)
  }

  /// Commits.
  ///
  /// The ID is asked for before the commit is sent: without it nothing could be found out afterwards.
  ///
  /// - Parameters:
  ///   - known: The ID, where a batch has asked for it.
  ///   - last: Statements before the commit, in one round trip with it.
  ///   - times: Where to note how long it took.
  ///   - reconnect: Makes another connection to the same store, to ask for the outcome.
  /// - Returns: The results of those statements; nil where the commit happened and its answer never came.
  /// - Throws: The failure of a commit that did not happen; 134030 with ``outcomeUnknownKey`` where nothing says whether it
  ///   did.
  @discardableResult
  package consuming func commit(
    knownAs known: Int64? = nil, after last: [Statement] = [], timedBy times: CommitTimes? = nil,
    reconnect: () throws -> PostgreSQLConnection
  ) throws -> [PostgreSQLRows]? {
    let identifier = try known ?? connection.run(Self.identification.text).integer(0, 0)
    let start = ContinuousClock.now
    do {
      defer { times?.add(start.duration(to: .now)) }
      if last.isEmpty {
        try connection.run("COMMIT")
        return []
      }
      return try connection.run(last + [Statement("COMMIT")]).dropLast()
    } catch let failure as PostgreSQLFailure where failure.endsConnection {
      // A transaction that wrote nothing has no ID, and ends either way with nothing done.
      guard let identifier else { throw failure }
      let inquiry = OutcomeInquiry(
        identifier: identifier, process: connection.backendProcess, server: connection.server,
        abandonment: connection.settings.abandonment)
      switch try inquiry.outcome(reconnect: reconnect) {
      case .committed: return nil
      case .rolledBack: throw failure
      case .unknown:
        throw CoreDataError(
          .persistentStoreSave,
          "Whether the last save to \(connection.place) was committed is not known: the connection ended "
            + "while it was (\(failure)), and what answers there now is another server, or one that has "
            + "crashed since. Look for the changes before you save them again.",
          userInfo: [Self.outcomeUnknownKey: true])
      }
    }
  }

  /// Takes back what the transaction did; a connection that has ended did so by ending.
  package consuming func rollBack() {
    guard connection.end == nil else { return }
    _ = try? connection.run("ROLLBACK")
  }
}

/// Finds out what became of a transaction whose session is gone.
struct OutcomeInquiry {
  let identifier: Int64
  /// The process that served the session.
  let process: Int32
  let server: ServerFacts
  /// How long the server may take to notice that the session is gone.
  var patience = Duration.seconds(30)
  /// Ends the inquiry before its time.
  var abandonment: Abandonment?

  /// - Throws: What keeps the question from being asked, as long as ``patience`` lasts and longer.
  func outcome(
    reconnect: () throws -> PostgreSQLConnection
  ) throws -> PostgreSQLTransaction.Outcome {
    let deadline = MonotonicClock.nanoseconds &+ UInt64(max(0, patience.wholeNanoseconds))
    while true {
      var trouble: (any Error)?
      do {
        let connection = try reconnect()
        guard connection.server.sharesTransactions(with: server) else { return .unknown }
        if let outcome = try ask(on: connection) { return outcome }
      } catch {
        // A server that recovers is back in a while.
        trouble = error
      }
      if abandonment?.isOn == true || MonotonicClock.nanoseconds >= deadline {
        if let trouble { throw trouble }
        return .unknown
      }
      Thread.sleep(forTimeInterval: 0.1)
    }
  }

  /// - Returns: nil while the transaction is in progress.
  private func ask(
    on connection: PostgreSQLConnection
  ) throws -> PostgreSQLTransaction.Outcome? {
    var parameters = ParameterList()
    parameters.append(transactionID: identifier)
    let status = try connection.run(
      "SELECT pg_catalog.pg_xact_status($1)", parameters, isKept: false)
    switch status.text(0, 0) {
    case "committed": return .committed
    case "aborted": return .rolledBack
    // So old that the server has forgotten it.
    case nil: return .unknown
    default: break
    }
    // The commit never reached the server, which waits for it on a connection that it believes in. Only the session
    // with this very transaction is ended: the number of its process may have gone to another.
    parameters.append(Int64(process))
    try connection.run(
      "SELECT pg_catalog.pg_terminate_backend(pid) FROM pg_catalog.pg_stat_activity "
        + "WHERE pid = $2 AND backend_xid = pg_catalog.xid($1)", parameters, isKept: false)
    return nil
  }
}
