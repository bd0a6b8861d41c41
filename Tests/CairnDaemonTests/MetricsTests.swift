// Figures in Prometheus' text format, and the few sentences of HTTP around them.
import CairnControl
import Foundation
import Testing

@testable import CairnDaemon

/// Reads the text format, version 0.0.4, and says what is wrong with it.
struct PrometheusText {
  /// Values by name and labels as they are written.
  private(set) var values: [String: Double] = [:]
  private(set) var problems: [String] = []
  private var types: [String: String] = [:]
  private var ended: Set<String> = []
  private var family = ""

  init(_ text: String) {
    if !text.isEmpty, !text.hasSuffix("\n") { problems.append("the last line is not ended") }
    for line in text.split(separator: "\n") { read(String(line)) }
  }

  private mutating func read(_ line: String) {
    if line.hasPrefix("# HELP ") {
      let name = String(line.dropFirst(7).prefix { $0 != " " })
      if !ended.insert(name).inserted { problems.append("\(name) comes twice") }
      if line.dropFirst(8 + name.count).isEmpty { problems.append("\(name) has no help") }
      family = name
    } else if line.hasPrefix("# TYPE ") {
      let words = line.split(separator: " ")
      if words.count != 4 || words[2] != family { problems.append(line) }
      types[family] = words.last.map(String.init)
    } else {
      sample(line)
    }
  }

  private mutating func sample(_ line: String) {
    let pattern = #/^([a-zA-Z_:][a-zA-Z0-9_:]*)(\{.*\})? (-?[0-9.e+-]+)$/#
    guard let match = line.wholeMatch(of: pattern), let value = Double(match.3) else {
      problems.append("no sample: \(line)")
      return
    }
    let name = String(match.1)
    if name != family || types[name] == nil { problems.append("\(name) stands outside its family") }
    if (types[name] == "counter") != name.hasSuffix("_total") { problems.append(name) }
    if name.hasSuffix("_milliseconds") || name.hasSuffix("_ms") { problems.append("\(name): unit") }
    if let labels = match.2,
      labels.wholeMatch(
        of: #/\{[a-z_]+="([^"\\]|\\[\\"n])*"(,[a-z_]+="([^"\\]|\\[\\"n])*")*\}/#) == nil
    {
      problems.append("labels: \(line)")
    }
    if values.updateValue(value, forKey: name + (match.2 ?? "")) != nil {
      problems.append("twice: \(line)")
    }
  }
}

@Suite struct MetricsTests {
  @Test func namesCannotBreakALine() throws {
    var metrics = MetricsText()
    metrics.family(
      "cairn_x", .gauge, "back\\slash\nand line",
      [.init(1, [("replica", "a\"b\\c\nd} 9\u{202E}\u{1B}[31m")]), .init(0.25)])
    metrics.family("cairn_none", .gauge, "None.", [])
    #expect(
      metrics.text == """
        # HELP cairn_x back\\\\slash\\nand line
        # TYPE cairn_x gauge
        cairn_x{replica="a\\"b\\\\c\\nd} 9\u{202E}\u{1B}[31m"} 1
        cairn_x 0.25

        """)
    #expect(PrometheusText(metrics.text).problems.isEmpty)
  }

  @Test func theCheckOfTheFormatNoticesWhatIsWrong() {
    for text in [
      "cairn_x 1\n", "# HELP a b\n# TYPE a counter\na 1\n", "# HELP a b\n# TYPE a gauge\na one\n",
      "# HELP a b\n# TYPE a gauge\na 1\na 2\n", "# HELP a b\n# TYPE a gauge\na{b=\"c\"d\"} 1\n",
      "# HELP a b\n# TYPE a gauge\na 1",
    ] {
      #expect(!PrometheusText(text).problems.isEmpty, "\(text)")
    }
  }

