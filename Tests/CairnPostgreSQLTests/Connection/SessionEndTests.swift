// Sessions that wait, are cancelled, or end: none may hold a thread for ever.

import CairnPlatform
import CairnStore
import CairnTesting
import Foundation
import TestServers
import Testing

@testable import CairnPostgreSQL

@Suite(.needsServer) struct SessionEndTests {
  let server: PostgreSQLServer
  let other: PostgreSQLConnection

  init() throws {
    server = try PostgreSQLServer.shared
    other = try server.connect()
  }

  private func terminate(_ connection: PostgreSQLConnection) throws {
    var parameters = ParameterList()
    parameters.append(Int64(connection.backendProcess))
    // With a time-out it waits until the process is gone.
    try other.run("SELECT pg_terminate_backend($1::integer, 60000)", parameters)
  }

  @Test func aSessionThatTheServerEndsIsLostAndSaysSo() throws {
    let connection = try server.connect()
    try terminate(connection)
    let failure = try #require(
      #expect(throws: PostgreSQLFailure.self) { try connection.run("SELECT 1") })
    #expect(failure.endsConnection)
    #expect(failure.error("read", connection.place).message.contains("Try again"))
    #expect(throws: PostgreSQLFailure.self) { try connection.run([Statement("SELECT 1")]) }
    #expect(throws: PostgreSQLFailure.self) {
      try connection.copy("COPY x FROM STDIN", columnCount: 1) { _ in }
    }
    #expect(throws: PostgreSQLFailure.self) {
      try connection.notification(until: MonotonicClock.nanoseconds)
    }
  }

  @Test func aServerThatStandsStillIsGivenUp() throws {
    var settings = try server.settings()
    settings.statementTimeout = .milliseconds(300)
    settings.networkPatience = .milliseconds(100)
    let connection = try PostgreSQLConnection(settings)
    let process = connection.backendProcess
    ProcessConduct.send(signal: SIGSTOP, to: process)
    defer { ProcessConduct.send(signal: SIGCONT, to: process) }
    let start = ContinuousClock.now
    let failure = #expect(throws: PostgreSQLFailure.self) { try connection.run("SELECT 1") }
    #expect(failure?.origin == .lost)
    #expect(failure?.message.contains("no answer in time") == true)
    #expect(ContinuousClock.now - start >= .milliseconds(400))
  }

  @Test func statementsAndLocksHaveTheirTimes() throws {
    var settings = try server.settings()
    settings.statementTimeout = .milliseconds(200)
    settings.lockTimeout = .milliseconds(100)
    let connection = try PostgreSQLConnection(settings)
    let slow = #expect(throws: PostgreSQLFailure.self) { try connection.run("SELECT pg_sleep(60)") }
    #expect(slow?.state == .cancelled)
    #expect(slow?.error("read", "x").code == .persistentStoreTimeout)
    try other.run("SELECT pg_advisory_lock(4711)")
    defer { _ = try? other.run("SELECT pg_advisory_unlock(4711)") }
    let locked = #expect(throws: PostgreSQLFailure.self) {
      try connection.run("SELECT pg_advisory_lock(4711)")
    }
    #expect(locked?.state == .lockTimeout)
    #expect(try connection.run("SELECT 5::bigint").integer(0, 0) == 5, "the session goes on")
  }

  @Test func anAdministratorCancelsAStatement() async throws {
    var settings = try server.settings()
    // However long this test waits for its turn among the others.
    settings.statementTimeout = nil
    let connection = try PostgreSQLConnection(settings)
    let process = connection.backendProcess
    async let failure = offPool { () -> PostgreSQLFailure? in
      do {
        try connection.run("SELECT pg_sleep(600)")
        return nil
      } catch let failure as PostgreSQLFailure {
        return failure
      }
    }
    var parameters = ParameterList()
    parameters.append(Int64(process))
    let (watcher, asked) = (other, parameters)
    let isAsleep = try await eventually {
      try watcher.run(
        "SELECT count(*) FROM pg_stat_activity WHERE pid = $1 AND wait_event = 'PgSleep'", asked
      ).integer(0, 0) == 1
    }
    #expect(isAsleep)
    #expect(try watcher.run("SELECT pg_cancel_backend($1::integer)", asked).flag(0, 0) == true)
    #expect(try await failure?.state == .cancelled)
    #expect(try connection.run("SELECT 1::bigint").integer(0, 0) == 1)
  }

  @Test func notificationsWakeTheListener() throws {
    let channel = server.newName("channel")
    let listener = try server.connect()
    try listener.run("LISTEN \(channel)", isKept: false)
    #expect(try listener.notification(until: MonotonicClock.nanoseconds) == nil)
    try other.run("SELECT pg_notify('\(channel)', 'row 7')", isKept: false)
    let deadline = MonotonicClock.nanoseconds + 60_000_000_000
    let found = try listener.notification(until: deadline)
    #expect(
      found
        == .init(channel: channel, payload: "row 7", process: other.backendProcess))
  }

  @Test func aPoolReplacesConnectionsThatEnded() throws {
    let pool = ConnectionPool(try server.settings(), limit: 1)
    let first = try pool.withConnection { connection in
      try connection.run("SELECT 1")
      return connection.backendProcess
    }
    let again = try pool.withConnection { $0.backendProcess }
    #expect(again == first, "an idle connection serves the next caller")
    var parameters = ParameterList()
    parameters.append(Int64(first))
    try other.run("SELECT pg_terminate_backend($1::integer, 60000)", parameters)
    let next = try pool.withConnection { connection in
      let one = try connection.run("SELECT 1::bigint").integer(0, 0)
      #expect(one == 1)
      return connection.backendProcess
    }
    #expect(next != first)
    let left = try pool.withConnection { connection in
      try connection.run("BEGIN")
      return connection.backendProcess
    }
    #expect(try pool.withConnection { $0.backendProcess } != left, "no open transaction is lent")
  }

  /// The moments at which connections came back are compared: two callers may come in another order than they looked at
  /// the clock.
  @Test func callersMayGiveConnectionsBackAtTheSameTime() async throws {
    let pool = ConnectionPool(try server.settings(), limit: 4)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<4 {
        group.addTask {
          try await offPool { for _ in 0..<1500 { try pool.withConnection { _ in } } }
        }
      }
      try await group.waitForAll()
    }
    pool.close()
  }

  @Test func aPoolHasABoundAndAnEnd() throws {
    let pool = ConnectionPool(try server.settings(), limit: 1, patience: .milliseconds(50))
    try pool.withConnection { _ in
      let error = #expect(throws: CoreDataError.self) { try pool.withConnection { _ in } }
      #expect(error?.code == .persistentStoreTimeout)
    }
    try pool.withConnection { _ in }
    pool.close()
    let error = #expect(throws: CoreDataError.self) { try pool.withConnection { _ in } }
    #expect(error?.message.contains("closed") == true)
  }
}
