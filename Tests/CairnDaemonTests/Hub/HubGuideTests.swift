// What the page "From one machine to many" tells people to type works, in its order.
import CairnTesting
import Foundation
import TestServers
import TestSupport
import Testing

@Suite(.needsServer) struct HubGuideTests {
  /// Programs that need root or another machine; the page is run without them.
  private static let system: Set<String> = ["apt-get", "systemctl", "systemd-creds"]

  /// The page names servers of its own; here one takes their place.
  private func here(_ words: [String], _ server: PostgreSQLServer) -> [String] {
    words.map { word in
      guard word.hasPrefix("host=") else { return word }
      let rest = word.split(separator: " ").filter {
        !$0.hasPrefix("host=") && !$0.hasPrefix("sslmode=")
      }
      return (["host=\(server.folder)", "port=\(server.port)"] + rest.map(String.init))
        .joined(separator: " ")
    }
  }

  @Test func whatItSaysToTypeWorks() async throws {
    let server = try PostgreSQLServer()
    let folder = try TemporaryFolder()
    let daemon = try Daemon(in: folder)
    try await daemon.start()
    let page = try DocumentedPage("Sources/Cairn/Cairn.docc/FromOneMachineToMany.md")
    let programs = try #require(PostgreSQLServer.programs)
    var run: [String] = []
    for command in page.commands {
      guard let program = command.words.first, !Self.system.contains(program) else { continue }
      let words = Array(here(command.words, server).dropFirst())
      let path: String
      switch program {
      case "cairnctl":
        // A replica is added with other settings further down.
        if words.starts(with: ["store", "add"]) {
          _ = try await daemon.ctl("store", "remove", "hub")
        }
        path = try #require(Project.program("cairnctl"))
      case "createuser", "createdb", "psql", "pg_dump": path = "\(programs)/\(program)"
      default: continue
      }
      let outcome = try await CairnDaemonTests.run(
        path, words,
        environment: [
          "CAIRN_SOCKET": daemon.socket, "PGHOST": server.folder, "PGPORT": "\(server.port)",
          "PGUSER": program == "createuser" || program == "createdb" ? "owner" : "cairn",
        ])
      #expect(outcome.code == 0, "\(command): \(outcome.output)\(outcome.errors)")
      run.append(program)
    }
    #expect(run.count { $0 == "cairnctl" } >= 6, "\(run)")
    for program in ["createuser", "createdb", "psql", "pg_dump"] { #expect(run.contains(program)) }
    #expect(await daemon.stop() == 0)
  }

  @Test func aHubWhoseSchemaIsGoneIsNotMadeAnew() async throws {
    let hub = try HubDaemons()
    let daemon = try hub.make("a")
    try await daemon.start()
    #expect(try await daemon.ctl("insert", "Package", "name=apt").code == 0)
    #expect(try await daemon.ctl("wait", "--timeout", "60").code == 0)
    _ = try hub.sql("ALTER SCHEMA \"\(hub.schema)\" RENAME TO \"\(hub.schema)_aside\"")
    #expect(try await daemon.ctl("insert", "Package", "name=dpkg").code == 0)
    let isSaid = await eventually {
      (try? daemon.replica("hub")?.problem?.message.contains("has no store any more")) == true
    }
    #expect(isSaid, "\(daemon.log(last: 3))")
    _ = try hub.sql("ALTER SCHEMA \"\(hub.schema)_aside\" RENAME TO \"\(hub.schema)\"")
    #expect(try await daemon.ctl("wait", "--timeout", "60").code == 0)
    #expect(try hub.sql("SELECT count(*) FROM @package") == "2")
    #expect(await daemon.stop() == 0)
  }
}
