// Each code of the server that operators meet, as Core Data's error with what to do.

import CairnStore
import TestServers
import Testing

@testable import CairnPostgreSQL

@Suite(.needsServer) struct FailureMeaningTests {
  /// The failure that the server makes of a code.
  private func failure(_ state: SQLState) throws -> PostgreSQLFailure {
    let connection = try PostgreSQLServer.shared.connect()
    let failure = #expect(throws: PostgreSQLFailure.self) {
      try connection.run(
        "DO $$ BEGIN RAISE EXCEPTION 'as asked' USING ERRCODE = '\(state.code)'; END $$",
        isKept: false)
    }
    return try #require(failure)
  }

  private static let meanings: [(SQLState, CoreDataError.Code, String)] = [
    (.noRight, .persistentStoreSave, "GRANT"),
    (.readOnlyTransaction, .persistentStoreSave, "read-write"),
    (.diskFull, .fileWriteOutOfSpace, "Make room"),
    (.outOfMemory, .persistentStoreOperation, "memory"),
    (.serializationFailure, .persistentStoreTimeout, "Try again"),
    (.deadlock, .persistentStoreTimeout, "Try again"),
    (.lockTimeout, .persistentStoreTimeout, "pg_stat_activity"),
    (.lockTimeout, .persistentStoreTimeout, "pg_prepared_xacts"),
    (.dependentObjects, .migration, "views, foreign keys or functions"),
    (.cancelled, .persistentStoreTimeout, "longer than the time"),
    (.uniqueViolation, .managedObjectConstraintMerge, "Two rows"),
    (.checkViolation, .managedObjectValidation, "rule of its own"),
    (.foreignKeyViolation, .managedObjectReferentialIntegrity, "not there"),
    (.limitExceeded, .managedObjectValidation, "2,700 bytes"),
    (.unknownTable, .persistentStoreIncompatibleSchema, "another program"),
    (.unknownColumn, .persistentStoreIncompatibleSchema, "another program"),
    (.damagedData, .fileReadCorruptFile, "backup"),
    (.raised, .managedObjectValidation, "a trigger that another program made"),
    (.textTooLong, .managedObjectValidation, "does not fit"),
    (.duplicateStatement, .persistentStoreOperation, "pool_mode to session"),
    (SQLState("XX000"), .persistentStoreOperation, "server's log"),
  ]

  @Test func eachCodeHasItsErrorAndItsAdvice() throws {
    for (state, code, advice) in Self.meanings {
      let failure = try failure(state)
      #expect(failure.state == state && failure.origin == .server)
      let error = failure.error("save to", "the PostgreSQL database inventory on db1")
      #expect(error.code == code, "\(state.code)")
      #expect(error.message.hasPrefix("Cannot save to the PostgreSQL database inventory on db1:"))
      #expect(error.message.contains(advice) && error.message.contains(state.code))
      #expect(error.userInfo[PostgreSQLFailure.sqlStateKey] as? String == state.code)
    }
    #expect(try failure(.diskFull).error("save to", "x").storeTrouble == .diskFull)
    #expect(try failure(.damagedData).error("read", "x").storeTrouble == .damaged)
  }

  @Test func aRightThatIsMissingIsNamed() throws {
    let server = try PostgreSQLServer.shared
    let owner = try server.connect()
    let (role, schema) = (server.newName("guest"), server.newName())
    try owner.run("CREATE SCHEMA \(schema)", isKept: false)
    try owner.run("CREATE ROLE \(role) LOGIN", isKept: false)
    let guest = try server.connect(user: role)
    let failure = #expect(throws: PostgreSQLFailure.self) {
      try guest.run("CREATE TABLE \(schema).x (n bigint)", isKept: false)
    }
    #expect(failure?.state == .noRight && failure?.message.contains(schema) == true)
  }

  @Test func wordsOfAServerThatIsNotReadyAreUnderstood() throws {
    for words in ["starting up", "shutting down", "in recovery mode"] {
      let failure = PostgreSQLFailure(.connecting, "FATAL: the database system is \(words)")
      #expect(failure.error("open", "x").message.contains("try again in a while"))
    }
    let other = PostgreSQLFailure(.connecting, "FATAL: Passwort-Authentifizierung gescheitert")
    #expect(other.error("open", "x").message.contains("Check host, port, user"))
  }
}
