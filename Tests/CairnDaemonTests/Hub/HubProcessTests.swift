// Real daemons that agree through a PostgreSQL server.
import CairnControl
import CairnTesting
import Foundation
import TestServers
import Testing

@Suite(.needsServer) struct HubProcessTests {
  private func rows(_ names: [String]) -> String {
    names.map { #"{"name":"\#($0)","section":{"name":"s-\#($0.prefix(1))"}}"# + "\n" }.joined()
  }

  @Test func daemonsWithDifferentDataAgreeThroughADatabaseAndSQLReadsIt() async throws {
    let hub = try HubDaemons()
    let daemons = [try hub.make("a", isLinked: false), try hub.make("b")]
    for daemon in daemons {
      try await daemon.start()
      let names = (0..<30).map { "\(daemon.setup.name)\($0)" } + ["both"]
      let imported = try await daemon.ctl(
        "import", "-", "--entity", "Package", "--key", "name", input: rows(names))
      #expect(imported.code == 0, "\(imported.errors)")
    }
    let added = try await daemons[0].ctl(hub.arguments)
    #expect(added.code == 0 && added.output.hasPrefix("added hub: host="), "\(added)")
    for daemon in daemons + daemons {
      let waited = try await daemon.ctl("wait", "--timeout", "120")
      #expect(waited.code == 0, "\(waited.errors)")
    }
    let names = try await daemons[0].values("Package", "name")
    #expect(names.count == 61)
    #expect(try await daemons[1].values("Package", "name") == names)
    #expect(try await daemons[1].values("Package", "name", store: "hub") == names)
    let top = try hub.sql(
      "SELECT s.name, count(*) FROM @package p JOIN @section s ON p.section_id = s.cairn_id "
        + "GROUP BY s.name ORDER BY 2 DESC, 1")
    #expect(top == "s-a|30\ns-b|31" || top == "s-b|31\ns-a|30")
    for daemon in daemons {
      let verified = try await daemon.ctl("verify", "hub", "--level", "full")
      #expect(verified.code == 0, "\(verified.output)\(verified.errors)")
    }
    // What was added by command is there after a restart.
    #expect(await daemons[0].stop() == 0)
    try await daemons[0].start()
    let replica = try #require(try daemons[0].replica("hub"))
    #expect(replica.type == "postgresql")
    #expect(replica.location == "\(hub.connection)#\(hub.schema)")
    #expect(try await daemons[0].ctl("wait", "--timeout", "60").code == 0)
    let removed = try await daemons[0].ctl("store", "remove", "hub")
    #expect(removed.code == 0, "\(removed.errors)")
    #expect(try hub.sql("SELECT count(*) FROM @package") == "61")
    for daemon in daemons { #expect(await daemon.stop() == 0) }
  }

  @Test func aFullVerificationNamesWhatNoRecordShows() async throws {
    let hub = try HubDaemons()
    let daemon = try hub.make("a")
    try await daemon.start()
    #expect(try await daemon.ctl("insert", "Section", "name=s").code == 0)
    #expect(try await daemon.ctl("wait", "--timeout", "60").code == 0)
    #expect(try await daemon.ctl("verify", "hub").code == 0)
    _ = try hub.sql("UPDATE @section SET cairn_version = 0")
    let verified = try await daemon.ctl("verify", "hub", "--level", "full")
    #expect(verified.code == 1, "\(verified.output)")
    #expect(verified.output.contains("has the version 0"), "\(verified.output)")
    #expect(verified.errors.contains("its administrator puts them right"), "\(verified.errors)")
    _ = try hub.sql("UPDATE @section SET cairn_version = 1")
    #expect(try await daemon.ctl("verify", "hub", "--level", "full").code == 0)
    #expect(await daemon.stop() == 0)
  }

  @Test(.timeLimit(.minutes(10)))
  func daemonsAndServerAreKilledAtRandomAndNothingAnsweredIsLost() async throws {
    let server = try PostgreSQLServer()
    let hub = try HubDaemons(server)
    let daemons = [try hub.make("a"), try hub.make("b")]
    for daemon in daemons { try await daemon.start() }
    try await SharedImport(daemons).run { numbers in
      guard Bool.random(using: &numbers) else { return }
      try await offPool { try server.killAndStart() }
    }
  }

  @Test func aDatabaseThatIsGoneForAWhileIsSaidSoAndHoldsNothingUp() async throws {
    let server = try PostgreSQLServer()
    let hub = try HubDaemons(server)
    let daemon = try hub.make("a")
    try await daemon.start()
    let near = hub.folder.file("near.sqlite")
    #expect(try await daemon.ctl("store", "add", "near", "sqlite", near).code == 0)
    #expect(try await daemon.ctl("wait", "--timeout", "60").code == 0)
    try await offPool { try server.stop() }
    #expect(
      try await daemon.ctl(
        "import", "-", "--entity", "Package", "--key", "name", input: rows(["late"])
      ).code == 0)
    #expect(try await daemon.ctl("wait", "--for", "near", "--timeout", "60").code == 0)
    #expect(await eventually { (try? daemon.replica("hub")?.state) == .unavailable })
    let problem = try #require(try daemon.replica("hub")?.problem)
    #expect(problem.code == "store-unavailable")
    // The last words of the server that ends may come first.
    #expect(
      await eventually {
        (try? daemon.replica("hub")?.problem?.message.contains("start it, or correct host and port"))
          == true
      })
    #expect(await daemon.logs("start it, or correct host and port"))
    let waited = try await daemon.ctl("wait", "--for", "hub", "--timeout", "1")
    #expect(waited.code != 0)
    try await offPool { try server.start() }
    #expect(try await daemon.ctl("wait", "--for", "hub", "--timeout", "120").code == 0)
    #expect(try hub.sql("SELECT name FROM @package") == "late")
    #expect(await daemon.stop() == 0)
  }

