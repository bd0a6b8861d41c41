import Foundation
import Testing

@testable import CairnSync

// The whole engine on simulated machines, see README.md. CAIRN_SIMULATION_SEEDS says how many seeds to
// run, CAIRN_SIMULATION_SEED which one alone.
struct EngineSimulationTests {
  private static let given = ProcessInfo.processInfo.environment
  private static let only = given["CAIRN_SIMULATION_SEED"].flatMap { UInt64($0) }
  private static let count = given["CAIRN_SIMULATION_SEEDS"].flatMap { UInt64($0) }
  private static let first = (given["CAIRN_TEST_SEED"].flatMap { UInt64($0) } ?? 7) &* 1_000_000
  private static let patience = given["CAIRN_SHRINK_SECONDS"].flatMap(Double.init) ?? 60

  /// What must have happened over a run of the usual length, and how often at least.
  private static let content: [String: Int] = [
    "write": 1000, "insert": 300, "delete": 100, "batch insert": 20, "batch update": 20,
    "batch delete": 5, "link": 80, "label": 50, "pick": 60, "arrange": 60, "parent": 100,
    "tag": 150,
    "note": 60, "fresh": 5, "extra": 5,
    "leaves at once": 20, "leaf batch insert": 20, "leaf update": 60, "leaf batch update": 5,
    "leaf delete": 20, "leaf batch delete": 5, "stem": 60,
    "purged by sync": 50, "expired readers": 10, "link changed": 20,
    "captured by the run": 300, "written by the run": 300,
    "conflicts": 60, "wait kept": 20, "verify equal": 20, "verify leaves out": 3,
    "lost notice": 300, "repeated notice": 300, "late notice": 500,
    "store full": 3, "store failing": 3, "store broken": 3, "store locked": 3, "store unsynced": 3,
    "store readOnly": 3, "links of one direction": 4, "write in the middle of a step": 20,
    "delete refused by a rule": 3,
    "store gone": 3, "exchanged for a copy": 5, "local restored": 3, "replica restored": 3,
    "replica lost": 3, "purge": 5, "clock ahead": 5, "clock back": 3,
    "upgrade": 5, "pause": 5, "stop": 5, "save refused": 5,
    "accepted": 5, "approved": 3, "revert": 5, "restore": 10, "changed past history": 10,
    "repaired, local preferred": 20, "repaired, replica preferred": 20,
  ]
  /// At how many of the failpoints a machine must have died.
  private static let placesToDie = 7

  @Test(.enabled(if: only != nil)) func oneSeed() async throws {
    let seed = try #require(Self.only)
    let outcome = await Simulation.run(seed: seed, keepsTrace: true)
    if outcome.faults.isEmpty { return print(outcome.trace.joined(separator: "\n")) }
    Issue.record(
      "\(await Simulation.report(seed: seed, outcome, shrinking: Self.patience))")
  }

  @Test(.enabled(if: only == nil), .timeLimit(.minutes(1000)))
  func storesEndEqualWithNothingLostWhateverHappensToMachinesAndFiles() async throws {
    let seeds = Self.count ?? 50
    print("seeds \(Self.first)..<\(Self.first + seeds)")
    var total: [String: Int] = [:]
    var failed: [UInt64] = []
    await withTaskGroup(of: (UInt64, SimulationRun.Outcome).self) { group in
      var next = Self.first
      func add() {
        guard next < Self.first + seeds else { return }
        let seed = next
        next += 1
        group.addTask { (seed, await Simulation.run(seed: seed)) }
      }
      for _ in 0..<2 { add() }
      for await (seed, outcome) in group {
        total.merge(outcome.counts, uniquingKeysWith: +)
        if !outcome.faults.isEmpty {
          failed.append(seed)
          print("seed \(seed): \(outcome.faults.prefix(3))")
        }
        add()
      }
    }
    print(total.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", "))
    if let seed = failed.min() {
      let outcome = await Simulation.run(seed: seed)
      let report = await Simulation.report(seed: seed, outcome, shrinking: Self.patience)
      Issue.record("\(failed.count) of \(seeds) failed: \(failed.sorted())\n\(report)")
    }
    guard seeds >= 50 else { return }
    // Clocks that jump beyond the allowed skew leave more to accept.
    let content = Self.content.merging(Simulation.isWild ? ["accepted": 10] : [:]) { $1 }
    for (what, times) in content.sorted(by: { $0.key < $1.key }) {
      #expect(total[what, default: 0] >= times, "too little happened: \(what)")
    }
    let places = total.keys.filter { $0.hasPrefix("death ") }
    #expect(places.count >= Self.placesToDie, "machines died only at \(places.sorted())")
  }

  @Test func aSeedReplaysExactly() async throws {
    let first = await Simulation.run(seed: 4, keepsTrace: true)
    let second = await Simulation.run(seed: 4, keepsTrace: true)
    #expect(first.trace.count > 100 && first.trace == second.trace)
  }
}
