// The real cairnctl against a control server in this process.
import CairnControl
import Foundation
import Testing

@testable import CairnDaemon

@Suite struct CairnctlTests {
  private func cairnctl(
    _ arguments: [String], input: String = "", running: RunningServer? = nil
  ) async throws -> (Outcome, RunningServer) {
    let server: RunningServer
    if let running { server = running } else { server = try await RunningServer() }
    let program = try #require(Project.program("cairnctl"), "build the products first")
    let outcome = try await run(
      program, arguments, input: input, environment: ["CAIRN_SOCKET": server.socket])
    return (outcome, server)
  }

  @Test(arguments: [
    ["status"], ["stores"], ["store", "add", "nas", "sqlite", "/nas.sqlite"],
    ["store", "remove", "backup"], ["store", "remove", "x"], ["store", "describe", "backup"],
    ["sync"], ["sync", "nas", "--wait"], ["wait"],
    ["wait", "--for", "slow", "--timeout", "0.05"], ["pause", "nas"], ["resume"],
    ["verify"], ["verify", "damaged"], ["fetch", "Item"], ["fetch", "Item", "--format", "csv"],
    ["fetch", "Item", "--format", "jsonl"], ["fetch", "Nope"], ["fetch", "Item", "--where", "=="],
    ["insert", "Item", "name=nut", "count=12", "tags=t1,t2"], ["insert", "Item", "count=many"],
    ["update", "Item", "r1", "price=1.5"], ["delete", "Item", "r1", "r2"], ["model", "show"],
    ["--json", "status"], ["--json", "wait"], ["--json", "store", "remove", "x"],
  ])
  func theOutputIsAsInTheGoldenFile(_ arguments: [String]) async throws {
    let (outcome, _) = try await cairnctl(arguments)
    let shown =
      "exit \(outcome.code)\n--- output\n\(outcome.output)--- errors\n\(outcome.errors)"
    let name = arguments.joined(separator: " ").map { $0.isLetter || $0.isNumber ? $0 : "_" }
    let path = Project.file("Tests/CairnDaemonTests/Golden/\(String(name)).txt")
    if ProcessInfo.processInfo.environment["RECORD_GOLDEN"] != nil {
      try FileManager.default.createDirectory(
        atPath: Project.file("Tests/CairnDaemonTests/Golden"), withIntermediateDirectories: true)
      try shown.write(toFile: path, atomically: true, encoding: .utf8)
    }
    let golden = try String(contentsOfFile: path, encoding: .utf8)
    #expect(shown == golden, "RECORD_GOLDEN=1 writes it anew")
  }

  @Test func jsonLinesAreImportedInBatchesWithTheirLines() async throws {
    let input = "{\"name\":\"a\"}\n\n{\"name\":\"b\"}\n{\"name\":\"c\"}"
    let (outcome, server) = try await cairnctl(
      ["import", "-", "--entity", "Item", "--batch", "2", "--key", "name"], input: input)
    #expect(outcome.code == 0)
    #expect(outcome.output == "3 rows: 3 inserted, 0 updated, 0 unchanged, 0 related created\n")
    let batches = server.services.imported.withLock { $0 }
    #expect(batches.map(\.lines) == [[1, 3], [4]])
    #expect(batches.first?.key == ["name"])
  }

  @Test func csvValuesGetTheTypesOfTheModel() async throws {
    let input = "name,count,price\r\n\"nut, \"\"big\"\"\n\",12,1.5\r\nbolt,,\r\n"
    let (outcome, server) = try await cairnctl(
      ["import", "-", "--entity", "Item", "--format", "csv"], input: input)
    #expect(outcome.errors == "")
    let batch = try #require(server.services.imported.withLock { $0.first })
    #expect(batch.lines == [2, 4])
    #expect(
      batch.rows == [
        ["name": "nut, \"big\"\n", "count": 12, "price": 1.5],
        ["name": "bolt", "count": nil, "price": nil],
      ])
  }

  @Test(arguments: [
    ("{\"name\":\"a\"}\n{\"name\":\n", "standard input:2: not JSON"),
    ("{\"name\":\"a\"}\n{\"name\":\"bad\"}\n", "standard input:2: name: not allowed"),
    ("[1]\n", "standard input:1: an array stands where an object is wanted"),
  ])
  func aBadRowIsNamedByItsLine(_ input: String, _ message: String) async throws {
    let (outcome, server) = try await cairnctl(
      ["import", "-", "--entity", "Item", "--batch", "1"], input: input)
    #expect(outcome.code == 1)
    #expect(outcome.errors.contains(message), "\(outcome.errors)")
    let before = input.hasPrefix("[") ? 0 : 1
    #expect(server.services.imported.withLock { $0.count } == before)
  }

  @Test func withoutADaemonTheCodeIs69AndTheHintSaysWhatToDo() async throws {
    let program = try #require(Project.program("cairnctl"))
    let outcome = try await run(program, ["--socket", "/no/such/socket", "status"])
    #expect(outcome.code == 69)
    #expect(outcome.errors.contains("hint: is cairnd running?"))
    #expect(try await run(program, ["nonsense"]).code == 64)
  }
}