  /// A pattern of the shell for each case: what is added, and what the answer says.
  @Test(arguments: [
    ("host=/nowhere password=canary", "location: A PostgreSQL store's connection has a password"),
    ("postgresql://u:canary@h/db", "location: A PostgreSQL store's connection has a password"),
    ("inventory", "is no place of a PostgreSQL store. Write postgresql://"),
    ("hosst=/tmp", "The place of the PostgreSQL store is not understood"),
    ("postgresql://h/db#part", "is no place of a PostgreSQL store"),
  ])
  func whatIsNoPlaceIsRefused(_ location: String, _ words: String) async throws {
    let hub = try HubDaemons()
    let daemon = try hub.make("a", isLinked: false)
    try await daemon.start()
    let added = try await daemon.ctl("store", "add", "hub", "postgresql", location)
    #expect(added.code == 1)
    #expect(added.errors.contains(words), "\(added.errors)")
    #expect(!added.errors.contains("canary"))
    #expect(try daemon.status().replicas.isEmpty)
    #expect(!daemon.logText.contains("canary"))
    #expect(await daemon.stop() == 0)
  }

  @Test func oneSchemaIsOneReplica() async throws {
    let hub = try HubDaemons()
    let daemon = try hub.make("a")
    try await daemon.start()
    #expect(try await daemon.ctl("wait", "--timeout", "60").code == 0)
    let again = try await daemon.ctl(
      "store", "add", "second", "postgresql", hub.connection, "--schema", hub.schema)
    #expect(again.code == 1)
    #expect(again.errors.contains("the same schema is a replica under this name"))
    // Another way to write the same place is found out when it is opened.
    let other = try await daemon.ctl(
      "store", "add", "second", "postgresql", hub.connection + " application_name=x", "--schema",
      hub.schema)
    #expect(other.code == 1)
    #expect(other.errors.contains("copy of the replica hub"), "\(other)")
    #expect(await daemon.stop() == 0)
  }

  /// Commands for files say what to do instead.
  @Test(arguments: [
    (["backup", "hub"], "pg_dump"), (["checkpoint", "hub"], "hub has no log"),
  ])
  func commandsForFilesRefuseADatabase(_ command: [String], _ words: String) async throws {
    let hub = try HubDaemons()
    let daemon = try hub.make("a")
    try await daemon.start()
    #expect(try await daemon.ctl("wait", "--timeout", "60").code == 0)
    let refused = try await daemon.ctl(command)
    #expect(refused.code == 1)
    #expect(refused.errors.contains(words), "\(refused)")
    #expect(await daemon.stop() == 0)
  }

