// Streams of rows that are cut and go on, with the real daemon.
import CairnControl
import CairnTesting
import Foundation
import TestSupport
import Testing

@Suite struct ResumedFetchTests {
  private func names(_ reply: FetchRecords.Reply) -> [String] {
    reply.rows.compactMap { $0["name"]?.stringValue }
  }

  @Test func aStreamThatWasCutGoesOnBehindItsLastRow() async throws {
    let folder = try TemporaryFolder()
    let daemon = try Daemon(in: folder)
    try await daemon.start()
    let lines = (0..<450).map { "{\"name\":\"s\($0)\"}" }.joined(separator: "\n")
    _ = try await daemon.ctl(
      "import", "-", "--entity", "Section", "--key", "name", input: lines)
    let (seen, last) = try await offPool {
      let client = try daemon.client()
      try client.send(FetchRecords.self, .init(entity: "Section", properties: ["name"]))
      var seen: [String] = []
      var last: Int?
      for _ in 0..<2 {
        let (reply, _) = try client.receive(FetchRecords.self)
        seen += self.names(reply)
        last = reply.last
      }
      client.close()
      return (seen, last)
    }
    #expect(seen.count == 200)
    let place = try #require(last)
    _ = try await daemon.ctl("insert", "Section", "name=new")
    let rest = try await offPool {
      var rest: [String] = []
      try daemon.client().stream(
        FetchRecords.self, .init(entity: "Section", properties: ["name"], after: place)
      ) { rest += self.names($0) }
      return rest
    }
    #expect(rest.count == 251 && rest.contains("new"))
    #expect(Set(seen).isDisjoint(with: rest), "none comes twice")
    #expect(Set(seen + rest).count == 451, "none is left out")
    let few = try await daemon.ctl(
      "fetch", "Section", "--after", "\(place)", "--limit", "3", "--properties", "name", "--format",
      "csv")
    let shown = few.output.split(separator: "\n").dropFirst().map(String.init)
    #expect(shown == Array(rest.prefix(3)))
    #expect(await daemon.stop() == 0)
  }

  @Test func aPlaceIsRefusedWhereRowsHaveNoNumbers() async throws {
    let folder = try TemporaryFolder()
    let daemon = try Daemon(in: folder)
    try await daemon.start()
    for parameters in [
      FetchRecords.Parameters(entity: "Section", sort: ["name"], after: 1),
      FetchRecords.Parameters(entity: "Section", offset: 2, after: 1),
      FetchRecords.Parameters(entity: "Section", after: -1),
    ] {
      #expect(throws: ControlError.invalidParameter("after")) {
        try daemon.client().stream(FetchRecords.self, parameters) { _ in }
      }
    }
    #expect(await daemon.stop() == 0)
  }
}
