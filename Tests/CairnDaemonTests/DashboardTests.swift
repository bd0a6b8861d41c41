// The dashboard for Grafana shows what the daemon measures, and asks for nothing else.
import CairnControl
import CairnStore
import Foundation
import TestSupport
import Testing

@testable import CairnDaemon

@Suite struct DashboardTests {
  private struct Dashboard: Decodable {
    struct Panel: Decodable {
      struct Place: Decodable {
        let x: Int
        let y: Int
        let w: Int
        let h: Int
      }
      struct Target: Decodable {
        let expr: String
        let refId: String
      }
      let id: Int
      let type: String
      let title: String
      let description: String?
      let gridPos: Place
      let targets: [Target]?
    }
    struct Templating: Decodable {
      struct Variable: Decodable {
        let name: String
        let definition: String?
      }
      let list: [Variable]
    }
    let uid: String
    let panels: [Panel]
    let templating: Templating
  }

  /// Figures that no panel is about, and why.
  private static let leftOut: [String: String] = [:]

  private static func dashboard() throws -> Dashboard {
    let file = Project.file("Config/prometheus/cairn.dashboard.json")
    return try JSONDecoder().decode(
      Dashboard.self, from: Data(contentsOf: URL(fileURLWithPath: file)))
  }

  /// The families that the source of the report names.
  private static func emitted() throws -> Set<String> {
    let source = try String(
      contentsOfFile: Project.file("Sources/CairnDaemon/Metrics/MetricsReport.swift"),
      encoding: .utf8)
    return Set(source.matches(of: #/"((cairn|process)_[a-z_]+)"/#).map { String($0.1) })
  }

  private static func names(in expression: String) -> Set<String> {
    Set(
      expression.matches(of: #/(cairn|process)_[a-z_]+/#).map {
        PrometheusText.family(of: String($0.0))
      })
  }

  private static func expressions(_ dashboard: Dashboard) -> [String] {
    dashboard.panels.flatMap { $0.targets ?? [] }.map(\.expr)
      + dashboard.templating.list.compactMap(\.definition)
  }

  @Test func everyFigureThatIsAskedForIsThere() throws {
    let emitted = try Self.emitted()
    #expect(emitted.count > 20, "the report is read wrongly")
    for expression in Self.expressions(try Self.dashboard()) {
      let names = Self.names(in: expression)
      #expect(!names.isEmpty, "\(expression)")
      #expect(names.isSubset(of: emitted), "\(names.subtracting(emitted)) in \(expression)")
    }
    let rules = try String(
      contentsOfFile: Project.file("Config/prometheus/cairn.rules.yaml"), encoding: .utf8)
    let asked = rules.split(separator: "\n").filter { $0.contains("expr:") }
      .reduce(into: Set<String>()) { $0.formUnion(Self.names(in: String($1))) }
    #expect(asked.isSubset(of: emitted), "\(asked.subtracting(emitted))")
  }

  @Test func everyFigureOfTheDaemonIsShownOrLeftOutOnPurpose() throws {
    let panels = try Self.dashboard().panels.flatMap { $0.targets ?? [] }
    let shown = panels.reduce(into: Set<String>()) { $0.formUnion(Self.names(in: $1.expr)) }
    let emitted = try Self.emitted()
    for name in emitted {
      #expect(
        shown.contains(name) != (Self.leftOut[name] != nil),
        "\(name): show it in Config/prometheus/cairn.dashboard.json, or say here why not")
    }
    #expect(emitted.isSuperset(of: Self.leftOut.keys))
  }

  @Test func ratesAreOfCountersAndLabelsOfTheirFamilies() throws {
    var replica = ReplicaStatus(
      name: "a", type: "sqlite", location: "/x", direction: .both, state: .behind,
      lagTransactions: 1, lagSeconds: 1, lastPass: .now)
    replica.waits = [StatusWait(kind: .pass, reason: "r")]
    let status = DaemonStatus(
      version: "1", pid: 1, startedAt: .now, state: .degraded,
      problems: [StatusProblem(code: "disk-full", message: "")],
      local: StoreStatus(
        name: "local", type: "sqlite", location: "/y", state: .open, lastTransaction: 1,
        records: 1, bytes: 1), replicas: [replica])
    var figures = MetricsReport(
      status: status, sync: nil, process: .current,
      room: StoreRoom(logBytes: 1, freeBytes: 1))
    figures.commits = CommitTimes().sums
    figures.service = .init(longestGap: 1, gapLimit: 30)
    figures.group.checks["local"] = .init(date: Date())
    figures.group.errors["a"] = ["disk-full": 1]
    let report = figures.text
    // Prometheus adds the first two; counters come from a running engine.
    var known: [String: Set<String>] = [:]
    for line in report.split(separator: "\n") where !line.hasPrefix("#") {
      let name = String(line.prefix { $0 != "{" && $0 != " " })
      known[name, default: ["instance", "job"]].formUnion(
        line.matches(of: #/([a-z]+)="/#).map { String($0.1) })
    }
    for expression in Self.expressions(try Self.dashboard()) {
      for match in expression.matches(of: #/rate\(([a-z_]+)/#) {
        let isPart = PrometheusText.family(of: String(match.1)) != match.1
        #expect(match.1.hasSuffix("_total") || isPart, "\(expression)")
      }
      for match in expression.matches(of: #/((?:cairn|process)_[a-z_]+)\{([^}]*)\}/#) {
        let name = String(match.1)
        let labels = Set(match.2.matches(of: #/([a-z]+)=/#).map { String($0.1) })
        let counter: Set = ["instance", "job", "replica", "direction"]
        let allowed = known[name] ?? (name.hasSuffix("_total") ? counter : [])
        #expect(labels.isSubset(of: allowed), "\(labels) of \(name)")
      }
      #expect(expression.count { $0 == "(" } == expression.count { $0 == ")" }, "\(expression)")
    }
  }

  @Test func panelsHaveNamesAndDoNotCoverEachOther() throws {
    let panels = try Self.dashboard().panels
    #expect(Set(panels.map(\.id)).count == panels.count)
    var taken: [String: String] = [:]
    for panel in panels {
      #expect(!panel.title.isEmpty)
      if panel.type != "row" {
        #expect(panel.description?.isEmpty == false, "\(panel.title)")
        #expect(panel.targets?.isEmpty == false, "\(panel.title)")
      }
      let place = panel.gridPos
      #expect(place.x + place.w <= 24, "\(panel.title)")
      for x in place.x..<(place.x + place.w) {
        for y in place.y..<(place.y + place.h) {
          let other = taken.updateValue(panel.title, forKey: "\(x) \(y)")
          #expect(other == nil, "\(panel.title) covers \(other ?? "")")
        }
      }
    }
  }

  @Test(.enabled(if: ForeignTools.promtool != nil, "needs promtool: make test-tools"))
  func prometheusUnderstandsEveryExpression() async throws {
    let folder = try TemporaryFolder()
    let expressions = Self.expressions(try Self.dashboard()).filter {
      !$0.hasPrefix("label_values")
    }
    .map {
      $0.replacingOccurrences(of: "$__rate_interval", with: "5m")
        .replacingOccurrences(of: #"\$[a-z]+"#, with: ".*", options: .regularExpression)
    }
    let rules = expressions.enumerated().map { index, expression in
      "      - {record: \"cairn:panel\(index)\", expr: '\(expression)'}\n"
    }
    let file = folder.file("rules.yaml")
    try Data(("groups:\n  - name: panels\n    rules:\n" + rules.joined()).utf8)
      .write(to: URL(fileURLWithPath: file))
    let outcome = try await run(try #require(ForeignTools.promtool), ["check", "rules", file])
    #expect(outcome.code == 0, "\(outcome.output)\(outcome.errors)")
  }

}