  @Test func theAdviceForABackupIsACommandThatSavesTheStore() async throws {
    let hub = try HubDaemons()
    let daemon = try hub.make("a")
    try await daemon.start()
    #expect(try await daemon.ctl("insert", "Package", "name=apt").code == 0)
    #expect(try await daemon.ctl("wait", "--timeout", "60").code == 0)
    let refused = try await daemon.ctl("backup", "hub")
    let start = try #require(refused.errors.range(of: "pg_dump ")).lowerBound
    let command = try #require(refused.errors[start...].split(separator: "\n").first)
    let programs = try #require(PostgreSQLServer.programs)
    let saved = try await CairnDaemonTests.run(
      "/bin/sh", ["-c", "cd '\(hub.folder.path)' && '\(programs)'/\(command)"])
    #expect(saved.code == 0, "\(command): \(saved.errors)")
    let dump = try String(contentsOfFile: hub.folder.file("hub.sql"), encoding: .utf8)
    #expect(await daemon.stop() == 0)
    // It is all that the store is.
    _ = try hub.sql("DROP SCHEMA \"\(hub.schema)\" CASCADE")
    try hub.server.restore(dump)
    try await daemon.start()
    #expect(try await daemon.ctl("insert", "Package", "name=dpkg").code == 0)
    #expect(try await daemon.ctl("wait", "--timeout", "60").code == 0)
    #expect(try hub.sql("SELECT count(*) FROM @package") == "2")
    #expect(await daemon.stop() == 0)
  }

  @Test func anExportOfAHubIsThatOfTheLocalStore() async throws {
    let hub = try HubDaemons()
    let daemon = try hub.make("a", isLinked: false)
    try await daemon.start()
    let session = hub.server.newName("exported")
    let added = try await daemon.ctl(
      "store", "add", "hub", "postgresql", "\(hub.connection) application_name=\(session)",
      "--schema", hub.schema)
    #expect(added.code == 0, "\(added.errors)")
    let imported = try await daemon.ctl(
      "import", "-", "--entity", "Package", "--key", "name", input: rows(["a1", "a2", "b1"]))
    #expect(imported.code == 0, "\(imported.errors)")
    #expect(try await daemon.ctl("wait", "--timeout", "60").code == 0)
    let local = try await daemon.ctl("export").output.split(separator: "\n").sorted()
    let exported = try await daemon.ctl("export", "--store", "hub")
    #expect(exported.code == 0, "\(exported.errors)")
    #expect(exported.output.split(separator: "\n").sorted() == local && local.count == 5)
    // Its read is over: a transaction that stays open keeps the server from cleaning up.
    let isOver = try await eventually {
      try hub.sql(
        "SELECT count(*) FROM pg_stat_activity WHERE application_name = '\(session)' "
          + "AND state = 'idle in transaction'") == "0"
    }
    #expect(isOver)
    #expect(await daemon.stop() == 0)
  }

  @Test func thePasswordComesFromACredentialAndIsNeverShown() async throws {
    let hub = try HubDaemons()
    let role = hub.server.newName("guarded")
    try hub.server.admit(role, password: "canary-7361")
    let credentials = hub.folder.file("credentials")
    try FileManager.default.createDirectory(
      atPath: credentials, withIntermediateDirectories: true)
    let place = hub.connection(user: role)
    let daemon = try hub.make(
      "a", isLinked: false, environment: ["CREDENTIALS_DIRECTORY": credentials])
    try await daemon.start()
    let arguments = [
      "store", "add", "hub", "postgresql", place, "--schema", hub.schema, "--credential", "hub.pg",
    ]
    #expect(try await daemon.ctl(arguments).code == 0)
    #expect(await eventually { (try? daemon.replica("hub")?.state) == .unavailable })
    let problem = try #require(try daemon.replica("hub")?.problem)
    #expect(problem.message.contains("credential"), "\(problem)")
    // Put there while the daemon runs, and correct at the second try.
    try "wrong\n".write(toFile: "\(credentials)/hub.pg", atomically: true, encoding: .utf8)
    #expect(
      await eventually {
        (try? daemon.replica("hub")?.problem?.message.contains("Correct the password")) == true
      })
    try "canary-7361\n".write(toFile: "\(credentials)/hub.pg", atomically: true, encoding: .utf8)
    #expect(try await daemon.ctl("wait", "--timeout", "60").code == 0)
    for command in [["status", "--json"], ["config", "cat"], ["support-bundle", "--help"]] {
      let answer = try await daemon.ctl(command)
      #expect(!(answer.output + answer.errors).contains("canary"), "\(command)")
    }
    let environment = try String(contentsOfFile: "/proc/\(daemon.pid)/environ", encoding: .utf8)
    let line = try String(contentsOfFile: "/proc/\(daemon.pid)/cmdline", encoding: .utf8)
    #expect(!(daemon.logText + environment + line).contains("canary"))
    #expect(await daemon.stop() == 0)
  }
}
