// Transactions, and what became of one whose commit got no answer.

import CairnPlatform
import CairnStore
import Foundation
import TestServers
import Testing

@testable import CairnPostgreSQL

@Suite(.needsServer) struct TransactionTests {
  let server: PostgreSQLServer
  let owner: PostgreSQLConnection
  let table: String

  init() throws {
    server = try PostgreSQLServer.shared
    owner = try server.connect()
    let schema = server.newName()
    table = "\(schema).number"
    try owner.run("CREATE SCHEMA \(schema)", isKept: false)
    try owner.run("CREATE TABLE \(table) (n bigint)", isKept: false)
  }

  private func sum() throws -> Int64? {
    try owner.run("SELECT coalesce(sum(n), 0)::bigint FROM \(table)", isKept: false).integer(0, 0)
  }

  /// Settings with which an answer that does not come is given up soon.
  private func impatient() throws -> ConnectionParameters {
    var settings = try server.settings()
    settings.statementTimeout = .milliseconds(400)
    settings.networkPatience = .milliseconds(100)
    return settings
  }

  private func reconnect() throws -> PostgreSQLConnection { try server.connect() }

  @Test func aTransactionIsDoneOrNot() throws {
    let connection = try server.connect()
    let first = try PostgreSQLTransaction(on: connection)
    try connection.run("INSERT INTO \(table) VALUES (1)")
    try first.commit(reconnect: reconnect)
    #expect(try sum() == 1)
    let second = try PostgreSQLTransaction(on: connection)
    try connection.run("INSERT INTO \(table) VALUES (2)")
    second.rollBack()
    #expect(try sum() == 1 && connection.isReusable)
    let empty = try PostgreSQLTransaction(on: connection, .repeatableRead, readOnly: true)
    try empty.commit(reconnect: reconnect)
  }

  @Test func aTransactionThatFailedIsNeverCommitted() throws {
    let connection = try server.connect()
    let transaction = try PostgreSQLTransaction(on: connection)
    try connection.run("INSERT INTO \(table) VALUES (1)")
    #expect(throws: PostgreSQLFailure.self) { try connection.run("SELECT 1 / 0") }
    // The server answers COMMIT with success there, and rolls back.
    #expect(throws: PostgreSQLFailure.self) { try transaction.commit(reconnect: reconnect) }
    #expect(try sum() == 0)
  }