  @Test func problemsAndStatesAreFigures() throws {
    let twice = [
      StatusProblem(code: "disk-full", message: "a"),
      StatusProblem(code: "disk-full", message: "b"),
    ]
    var replica = ReplicaStatus(
      name: "a\"b", type: "sqlite", location: "/x", direction: .both, state: .behind,
      lagTransactions: 3, lagSeconds: 1.5)
    replica.waits = [
      StatusWait(kind: .quarantine, count: 2, reason: "r"), StatusWait(kind: .pass, reason: "r"),
    ]
    let status = DaemonStatus(
      version: "1", pid: 1, startedAt: WireDate(Date(timeIntervalSince1970: 1_700_000_000)),
      state: .degraded, problems: twice,
      local: StoreStatus(
        name: "local", type: "sqlite", location: "/y", state: .unavailable, bytes: 4096),
      replicas: [replica])
    let report = MetricsReport(status: status, sync: nil, process: ProcessFigures()).text
    let read = PrometheusText(report)
    #expect(read.problems.isEmpty, "\(read.problems)")
    #expect(read.values["cairn_problems{code=\"disk-full\"}"] == 2)
    #expect(read.values["cairn_state{state=\"degraded\"}"] == 1)
    #expect(read.values["cairn_state{state=\"serving\"}"] == 0)
    #expect(read.values["cairn_store_open{store=\"local\"}"] == 0)
    #expect(read.values["cairn_replica_lag_seconds{replica=\"a\\\"b\"}"] == 1.5)
    #expect(
      read.values["cairn_replica_waiting{replica=\"a\\\"b\",kind=\"quarantine\"}"] == 2)
    #expect(read.values["cairn_start_time_seconds"] == 1_700_000_000)
  }

  @Test func theKernelsFiguresAreReadBehindAnyName() {
    var figures = ProcessFigures()
    figures.read(
      stat: "7 (a) b (c) S 1 7 7 0 -1 4 5 6 7 8 150 50 1 2 20 0 9 0 99 1000 25 18 0 0",
      pageSize: 4096, ticks: 100)
    #expect(figures.processorSeconds == 2)
    #expect(figures.threads == 9)
    #expect(figures.residentBytes == 25 * 4096)
    var nothing = ProcessFigures()
    nothing.read(stat: "7 (a) S 1", pageSize: 4096, ticks: 100)
    #expect(nothing == ProcessFigures())
    let own = ProcessFigures.current
    #expect((own.threads ?? 0) > 0 && (own.openFiles ?? 0) > 2 && (own.residentBytes ?? 0) > 0)
  }

  @Test(arguments: [
    ("GET /metrics?x=1 HTTP/1.1", "/metrics"), ("HEAD /ready HTTP/1.0", "/ready"),
    ("POST /metrics HTTP/1.1", "405"), ("GET /metrics", "400"), ("", "400"),
    ("GET  /metrics HTTP/1.1", "400"), ("\u{0}\u{1}", "400"),
  ])
  func aRequestIsItsFirstLine(_ line: String, _ wanted: String) {
    switch MetricsRequest.read(Array((line + "\r\nHost: x\r\n\r\n").utf8)) {
    case .success(let request):
      #expect(request.path == wanted && request.wantsBody == line.hasPrefix("GET"))
    case .failure(let answer): #expect(answer.status.hasPrefix(wanted), "\(answer.status)")
    }
  }

  @Test func aRequestEndsWithAnEmptyLine() {
    for text in ["GET / HTTP/1.1\r\n\r\n", "GET / HTTP/1.1\nHost: x\n\n"] {
      #expect(MetricsRequest.isComplete(Array(text.utf8)))
      #expect(!MetricsRequest.isComplete(Array(text.utf8.dropLast(2))))
    }
  }

  @Test(arguments: [
    ("127.0.0.1:9464", "127.0.0.1", 9464), ("[::1]:1", "::1", 1),
    ("0.0.0.0:65535", "0.0.0.0", 65535),
  ])
  func addressesAreNumbers(_ text: String, _ host: String, _ port: Int) throws {
    let address = try #require(MetricsSection.Address(text))
    #expect(address.host == host && address.port == port && address.text == text)
  }

  @Test(arguments: [
    "9464", ":9464", "localhost:9464", "127.0.0.1", "127.0.0.1:0", "127.0.0.1:65536", "::1:9464",
    "[::1]", "[x]:1", "1.2.3:4", "1.2.3.256:4", "[127.0.0.1]:4", "127.0.0.1:+1 ", "",
  ])
  func otherAddressesAreRefused(_ text: String) {
    #expect(MetricsSection.Address(text) == nil)
  }

  // MARK: Alerts

  private static let rules = Project.file("Config/prometheus/cairn.rules.yaml")

  @Test func alertsAskForFiguresThatThereAre() throws {
    let rules = try String(contentsOfFile: Self.rules, encoding: .utf8)
    var replica = ReplicaStatus(
      name: "a", type: "sqlite", location: "/x", direction: .both, state: .behind)
    replica.lagSeconds = 1
    replica.waits = [StatusWait(kind: .pass, reason: "r")]
    let status = DaemonStatus(
      version: "1", pid: 1, startedAt: .now, state: .degraded,
      problems: [StatusProblem(code: "disk-full", message: "")],
      local: StoreStatus(name: "local", type: "sqlite", location: "/y", state: .open),
      replicas: [replica])
    let report = MetricsReport(status: status, sync: nil, process: .current).text
    // Counters come from a running engine.
    let source = try String(
      contentsOfFile: Project.file("Sources/CairnDaemon/Metrics/MetricsReport.swift"),
      encoding: .utf8)
    var names: Set<String> = []
    for line in rules.split(separator: "\n") where line.contains("expr:") {
      for match in line.matches(of: #/(cairn|process)_[a-z_]+/#) { names.insert(String(match.0)) }
    }
    #expect(names.count > 5)
    for name in names {
      #expect(
        report.contains("# TYPE \(name) ") || source.contains("\"\(name)\""), "\(name)")
    }
  }

  @Test(.enabled(if: ForeignTools.promtool != nil, "needs promtool: make test-tools"))
  func promtoolAcceptsAlertsAndFigures() async throws {
    let promtool = try #require(ForeignTools.promtool)
    let tests = Project.file("Config/prometheus/cairn.rules.test.yaml")
    for arguments in [["check", "rules", Self.rules], ["test", "rules", tests]] {
      let outcome = try await run(promtool, arguments)
      #expect(outcome.code == 0, "\(outcome.output)\(outcome.errors)")
    }
    let status = DaemonStatus(version: "1", pid: 1, startedAt: .now, state: .serving)
    let text = MetricsReport(status: status, sync: nil, process: .current).text
    let checked = try await run(promtool, ["check", "metrics"], input: text)
    #expect(checked.code == 0, "\(checked.output)\(checked.errors)")
  }
}
