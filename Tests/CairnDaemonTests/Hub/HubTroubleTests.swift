// What an operator meets when a hub cannot be used: what is wrong, where, and what to do.
import CairnControl
import CairnTesting
import Foundation
import TestServers
import TestSupport
import Testing

/// Specification: sync.md 2, promise 5: a replica in trouble delays no other one.
@Suite(.needsServer) struct HubTroubleTests {
  /// A replica that cannot be used, by what is wrong with it.
  private struct Trouble {
    let name: String
    var code = "store-unavailable"
    /// What status and log say is to be done.
    let cure: String
    let line: String
    /// The line once an operator has followed the advice.
    var mended: String?
  }

  private let server: PostgreSQLServer
  private let folder: TemporaryFolder
  private let near: String
  private let role: String
  private let old: OldServer

  init() throws {
    server = try PostgreSQLServer()
    folder = try TemporaryFolder()
    near = folder.file("near.sqlite")
    role = server.newName("guarded")
    try server.admit(role, password: "right-one")
    _ = try server.query("CREATE ROLE bare LOGIN")
    _ = try server.query("CREATE SCHEMA closed")
    _ = try server.query("CREATE SCHEMA taken; CREATE TABLE taken.theirs (n int)")
    for name in ["credentials", "old"] {
      try FileManager.default.createDirectory(
        atPath: folder.file(name), withIntermediateDirectories: true)
    }
    try "wrong\n".write(
      toFile: folder.file("credentials/hub.pg"), atomically: true, encoding: .utf8)
    old = try OldServer(in: folder.file("old"), port: server.port, version: "12.17")
  }

  private func line(
    _ name: String, _ connection: String, schema: String? = nil, more: String = ""
  ) -> String {
    "  - {name: \(name), type: postgresql, connection: \"\(connection)\", "
      + "schema: \(schema ?? name)\(more)}"
  }

  private var troubles: [Trouble] {
    let (here, port) = (server.folder, server.port)
    let owner = "dbname=postgres user=owner"
    let authority = "sslmode=verify-full sslrootcert=\(here)/server.crt"
    return [
      Trouble(
        name: "password", cure: "Correct the password",
        line: line(
          "password", "host=\(here) port=\(port) dbname=postgres user=\(role)",
          more: ", credential: hub.pg")),
      Trouble(
        name: "database", cure: "Create the database (createdb) or correct its name",
        line: line("database", "host=\(here) port=\(port) dbname=inventory user=owner")),
      Trouble(
        name: "noschema", cure: "permission denied for database postgres",
        line: line("noschema", "host=\(here) port=\(port) dbname=postgres user=bare")),
      Trouble(
        name: "closed", cure: "The role lacks a right: the owner of what is named can GRANT it",
        line: line("closed", "host=\(here) port=\(port) dbname=postgres user=bare")),
      Trouble(
        name: "taken", code: "not-a-store", cure: "Name another schema",
        line: line("taken", "host=\(here) port=\(port) \(owner)"),
        mended: line("taken", "host=\(here) port=\(port) \(owner)", schema: "ours")),
      Trouble(
        name: "old", cure: "is PostgreSQL 12; stores need 13 or newer. Upgrade the server",
        line: line("old", "host=\(old.folder) port=\(port) \(owner)")),
      Trouble(
        name: "standby", cure: "all hosts with target_session_attrs=read-write",
        line: line("standby", "host=\(here) port=\(server.standbyPort) \(owner)"),
        mended: line(
          "standby",
          "host=\(here),\(here) port=\(server.standbyPort),\(port) \(owner) "
            + "target_session_attrs=read-write")),
      Trouble(
        name: "certificate", cure: "The server's TLS certificate is another host's",
        line: line("certificate", "host=127.0.0.1 port=\(port) \(owner) \(authority)"),
        mended: line(
          "certificate",
          "host=elsewhere.example hostaddr=127.0.0.1 port=\(port) \(owner) \(authority)")),
    ]
  }

  private func daemon() throws -> Daemon {
    let lines =
      ["sync: {maxRetryDelay: 1s, pollInterval: 1s}", "replicas:"] + troubles.map(\.line)
      + ["  - {name: near, type: sqlite, path: \(near)}"]
    return try Daemon(
      in: folder,
      Daemon.Setup(
        extra: lines.joined(separator: "\n"),
        environment: ["CREDENTIALS_DIRECTORY": folder.file("credentials")]))
  }

  /// Does what the messages say.
  private func mend(_ daemon: Daemon) throws {
    try "right-one\n".write(
      toFile: folder.file("credentials/hub.pg"), atomically: true, encoding: .utf8)
    _ = try server.query("CREATE DATABASE inventory")
    _ = try server.query("CREATE SCHEMA noschema AUTHORIZATION bare")
    _ = try server.query("GRANT USAGE, CREATE ON SCHEMA closed TO bare")
    try old.giveWay(to: server)
    var text = try String(contentsOfFile: daemon.configPath, encoding: .utf8)
    for trouble in troubles {
      if let mended = trouble.mended { text = text.replacing(trouble.line, with: mended) }
    }
    let file = try #require(FileHandle(forWritingAtPath: daemon.configPath))
    try file.truncate(atOffset: 0)
    try file.write(contentsOf: Data(text.utf8))
    try file.close()
  }

  @Test(.timeLimit(.minutes(10)))
  func eachTroubleIsSaidWithItsCureWhileOthersGoOnAndNothingIsLost() async throws {
    try #require(
      FileManager.default.fileExists(atPath: "\(server.folder)/server.crt"),
      "openssl makes the certificate")
    let server = server
    let troubles = troubles
    try await offPool { try server.makeStandby() }
    let daemon = try daemon()
    try await daemon.start()
    #expect(try await daemon.ctl("insert", "Package", "name=apt").code == 0)
    #expect(try await daemon.ctl("wait", "--for", "near", "--timeout", "120").code == 0)
    for trouble in troubles {
      let isSaid = await eventually {
        (try? daemon.replica(trouble.name)?.problem?.message.contains(trouble.cure)) == true
      }
      let problem = try daemon.replica(trouble.name)?.problem
      #expect(isSaid && problem?.code == trouble.code, "\(trouble.name): \(problem as Any)")
      #expect(problem?.message.contains("PostgreSQL database") == true, "\(trouble.name): where")
      #expect(await daemon.logs(trouble.cure), "\(trouble.name)")
    }
    let shown = try await daemon.ctl("status").output.split(whereSeparator: \.isWhitespace)
      .joined(separator: " ")
    for trouble in troubles { #expect(shown.contains(trouble.cure), "\(shown)") }
    // Written while they are in trouble.
    #expect(try await daemon.ctl("insert", "Package", "name=dpkg").code == 0)
    #expect(try await daemon.ctl("wait", "--for", "near", "--timeout", "120").code == 0)

    try mend(daemon)
    let reloaded = try await daemon.ctl("reload")
    #expect(reloaded.code == 0, "\(reloaded.errors)")
    let waited = try await daemon.ctl("wait", "--timeout", "120")
    #expect(waited.code == 0, "\(waited.errors)")
    for schema in ["password", "noschema", "closed", "ours", "old", "standby", "certificate"] {
      let names = try server.query(
        "SELECT string_agg(name, ' ' ORDER BY name) FROM \(schema).package")
      #expect(names == "apt dpkg", "\(schema)")
    }
    let elsewhere = try server.query("SELECT count(*) FROM database.package", database: "inventory")
    #expect(elsewhere == "2")
    #expect(try server.query("SELECT count(*) FROM taken.theirs") == "0")
    #expect(await daemon.stop() == 0)
  }
}
