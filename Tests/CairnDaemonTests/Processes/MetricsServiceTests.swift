// Metrics of a real daemon, over its socket, over an address and as a file.
import CairnControl
import CairnPlatform
import CairnTesting
import Foundation
import TestSupport
import Testing

/// Specification: operations.md 2.10.
@Suite struct MetricsServiceTests {
  private func daemon(_ metrics: String, in folder: TemporaryFolder) throws -> Daemon {
    try Daemon(
      in: folder,
      Daemon.Setup(
        model: try TroubledFile.model(in: folder), replicas: [("near", folder.file("near.sqlite"))],
        extra: "metrics: \(metrics)"))
  }

  /// One request over the socket: its first line, and its body.
  private func get(
    _ request: String, socket: String
  ) async throws -> (status: String, body: String) {
    try await offPool {
      let stream = try UnixStream(connectingTo: socket)
      try stream.write(Array(request.utf8), timeout: .patience)
      var answer: [UInt8] = []
      while true {
        let part = try stream.read(timeout: .patience)
        if part.isEmpty { break }
        answer += part
      }
      return Self.parts(String(decoding: answer, as: UTF8.self))
    }
  }

  private static func parts(_ answer: String) -> (status: String, body: String) {
    // A carriage return and a line feed are one character.
    let end = answer.range(of: "\r\n\r\n")
    let status = answer.prefix { !$0.isNewline }
    return (String(status), end.map { String(answer[$0.upperBound...]) } ?? "")
  }

  @Test func figuresFollowWhatTheDaemonDoes() async throws {
    let folder = try TemporaryFolder()
    let socket = folder.file("metrics")
    let daemon = try daemon("{socket: \(socket)}", in: folder)
    try await daemon.start()
    try await daemon.ctl("insert", "Item", "name=nut")
    #expect(try await daemon.ctl("wait", "--timeout", "60").code == 0)
    let scraped = try await get("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n", socket: socket)
    #expect(scraped.status == "HTTP/1.1 200 OK")
    let read = PrometheusText(scraped.body)
    #expect(read.problems.isEmpty, "\(read.problems)")
    #expect(read.values["cairn_store_open{store=\"local\"}"] == 1)
    #expect(read.values["cairn_store_records{store=\"local\"}"] == 1)
    #expect((read.values["cairn_store_log_bytes{store=\"local\"}"] ?? 0) > 0)
    #expect((read.values["cairn_store_free_bytes{store=\"local\"}"] ?? 0) > 0)
    #expect(
      read.values["cairn_replica_records_total{replica=\"near\",direction=\"push\"}"] == 1)
    #expect(read.values["cairn_replica_state{replica=\"near\",state=\"inSync\"}"] == 1)
    #expect(read.values["cairn_replica_lag_transactions{replica=\"near\"}"] == 0)
    #expect((read.values["process_open_fds"] ?? 0) > 5)
    #expect((read.values["cairn_store_commit_seconds_count{store=\"local\"}"] ?? 0) > 0)
    #expect((read.values["cairn_store_commit_seconds_sum{store=\"local\"}"] ?? 0) > 0)
    #expect(read.values["cairn_control_connections"] != nil)
    // No value of a record gets there.
    #expect(!scraped.body.contains("nut"))

