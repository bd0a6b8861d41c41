import Foundation
import Testing

@testable import CairnSync

// The whole engine on simulated machines, see README.md. CAIRN_SIMULATION_SEEDS says how many seeds to
// run, CAIRN_SIMULATION_SEED which one alone.
struct EngineSimulationTests {
  private static let given = ProcessInfo.processInfo.environment
  static let only = given["CAIRN_SIMULATION_SEED"].flatMap { UInt64($0) }
  static let count = given["CAIRN_SIMULATION_SEEDS"].flatMap { UInt64($0) }
  static let first = (given["CAIRN_TEST_SEED"].flatMap { UInt64($0) } ?? 7) &* 1_000_000
  static let patience = given["CAIRN_SHRINK_SECONDS"].flatMap(Double.init) ?? 60

  /// How many seeds the test takes where nothing says how many: a sample, as developers run it all the time.
  private static let usualCount: UInt64 = 12

  /// What must have happened over 50 seeds and more, and how often at least; over fewer, their share of that.
  private static let content: [String: Int] = [
    "write": 1000, "insert": 300, "delete": 100, "batch insert": 20, "batch update": 20,
    "batch delete": 5, "link": 80, "label": 50, "pick": 60, "arrange": 60, "parent": 100,
    "tag": 100, "mark": 40,
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
    "replica lost": 3, "dropped and back": 10, "purge": 5, "clock ahead": 5, "clock back": 3,
    "upgrade": 5, "policy changed": 20, "pause": 5, "stop": 5, "save refused": 5,
    "accepted": 5, "approved": 3, "revert": 5, "restore": 10, "changed past history": 10,
    "too long": 20, "discarded": 10,
    "repaired, local preferred": 20, "repaired, replica preferred": 20,
  ]
  /// The steps without which some of it cannot happen.
  private static let causes: [String: Set<SimulationStep.Kind>] = [
    "accepted": [.accept, .clock], "approved": [.approve], "revert": [.revert],
    "restore": [.takeBack], "changed past history": [.repair],
    "repaired, local preferred": [.repair], "repaired, replica preferred": [.repair],
    "too long": [.exceed], "discarded": [.exceed, .discard], "upgrade": [.upgrade],
    "policy changed": [.configure],
    "fresh": [.upgrade], "extra": [.upgrade], "clock ahead": [.clock], "clock back": [.clock],
    "exchanged for a copy": [.exchange], "local restored": [.restore],
    "replica restored": [.restore], "replica lost": [.lose], "store gone": [.takeAway],
    "dropped and back": [.narrow],
    "purge": [.purge], "pause": [.pause], "stop": [.stop], "link changed": [.redirect],
    "purged by sync": [.purgeBySync], "expired readers": [.purgeBySync],
    "store full": [.trouble], "store failing": [.trouble], "store broken": [.trouble],
    "store locked": [.trouble], "store unsynced": [.trouble], "store readOnly": [.trouble],
    "write in the middle of a step": [.interrupt], "deaths at other failpoints": [.die],
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
    let seeds = Self.count ?? Self.usualCount
    print("seeds \(Self.first)..<\(Self.first + seeds)")
    var tally = Tally(seeds: seeds)
    await tally.run(Array(Self.first..<Self.first + seeds))
    let isWhole = seeds >= Self.usualCount && Simulation.member == nil
    if isWhole { await tally.runMore(from: Self.first + seeds, upTo: 6 * seeds) }
    print(
      tally.total.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
        .joined(separator: ", "))
    if let seed = tally.failed.min() {
      let outcome = await Simulation.run(seed: seed)
      let report = await Simulation.report(seed: seed, outcome, shrinking: Self.patience)
      Issue.record("\(tally.failed.count) failed: \(tally.failed.sorted())\n\(report)")
    }
    // After a failure no further seeds were chosen: what a part of them lacks says nothing.
    guard isWhole, tally.failed.isEmpty else { return }
    for what in tally.missing { Issue.record("too little happened: \(what)") }
  }

  /// What seeds came to.
  struct Tally {
    /// How many seeds the test set out to run.
    let seeds: UInt64
    private(set) var total: [String: Int] = [:]
    private(set) var failed: [UInt64] = []

    /// What has not happened often enough.
    var missing: [String] {
      // Clocks that jump beyond the allowed skew leave more to accept.
      let content = EngineSimulationTests.content
        .merging(Simulation.isWild ? ["accepted": 10] : [:]) { $1 }
      let places = total.keys.count { $0.hasPrefix("death ") }
      let share = Int(min(seeds, 50))
      let rare = content.filter { total[$0.key, default: 0] < max(1, $0.value * share / 50) }
      return rare.keys.sorted()
        + (places < EngineSimulationTests.placesToDie ? ["deaths at other failpoints"] : [])
    }

    mutating func run(_ seeds: [UInt64]) async {
      await withTaskGroup(of: (UInt64, SimulationRun.Outcome).self) { group in
        var rest = seeds[...]
        func add() {
          guard let seed = rest.popFirst() else { return }
          group.addTask { (seed, await Simulation.run(seed: seed)) }
        }
        for _ in 0..<4 { add() }
        for await (seed, outcome) in group {
          total.merge(outcome.counts, uniquingKeysWith: +)
          if !outcome.faults.isEmpty {
            failed.append(seed)
            print("seed \(seed): \(outcome.faults.prefix(3))")
          }
          add()
        }
      }
    }

    /// Goes on until there was enough of everything: what a seed has is drawn, and any first seed is as good as
    /// another.
    ///
    /// - Parameter limit: How many of the next seeds to choose from, those first that can have what is missing.
    mutating func runMore(from first: UInt64, upTo limit: UInt64) async {
      var rest = Array(first..<first + limit)
      while failed.isEmpty, let what = missing.first, !rest.isEmpty {
        let causes = EngineSimulationTests.causes[what] ?? []
        var chosen: [UInt64] = []
        for seed in rest where chosen.count < 4 {
          let kinds = SimulationStep.plan(seed: seed, count: Simulation.stepsPerSeed).map(\.kind)
          if causes.isSubset(of: kinds) { chosen.append(seed) }
        }
        if chosen.isEmpty { return }
        print("more for \(what): \(chosen)")
        rest.removeAll(where: chosen.contains)
        await run(chosen)
      }
    }
  }

  /// The same with a hub in a real PostgreSQL database, whose server refuses, fails and goes back in time.
  @Test(.needsServer, .enabled(if: only == nil && count == nil))
  func aHubInADatabaseIsNoOtherThanAFile() async throws {
    let first = Self.first + 500_000
    let seeds: UInt64 = 4
    print("seeds \(first)..<\(first + seeds) over PostgreSQL")
    await Simulation.$hasDatabase.withValue(true) {
      var tally = Tally(seeds: seeds)
      await tally.run(Array(first..<first + seeds))
      if let seed = tally.failed.min() {
        let outcome = await Simulation.run(seed: seed)
        let report = await Simulation.report(seed: seed, outcome, shrinking: Self.patience)
        Issue.record("\(tally.failed.count) failed: \(tally.failed.sorted())\n\(report)")
      }
      #expect(tally.total["write", default: 0] > 100)
    }
  }

  @Test(arguments: HubPlace.all) func aSeedReplaysExactly(_ place: HubPlace) async throws {
    let (first, second) = await Simulation.$hasDatabase.withValue(place == .database) {
      (
        await Simulation.run(seed: 4, keepsTrace: true),
        await Simulation.run(seed: 4, keepsTrace: true)
      )
    }
    #expect(first.trace.count > 100 && first.trace == second.trace)
  }
}