  @Test func isolationIsWhatWasAskedFor() throws {
    let connection = try server.connect()
    for isolation in PostgreSQLTransaction.Isolation.allCases {
      let transaction = try PostgreSQLTransaction(on: connection, isolation)
      let level = try connection.run("SHOW transaction_isolation", isKept: false).text(0, 0)
      #expect(level?.uppercased() == isolation.rawValue)
      transaction.rollBack()
    }
    let reading = try PostgreSQLTransaction(on: connection, .repeatableRead, readOnly: true)
    let failure = #expect(throws: PostgreSQLFailure.self) {
      try connection.run("INSERT INTO \(table) VALUES (1)")
    }
    #expect(failure?.state == .readOnlyTransaction)
    let error = failure?.error("save to", connection.place)
    #expect(error?.message.contains("target_session_attrs=read-write") == true)
    reading.rollBack()
  }

  @Test func aSerializationFailureIsWorthRepeating() throws {
    try owner.run("INSERT INTO \(table) VALUES (1)", isKept: false)
    let connection = try server.connect()
    let transaction = try PostgreSQLTransaction(on: connection, .repeatableRead)
    try connection.run("SELECT n FROM \(table)")
    try owner.run("UPDATE \(table) SET n = 2", isKept: false)
    let failure = #expect(throws: PostgreSQLFailure.self) {
      try connection.run("UPDATE \(table) SET n = 3")
    }
    #expect(failure?.state == .serializationFailure && failure?.isWorthRepeating == true)
    transaction.rollBack()
  }

  @Test func aCommitThatNeverArrivedIsRolledBack() throws {
    let connection = try server.connect()
    let transaction = try PostgreSQLTransaction(on: connection)
    try connection.run("INSERT INTO \(table) VALUES (1)")
    var parameters = ParameterList()
    parameters.append(Int64(connection.backendProcess))
    try owner.run("SELECT pg_terminate_backend($1::integer, 60000)", parameters)
    let failure = #expect(throws: PostgreSQLFailure.self) {
      try transaction.commit(reconnect: reconnect)
    }
    #expect(failure?.endsConnection == true)
    #expect(try sum() == 0)
  }

  /// The server has committed and waits for a standby; the answer never comes.
  @Test func aCommitThatHappenedWithoutAnAnswerIsNotRepeated() throws {
    let connection = try PostgreSQLConnection(impatient())
    try connection.run("SET synchronous_commit = on", isKept: false)
    let transaction = try PostgreSQLTransaction(on: connection)
    try connection.run("INSERT INTO \(table) VALUES (5)")
    try transaction.commit(reconnect: reconnect)
    #expect(connection.end != nil, "the connection was given up")
    #expect(try sum() == 5)
  }

  /// The session still believes in the connection: its transaction is ended, so that it cannot commit later.
  @Test func aSessionThatStandsStillIsEndedBeforeTheAnswer() throws {
    let connection = try PostgreSQLConnection(impatient())
    _ = try PostgreSQLTransaction(on: connection)
    try connection.run("INSERT INTO \(table) VALUES (7)")
    let identifier = try connection.run("SELECT pg_current_xact_id()").integer(0, 0)
    let inquiry = OutcomeInquiry(
      identifier: try #require(identifier), process: connection.backendProcess,
      server: connection.server)
    #expect(try inquiry.outcome(reconnect: reconnect) == .rolledBack)
    #expect(throws: PostgreSQLFailure.self) { try connection.run("COMMIT") }
    #expect(try sum() == 0)
  }

  @Test func afterAFailOverTheOutcomeIsNotGuessed() throws {
    let connection = try server.connect()
    let transaction = try PostgreSQLTransaction(on: connection)
    try connection.run("INSERT INTO \(table) VALUES (1)")
    let identifier = try #require(
      try connection.run("SELECT pg_current_xact_id()").integer(0, 0))
    try transaction.commit(reconnect: reconnect)
    var past = connection.server
    let here = OutcomeInquiry(identifier: identifier, process: 1, server: past)
    #expect(try here.outcome(reconnect: reconnect) == .committed)
    past.timeline = "00000009"
    let elsewhere = OutcomeInquiry(identifier: identifier, process: 1, server: past)
    #expect(try elsewhere.outcome(reconnect: reconnect) == .unknown)
  }

  /// The ID of a transaction that never reached the log goes to another one.
  @Test func afterACrashTheOutcomeIsNotGuessed() throws {
    let server = try PostgreSQLServer()
    let before = try server.connect()
    let reconnect: () throws -> PostgreSQLConnection = {
      let connection = try server.connect()
      _ = try connection.run("SELECT 1")
      return connection
    }
    let identifier = try #require(try before.run("SELECT pg_current_xact_id()").integer(0, 0))
    let inquiry = OutcomeInquiry(
      identifier: identifier, process: before.backendProcess, server: before.server)
    #expect(try reconnect().server == before.server)
    #expect(try inquiry.outcome(reconnect: reconnect) == .committed)
    try server.killAndStart()
    #expect(try inquiry.outcome(reconnect: reconnect) == .unknown)
  }

  @Test func aServerThatIsDownIsAskedAgainForAWhile() throws {
    struct Down: Error {}
    let connection = try server.connect()
    let transaction = try PostgreSQLTransaction(on: connection)
    try connection.run("INSERT INTO \(table) VALUES (1)")
    let identifier = try #require(
      try connection.run("SELECT pg_current_xact_id()").integer(0, 0))
    try transaction.commit(reconnect: reconnect)
    var inquiry = OutcomeInquiry(identifier: identifier, process: 1, server: connection.server)
    var attempts = 0
    let outcome = try inquiry.outcome {
      attempts += 1
      if attempts < 3 { throw Down() }
      return try reconnect()
    }
    #expect(outcome == .committed && attempts == 3)
    inquiry.patience = .zero
    #expect(throws: Down.self) { try inquiry.outcome { throw Down() } }
  }
}
