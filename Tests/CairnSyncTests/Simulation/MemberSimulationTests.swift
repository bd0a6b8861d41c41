import Foundation
import Testing

@testable import CairnSync

// The whole engine on simulated machines where some links lead to a log or to another machine's daemon, see README.md.
// `CAIRN_SIMULATION_MEMBER=log make simulate SEEDS=1000` runs as many as wanted.
struct MemberSimulationTests {
  private static let isWanted =
    EngineSimulationTests.only == nil && EngineSimulationTests.count == nil

  /// What must have happened, and how often at least.
  private static let content: [SimulatedMember.Kind: [String: Int]] = [
    .log: ["write": 50, "wait kept": 1, "log entries": 50, "log gone": 1, "log restored": 1],
    .peer: ["write": 50, "wait kept": 1, "line cut": 1, "line answerLost": 1],
  ]

  @Test(.enabled(if: isWanted), .timeLimit(.minutes(60)), arguments: SimulatedMember.Kind.allCases)
  func storesEndEqualWithNothingLostOverLogsAndDaemons(_ kind: SimulatedMember.Kind) async {
    let seeds: UInt64 = 6
    let first = EngineSimulationTests.first + (kind == .log ? 600_000 : 700_000)
    print("seeds \(first)..<\(first + seeds) over a \(kind)")
    await Simulation.$member.withValue(kind) {
      var tally = EngineSimulationTests.Tally(seeds: seeds)
      await tally.run(Array(first..<first + seeds))
      print(
        tally.total.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
          .joined(separator: ", "))
      if let seed = tally.failed.min() {
        let outcome = await Simulation.run(seed: seed)
        let report = await Simulation.report(
          seed: seed, outcome, shrinking: EngineSimulationTests.patience)
        Issue.record("\(tally.failed.count) failed: \(tally.failed.sorted())\n\(report)")
      }
      for (what, least) in Self.content[kind] ?? [:] where tally.total[what, default: 0] < least {
        Issue.record("too little happened: \(what)")
      }
    }
  }
}
