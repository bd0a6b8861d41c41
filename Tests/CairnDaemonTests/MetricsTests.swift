// Figures in Prometheus' text format, and the few sentences of HTTP around them.
import CairnControl
import CairnStore
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

  /// The family of a figure that may be a part of a histogram.
  static func family(of name: String) -> String {
    let part = ["_bucket", "_sum", "_count"].first(where: name.hasSuffix)
    return String(name.dropLast(part?.count ?? 0))
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
    let isPart =
      types[family] == "histogram"
      && ["_bucket", "_sum", "_count"].contains { name == family + $0 }
    if name != family && !isPart || types[family] == nil {
      problems.append("\(name) stands outside its family")
    }
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

  // MARK: Forms

  @Test(arguments: [
    ("", MetricsText.Format.text), ("Accept: */*", .text), ("Accept: text/plain", .text),
    ("ACCEPT: application/openmetrics-text;version=1.0.0,text/plain;q=0.5", .openMetrics),
    ("accept: application/openmetrics-text; version=1.0.0; q=0.3, text/plain; q=0.9", .text),
    ("Accept: application/openmetrics-text, */*;q=0.1", .openMetrics),
    ("Accept: application/json", .text), ("Accept: ;;q=x,,=", .text),
    // What Prometheus 2.42 sends.
    (
      "Accept: application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,"
        + "text/plain;version=0.0.4;q=0.5,*/*;q=0.1", .openMetrics
    ),
  ])
  func theFormIsTheOneThatTheClientLikesBest(_ header: String, _ format: MetricsText.Format) throws
  {
    let text = "GET /metrics HTTP/1.1\r\nHost: x\r\n\(header)\r\n\r\n"
    #expect(try MetricsRequest.read(Array(text.utf8)).get().format == format)
  }

  @Test func theNewFormNamesCountersAndItsEnd() {
    func write(_ format: MetricsText.Format) -> String {
      var metrics = MetricsText(format)
      metrics.family("cairn_x_total", .counter, "A \"word\".", [.init(2, [("a", "b")])])
      return metrics.text
    }
    #expect(
      write(.text)
        == "# HELP cairn_x_total A \"word\".\n# TYPE cairn_x_total counter\ncairn_x_total{a=\"b\"} 2\n"
    )
    #expect(
      write(.openMetrics)
        == "# HELP cairn_x A \\\"word\\\".\n# TYPE cairn_x counter\ncairn_x_total{a=\"b\"} 2\n# EOF\n"
    )
  }

  @Test func aHistogramCountsUpwards() {
    let times = CommitTimes()
    for time: Duration in [
      .zero, .milliseconds(1), .microseconds(1001), .milliseconds(400), .seconds(60),
    ] {
      times.add(time)
    }
    var report = MetricsReport(status: Self.bare, sync: nil, process: ProcessFigures())
    report.commits = times.sums
    let read = PrometheusText(report.text)
    #expect(read.problems.isEmpty, "\(read.problems)")
    func count(_ bound: String) -> Double? {
      read.values["cairn_store_commit_seconds_bucket{store=\"local\",le=\"\(bound)\"}"]
    }
    #expect(count("0.001") == 2 && count("0.0025") == 3 && count("0.25") == 3)
    #expect(count("0.5") == 4 && count("5.0") == 4 && count("+Inf") == 5)
    #expect(read.values["cairn_store_commit_seconds_count{store=\"local\"}"] == 5)
    #expect(read.values["cairn_store_commit_seconds_sum{store=\"local\"}"] == 60.402001)
  }

  private static let bare = DaemonStatus(
    version: "1", pid: 1, startedAt: .now, state: .serving,
    local: StoreStatus(name: "local", type: "sqlite", location: "/y", state: .open))

  // MARK: What is counted

  @Test func theLongestGapIsThatOfTheLastMinutesAndOfThisMoment() throws {
    let figures = ServiceFigures()
    func second(_ number: UInt64) -> UInt64 { number * 1_000_000_000 }
    #expect(figures.values(now: second(5)).longestGap == nil)
    figures.isWatched(within: .milliseconds(30_500), now: second(100))
    #expect(figures.values(now: second(100)).gapLimit == 30.5)
    figures.fed(now: second(112))
    figures.fed(now: second(115))
    #expect(figures.values(now: second(116)).longestGap == 12)
    #expect(figures.values(now: second(140)).longestGap == 25)
    for time in stride(from: second(120), through: second(900), by: 5_000_000_000) {
      figures.fed(now: time)
    }
    #expect(figures.values(now: second(900)).longestGap == 5)
  }

  @Test func whatHappensToTheServiceAndItsStoresIsCounted() throws {
    let figures = ServiceFigures()
    let table = ConnectionTable(
      limits: .init(total: 2, perUser: 1, ownerReserve: 0), figures: figures)
    let first = try #require(table.admit(user: 1, isOwner: false) {})
    #expect(table.admit(user: 1, isOwner: false) {} == nil)
    _ = try #require(table.admit(user: 2, isOwner: false) {})
    #expect(table.admit(user: 0, isOwner: true) {} == nil)
    table.remove(first)
    figures.refused(.unread)
    let group = GroupFigures()
    group.checked("local", found: 2, date: Date(timeIntervalSince1970: 5))
    group.checked("local", found: 1, date: Date(timeIntervalSince1970: 9.5))
    group.failed("a", .diskFull)
    group.failed("a", .diskFull)
    group.failed("b", .diskFull)
    group.forget("b")
    var report = MetricsReport(status: Self.bare, sync: nil, process: ProcessFigures())
    report.service = figures.values()
    report.group = group.values
    let read = PrometheusText(report.text)
    #expect(read.problems.isEmpty, "\(read.problems)")
    #expect(read.values["cairn_control_connections"] == 1)
    #expect(read.values["cairn_control_refused_total{reason=\"connections\"}"] == 2)
    #expect(read.values["cairn_control_refused_total{reason=\"unread\"}"] == 1)
    #expect(read.values["cairn_control_refused_total{reason=\"permission\"}"] == 0)
    #expect(read.values["cairn_store_last_check_timestamp_seconds{store=\"local\"}"] == 9.5)
    #expect(read.values["cairn_store_check_findings_total{store=\"local\"}"] == 3)
    #expect(
      read.values["cairn_replica_errors_total{replica=\"a\",code=\"disk-full\"}"] == 2)
    #expect(!report.text.contains("replica=\"b\""))
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
    // Counters come from a running engine, and some figures when they are known first.
    let source = try String(
      contentsOfFile: Project.file("Sources/CairnDaemon/Metrics/MetricsReport.swift"),
      encoding: .utf8)
    var names: Set<String> = []
    for line in rules.split(separator: "\n") where line.contains("expr:") {
      for match in line.matches(of: #/(cairn|process)_[a-z_]+/#) {
        names.insert(PrometheusText.family(of: String(match.0)))
      }
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
    let tests = ["cairn.rules.test.yaml", "cairn.rules.days.test.yaml"].map {
      Project.file("Config/prometheus/\($0)")
    }
    for arguments in [["check", "rules", Self.rules], ["test", "rules"] + tests] {
      let outcome = try await run(promtool, arguments)
      #expect(outcome.code == 0, "\(outcome.output)\(outcome.errors)")
    }
    let status = DaemonStatus(version: "1", pid: 1, startedAt: .now, state: .serving)
    let text = MetricsReport(status: status, sync: nil, process: .current).text
    let checked = try await run(promtool, ["check", "metrics"], input: text)
    #expect(checked.code == 0, "\(checked.output)\(checked.errors)")
  }
}
