// What a session is set to, and what every way of not getting one says.

import CairnPlatform
import CairnStore
import CairnTesting
import Foundation
import TestServers
import TestSupport
import Testing

@testable import CairnPostgreSQL

@Suite(.needsServer) struct OpeningTests {
  let server: PostgreSQLServer
  let owner: PostgreSQLConnection

  init() throws {
    server = try PostgreSQLServer.shared
    owner = try server.connect()
  }

  /// The error of an attempt to connect.
  private func refusal(
    database: String = "postgres", user: String = "owner", more: String = ""
  ) throws -> CoreDataError {
    let server = server
    let error = #expect(throws: CoreDataError.self) {
      try server.connect(database: database, user: user, more: more)
    }
    return try #require(error)
  }

  @Test func theSessionMeansWhatStatementsSayWhateverTheRoleIsSetTo() throws {
    let role = server.newName("shadowed")
    try owner.run("CREATE SCHEMA \(role)", isKept: false)
    // Would be found before the server's own function if the search path began with its schema.
    try owner.run(
      "CREATE FUNCTION \(role).lower(text) RETURNS text LANGUAGE sql AS $$ SELECT 'shadow' $$",
      isKept: false)
    try owner.run("CREATE ROLE \(role) LOGIN", isKept: false)
    try owner.run("GRANT USAGE ON SCHEMA \(role) TO \(role)", isKept: false)
    for setting in [
      "search_path = \(role), pg_catalog", "TimeZone = 'Asia/Kolkata'",
      "standard_conforming_strings = off", "statement_timeout = 30000", "lock_timeout = 0",
      "default_transaction_isolation = serializable", "default_transaction_read_only = on",
      "transform_null_equals = on", "idle_session_timeout = 1000",
    ] { try owner.run("ALTER ROLE \(role) SET \(setting)", isKept: false) }
    let connection = try server.connect(user: role)
    func setting(_ name: String) throws -> String? {
      try connection.run("SHOW \(name)", isKept: false).text(0, 0)
    }
    #expect(try setting("search_path") == "pg_catalog, pg_temp")
    #expect(try setting("TimeZone") == "UTC")
    #expect(try setting("standard_conforming_strings") == "on")
    #expect(try setting("statement_timeout") == "1min")
    #expect(try setting("lock_timeout") == "10s")
    #expect(try setting("client_encoding") == "UTF8")
    #expect(try setting("default_transaction_read_only") == "off")
    #expect(try setting("transaction_isolation") == "read committed")
    #expect(try setting("transform_null_equals") == "off")
    #expect(try setting("idle_session_timeout") == "0")
    #expect(try connection.run("SELECT lower('A')").text(0, 0) == "a")
  }

  /// The kernel's defaults would keep the session of a machine that fell silent for two hours.
  @Test func theServerNoticesASilentMachineUnlessItIsSetToDoSoSooner() throws {
    try #require(
      FileManager.default.fileExists(atPath: "\(server.folder)/server.crt"),
      "openssl makes the certificate, without which no connection has an address")
    let eager = server.newName("eager")
    try owner.run("CREATE ROLE \(eager) LOGIN", isKept: false)
    try owner.run("ALTER ROLE \(eager) SET tcp_keepalives_idle = 7", isKept: false)
    try owner.run("ALTER ROLE \(eager) SET tcp_user_timeout = 9000", isKept: false)
    func settings(_ user: String) throws -> [String?] {
      let connection = try server.connect(user: user, more: "host=127.0.0.1 sslmode=require")
      return try ["idle", "interval", "count"].map {
        try connection.run("SHOW tcp_keepalives_\($0)", isKept: false).text(0, 0)
      } + [connection.run("SHOW tcp_user_timeout", isKept: false).text(0, 0)]
    }
    #expect(try settings("owner") == ["30", "10", "3", "60000"])
    #expect(try settings(eager) == ["7", "10", "3", "9000"])
  }

  /// A server that was set up without a locale makes databases of the encoding `SQL_ASCII`.
  @Test(arguments: ["LATIN1", "SQL_ASCII"])
  func aDatabaseThatIsNotUnicodeIsRefused(_ encoding: String) throws {
    let database = server.newName("encoded")
    try owner.run(
      "CREATE DATABASE \(database) TEMPLATE template0 ENCODING '\(encoding)' LOCALE 'C'",
      isKept: false)
    let error = try refusal(database: database)
    #expect(error.code == .persistentStoreOpen)
    #expect(error.message.contains("has the encoding \(encoding); stores need UTF8"))
    #expect(error.message.contains("createdb --encoding=UTF8 --template=template0"))
  }

  @Test func theServersIdentityIsKnown() throws {
    #expect(owner.server.systemIdentifier != nil)
    #expect(owner.server.timeline == "00000001")
    #expect(!owner.server.isInRecovery && owner.server.version >= 13_00_00)
    let stranger = server.newName("stranger")
    try owner.run("CREATE ROLE \(stranger) LOGIN", isKept: false)
    let facts = try server.connect(user: stranger).server
    #expect(facts.timeline == "00000001")
  }

  @Test func aWrongPasswordIsSaidAndNotShown() throws {
    try owner.run(
      "DO $$ BEGIN CREATE ROLE with_password LOGIN PASSWORD 'right-one'; "
        + "EXCEPTION WHEN duplicate_object THEN NULL; END $$", isKept: false)
    _ = try server.connect(user: "with_password", more: "password=right-one")
    let wrong = try refusal(user: "with_password", more: "password=canary-q")
    #expect(wrong.code == .persistentStoreOpen)
    #expect(wrong.message.contains("Correct the password") && !"\(wrong)".contains("canary-q"))
    let none = try refusal(user: "with_password", more: "passfile=/nowhere/pgpass")
    #expect(none.message.contains("LoadCredential="))
  }

  @Test func whatIsNotThereIsNamedWithItsCure() throws {
    #expect(try refusal(database: "nowhere_db").message.contains("createdb"))
    #expect(try refusal(user: "nobody_knows").message.contains("createuser"))
    #expect(try refusal(user: "rejected").message.contains("pg_hba.conf"))
    #expect(try refusal(more: "host=/nowhere").message.contains("No server listens there"))
    #expect(try refusal(more: "host=127.0.0.1 port=1").message.contains("No server listens there"))
    #expect(try refusal(more: "service=nowhere").message.contains("pg_service.conf"))
    #expect(
      try refusal(more: "target_session_attrs=standby").message.contains("target_session_attrs"))
    let crowded = server.newName("crowded")
    try owner.run("CREATE ROLE \(crowded) LOGIN CONNECTION LIMIT 0", isKept: false)
    #expect(try refusal(user: crowded).message.contains("max_connections"))
  }

  @Test func aCertificateOfAnotherHostIsRefused() throws {
    try #require(
      FileManager.default.fileExists(atPath: "\(server.folder)/server.crt"),
      "openssl makes the certificate")
    let plain = try refusal(more: "host=127.0.0.1 sslmode=disable")
    #expect(plain.message.contains("pg_hba.conf"))
    let error = try refusal(
      more: "host=127.0.0.1 sslmode=verify-full sslrootcert=\(server.folder)/server.crt")
    #expect(error.message.contains("another host's"), "\(error)")
    // The name in it is the only thing that is wrong.
    _ = try server.connect(
      more: "host=elsewhere.example hostaddr=127.0.0.1 sslmode=verify-full "
        + "sslrootcert=\(server.folder)/server.crt")
  }

  @Test func theNextHostIsTriedWhenOneIsSilent() throws {
    let folder = try TemporaryFolder()
    // Takes connections and says nothing.
    let silent = try UnixListener(path: folder.file(".s.PGSQL.\(server.port)"))
    defer { silent.remove() }
    let start = ContinuousClock.now
    let connection = try server.connect(
      more: "host='\(folder.path),\(server.folder)' connect_timeout=2")
    #expect(try connection.run("SELECT 1::bigint").integer(0, 0) == 1)
    #expect(ContinuousClock.now - start >= .seconds(1), "the silent host was asked")
    #expect(
      try refusal(more: "host='\(folder.path)' connect_timeout=2").message.contains("no answer"))
  }
}
