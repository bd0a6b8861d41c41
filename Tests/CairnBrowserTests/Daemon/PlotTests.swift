// Samples, and the plots that are made of them.
import CairnControl
import Foundation
import Testing

@testable import CairnBrowser

@Suite struct PlotTests {
  private let start = Date(timeIntervalSince1970: 1_800_000_000)

  private func status(_ lag: Int?, startedAt: Double = 0) -> DaemonStatus {
    DaemonStatus(
      version: "1", pid: 1, startedAt: WireDate(Date(timeIntervalSince1970: startedAt)),
      state: .serving,
      replicas: [
        ReplicaStatus(
          name: "nas", type: "sqlite", location: "", direction: .both, state: .behind,
          lagTransactions: lag)
      ])
  }

  private func sample(
    _ second: Double, lag: Int? = 0, moved: Int?, startedAt: Double = 0
  ) -> DaemonSample {
    DaemonSample(
      start.addingTimeInterval(second), status(lag, startedAt: startedAt),
      moved: moved.map { ["nas": $0] } ?? [:])
  }

  @Test func theRingKeepsTheNewestAndNoMore() {
    var ring = SampleRing()
    for second in 0..<(SampleRing.capacity + 5) {
      ring.append(sample(Double(second), moved: second))
    }
    #expect(ring.all.count == SampleRing.capacity)
    #expect(ring.all.first?.moment == start.addingTimeInterval(5))
    #expect(ring.all.map(\.moment) == ring.all.map(\.moment).sorted())
  }

  @Test func aRateIsOfTwoAnswersOfOneRunOfTheDaemon() {
    let samples = [
      sample(0, moved: 10), sample(5, moved: 60),
      DaemonSample(without: start.addingTimeInterval(10)),
      sample(15, moved: 80), sample(20, moved: 3, startedAt: 1), sample(25, moved: 8, startedAt: 1),
      sample(30, moved: nil, startedAt: 1), sample(35, moved: 9, startedAt: 1),
      sample(35, moved: 12, startedAt: 1), sample(40, moved: 2, startedAt: 1),
    ]
    #expect(
      samples.rate(of: "nas").map(\.value) == [nil, 10, nil, nil, nil, 1, nil, nil, nil, nil])
    #expect(samples.rate(of: "other").allSatisfy { $0.value == nil })
  }

  @Test func aLagThatNobodyKnewIsNoZero() {
    let samples = [
      sample(0, lag: 4, moved: 0), sample(5, lag: nil, moved: 0),
      DaemonSample(without: start.addingTimeInterval(10)),
    ]
    #expect(samples.lag(of: "nas").map(\.value) == [4, nil, nil])
  }

  @Test func whatReplicasMovedIsReadFromTheMetrics() {
    let text = """
      # HELP cairn_replica_records_total Records that were brought to the other side.
      # TYPE cairn_replica_records_total counter
      cairn_replica_records_total{replica="nas",direction="pull"} 7
      cairn_replica_records_total{replica="nas",direction="push"} 5
      cairn_replica_records_total{replica="a \\"b\\\\\\n}",direction="pull"} 2
      cairn_replica_records_total{replica="x",direction="pull"} nonsense
      cairn_replica_records_total{replica="y" 3
      cairn_replica_records_total{direction="pull"} 4
      cairn_replica_links_total{replica="nas",direction="pull"} 100
      cairn_replica_records_total{replica="z
      """
    #expect(MovedRecords.parse(text) == ["nas": 12, "a \"b\\\n}": 2])
    #expect(MovedRecords.parse("").isEmpty)
  }

  private func points(_ values: [Double?]) -> [PlotPoint] {
    values.enumerated().map {
      PlotPoint(moment: start.addingTimeInterval(Double($0.offset) * 5), value: $0.element)
    }
  }

  @Test func aLineEndsWhereNothingIsKnown() throws {
    let plot = Plot(
      "Lag", identifier: "lag", unit: "transactions",
      lines: [.init(name: "nas", points: points([1, 2, nil, 3, nil, 4, 5]))])
    let path = try #require(plot.svg.firstMatch(of: /class="line line0" d="([^"]*)"/)?.1)
    // Three pieces, of which the middle one is a dot.
    #expect(path.count { $0 == "M" } == 3 && path.count { $0 == "L" } == 2)
    #expect(path.count { $0 == "h" } == 1)
    #expect(plot.summary.contains("last 5") && plot.summary.contains("at most 5"))
  }

  @Test func thePictureHasTheSameInWordsAndAsATable() {
    let plot = Plot(
      "Lag", identifier: "lag", unit: "transactions",
      lines: [
        .init(name: "a", points: points([0, 40, nil])),
        .init(name: "b<", points: points([1, 2, 3])),
      ])
    #expect(plot.svg.contains("role=\"img\"") && plot.svg.contains("aria-labelledby=\"lag-title\""))
    #expect(plot.svg.contains("a: last unknown, at most 40") && plot.svg.contains("b&lt;: last 3"))
    #expect(plot.columns == ["a", "b<"])
    #expect(plot.rows.first?.cells == ["0", "1"] && plot.rows.last?.cells == ["unknown", "3"])
    #expect(plot.legend.map(\.label) == ["a", "b<"])
    // Nothing that the policy of the pages forbids.
    #expect(!plot.svg.contains("style=") && !plot.svg.contains("<style"))
  }

  @Test(arguments: [[], [nil, nil], [3]] as [[Double?]])
  func nothingIsDrawnOfNothing(values: [Double?]) {
    let plot = Plot(
      "Lag", identifier: "lag", unit: "", lines: [.init(name: "a", points: points(values))])
    #expect(plot.isEmpty && plot.svg.isEmpty)
  }

  @Test func linesBeyondThoseThatCanBeToldApartAreTheOnesWithLeast() {
    let names = (1...9).map { "r\($0)" }
    let replicas = names.map {
      ReplicaStatus(name: $0, type: "sqlite", location: "", direction: .both, state: .behind)
    }
    var reading = DaemonReading()
    let status = DaemonStatus(
      version: "1", pid: 1, startedAt: .now, state: .serving, replicas: replicas)
    reading.answer = (status, start)
    reading.samples = [0, 5].map { second in
      var behind = status
      for index in behind.replicas.indices { behind.replicas[index].lagTransactions = index }
      return DaemonSample(start.addingTimeInterval(second), behind, moved: [:])
    }
    let page = DaemonOverview(
      reading, refreshing: RefreshChoice(.init(nil), path: "/", seconds: 10))
    #expect(page.links.count == 9)
    #expect(page.plots.first?.columns == ["r9", "r8", "r7", "r6", "r5", "r4"])
    #expect(page.plots.first?.caption == "Lag of the 6 links with most")
  }
}