    // The same as a command and as a file.
    let shown = try await daemon.ctl("metrics")
    #expect(
      Set(PrometheusText(shown.output).values.keys) == Set(read.values.keys), "\(shown.errors)")
    let file = folder.file("cairn.prom")
    let written = try await daemon.ctl("metrics", "--textfile", file)
    #expect(written.code == 0 && written.output == "")
    let kept = PrometheusText(try String(contentsOfFile: file, encoding: .utf8))
    #expect(kept.problems.isEmpty && kept.values.count == read.values.count)
    let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions]
    #expect((mode as? NSNumber)?.intValue == 0o644)

    #expect(try await get("GET /ready HTTP/1.0\n\n", socket: socket).body == "serving\n")
    #expect(await daemon.stop() == 0)
    #expect(!FileManager.default.fileExists(atPath: socket))
  }

  @Test func aScraperGetsTheFormThatItAsksFor() async throws {
    let folder = try TemporaryFolder()
    let socket = folder.file("metrics")
    let daemon = try daemon("{socket: \(socket)}", in: folder)
    try await daemon.start()
    let head = "GET /metrics HTTP/1.1\r\nHost: x\r\n"
    let plain = try await get("\(head)\r\n", socket: socket).body
    let asked = "\(head)Accept: application/openmetrics-text;version=1.0.0\r\n\r\n"
    let open = try await get(asked, socket: socket).body
    #expect(plain.contains("# TYPE cairn_control_refused_total counter\n"))
    #expect(open.contains("# TYPE cairn_control_refused counter\n"))
    #expect(open.hasSuffix("\n# EOF\n") && !plain.contains("# EOF"))
    #expect(await daemon.stop() == 0)
  }

  @Test func whenStoresWereCheckedAndWhatWasFoundIsAFigure() async throws {
    let folder = try TemporaryFolder()
    let daemon = try daemon("{}", in: folder)
    try await daemon.start()
    #expect(try await daemon.ctl("wait", "--timeout", "60").code == 0)
    let before = Date().timeIntervalSince1970
    #expect(try await daemon.ctl("verify").code == 0)
    let read = PrometheusText(try await daemon.ctl("metrics").output)
    for store in ["local", "near"] {
      let last = read.values["cairn_store_last_check_timestamp_seconds{store=\"\(store)\"}"]
      #expect((last ?? 0) >= before - 1, "\(store)")
      #expect(read.values["cairn_store_check_findings_total{store=\"\(store)\"}"] == 0)
    }
    #expect(await daemon.stop() == 0)
  }

  @Test func aDaemonThatIsNotReadySaysWhy() async throws {
    let folder = try TemporaryFolder()
    let socket = folder.file("metrics")
    let daemon = try daemon("{socket: \(socket)}", in: folder)
    try Data("no store\n".utf8).write(to: URL(fileURLWithPath: daemon.localPath))
    try await daemon.start()
    let ready = try await get("GET /ready HTTP/1.1\r\n\r\n", socket: socket)
    #expect(ready.status == "HTTP/1.1 503 Service Unavailable")
    #expect(ready.body.contains("not-a-store: "), "\(ready.body)")
    let health = try await get("GET /health HTTP/1.1\r\n\r\n", socket: socket)
    #expect(health.status == "HTTP/1.1 200 OK" && health.body == "degraded\n")
    let scraped = PrometheusText(
      try await get("GET /metrics HTTP/1.1\r\n\r\n", socket: socket).body)
    #expect(scraped.problems.isEmpty)
    #expect(scraped.values["cairn_problems{code=\"not-a-store\"}"] == 1)
    #expect(await daemon.stop() == 0)
  }

  @Test func nonsenseIsRefusedAndHarmsNobody() async throws {
    let folder = try TemporaryFolder()
    let socket = folder.file("metrics")
    let daemon = try daemon("{socket: \(socket)}", in: folder)
    try await daemon.start()
    func status(_ request: String) async throws -> String {
      try await get(request, socket: socket).status
    }
    #expect(try await status("POST /metrics HTTP/1.1\r\n\r\n").contains(" 405 "))
    #expect(try await status("GET /etc/passwd HTTP/1.1\r\n\r\n").contains(" 404 "))
    #expect(try await status("{\"method\":\"x\"}\0\r\n\r\n").contains(" 400 "))
    let long = String(repeating: "x", count: 20_000)
    #expect(try await status("GET /\(long) HTTP/1.1\r\n").contains(" 431 "))
    let head = try await get("HEAD /metrics HTTP/1.1\r\n\r\n", socket: socket)
    #expect(head.status == "HTTP/1.1 200 OK" && head.body == "")
    // Who connects and says nothing takes places from scrapers only.
    try await offPool {
      let idle = try (0..<40).map { _ in try UnixStream(connectingTo: socket) }
      #expect(try daemon.status().state == .serving)
      _ = consume idle
    }
    var answered = ""
    for _ in 0..<200 where answered != "HTTP/1.1 200 OK" {
      answered = (try? await status("GET /health HTTP/1.1\r\n\r\n")) ?? ""
    }
    #expect(answered == "HTTP/1.1 200 OK", "places come back")
    #expect(await daemon.stop() == 0)
  }

  @Test func anAddressIsServedAndOneThatIsTakenIsLogged() async throws {
    let folder = try TemporaryFolder()
    for _ in 0..<20 {
      let port = Int.random(in: 20_000..<30_000)
      let daemon = try daemon("{address: \"127.0.0.1:\(port)\"}", in: folder)
      try await daemon.start()
      let log = "event=metricsUnavailable"
      // Another program has the port.
      if daemon.logText.contains(log) {
        #expect(await daemon.stop() == 0)
        continue
      }
      let request =
        "exec 3<>/dev/tcp/127.0.0.1/\(port); printf 'GET /health HTTP/1.1\\r\\n\\r\\n' >&3; cat <&3"
      var answer = ""
      for _ in 0..<100 where answer.isEmpty {
        answer = try await run("/bin/bash", ["-c", request]).output
      }
      #expect(Self.parts(answer).body == "serving\n", "\(answer)")
      // A second daemon with the same address works without.
      let other = try TemporaryFolder()
      let second = try self.daemon("{address: \"127.0.0.1:\(port)\"}", in: other)
      try await second.start()
      #expect(try second.status().state == .serving)
      #expect(await second.logs(log))
      #expect(await second.stop() == 0)
      #expect(await daemon.stop() == 0)
      return
    }
    Issue.record("no port is free")
  }
}
