import CairnModel
import CairnStore
import Foundation
import Testing

@testable import CairnSync

// Random writers, passes in any order, crashes at any step; then everything must agree. Set
// CAIRN_SIMULATION_SEEDS to run as many further seeds as you like.
struct SimulationTests {
  struct Plan: Sendable, CustomTestStringConvertible {
    let seed: UInt64
    var deletes = false
    var crashes = 0
    var onDisk = false
    var steps = 60
    var testDescription: String {
      "seed \(seed) deletes \(deletes) crashes \(crashes) onDisk \(onDisk)"
    }
  }

  static let plans: [Plan] = {
    let extra = ProcessInfo.processInfo.environment["CAIRN_SIMULATION_SEEDS"].flatMap(UInt64.init)
    return (1...6).map { Plan(seed: $0) }
      + (11...20).map { Plan(seed: $0, deletes: true) }
      + (21...30).map { Plan(seed: $0, deletes: true, crashes: 20) }
      + (31...32).map { Plan(seed: $0, deletes: true, crashes: 15, onDisk: true, steps: 25) }
      + (extra.map { count in
        (1000..<(1000 + count)).map {
          Plan(seed: $0, deletes: $0 % 3 != 0, crashes: $0 % 2 == 0 ? 20 : 0, steps: 100)
        }
      } ?? [])
  }()

  @Test(arguments: plans)
  func storesConvergeAndNoWriteIsLost(plan: Plan) throws {
    let scratch = plan.onDisk ? try Scratch() : nil
    let fleet = Fleet(seed: plan.seed, directory: scratch?.url)
    let locals = try ["a", "b", "c"].map { try fleet.add($0) }
    let hubs = try ["hub", "nas"].map { try fleet.add($0) }
    // a and b share the hub; b and c share the other.
    let links = [
      (locals[0], hubs[0]), (locals[1], hubs[0]), (locals[1], hubs[1]), (locals[2], hubs[1]),
    ]
    var work = Workload(seed: plan.seed)
    for _ in 0..<plan.steps {
      fleet.advance(UInt64.random(in: 0...20, using: &work.generator))
      if work.generator.chance(60), let site = work.generator.pick(locals) {
        try work.step(site, deletes: plan.deletes)
      } else if let link = work.generator.pick(links) {
        fleet.crash(percent: plan.crashes)
        let stop = work.generator.chance(20) ? Int.random(in: 1...6, using: &work.generator) : .max
        try fleet.pass(link.0, link.1, stopAfter: stop)
        fleet.crash(percent: 0)
      }
    }
    #expect(try fleet.settle(links) < 40, "\(plan.testDescription) does not settle")
    let pictures = try (locals + hubs).map { try $0.picture() }
    for (site, picture) in zip(locals + hubs, pictures) {
      #expect(picture == pictures[0], "\(plan.testDescription): \(site.name) differs from a")
    }
    for (local, hub) in links {
      let report = try StoreComparison(local: local.access, replica: hub.access).run(name: hub.name)
      #expect(report.isEqual, "\(plan.testDescription): \(report.differences.prefix(3))")
    }
    try check(work, pictures[0], locals + hubs, plan)
  }

  /// Every value that is not there was replaced by somebody who saw it, or is in a journal.
  private func check(
    _ work: Workload, _ picture: [String], _ sites: [Fleet.Site], _ plan: Plan
  ) throws {
    var values: [String: String] = [:]
    for line in picture where line.hasPrefix("item ") {
      let words = line.split(separator: " ")
      values[String(words[1])] = String(words[2])
    }
    for key in work.inserted.subtracting(work.deleted) {
      #expect(values[key] != nil, "\(plan.testDescription): \(key) is lost")
    }
    var journaled: Set<String> = []
    for site in sites {
      let sidecar = try #require(site.store as? any SidecarKeeping)
      for entry in try sidecar.sidecarEntries(
        of: SyncMap.journal.rawValue, from: nil, to: nil, limit: 0)
      {
        if case .string(let text) = try JournalEntry(decoding: entry.value).conflict.losingValue {
          journaled.insert(text)
        }
      }
    }
    for (place, byStore) in work.last where !work.deleted.contains(place.key) {
      guard let final = values[place.key] else { continue }
      #expect(
        byStore.values.contains(final),
        "\(plan.testDescription): \(place.key) is \(final), which nobody wrote last")
      for value in byStore.values where value != final {
        let isKnown = work.replaced[place]?.contains(value) == true || journaled.contains(value)
        #expect(isKnown, "\(plan.testDescription): \(value) of \(place.key) vanished")
      }
    }
  }

  @Test func aSeedReplaysExactly() throws {
    func run() throws -> [String] {
      let fleet = Fleet(seed: 77)
      let (a, hub) = (try fleet.add("a"), try fleet.add("hub"))
      var work = Workload(seed: 77)
      for _ in 0..<20 {
        fleet.advance(3)
        try work.step(a, deletes: true)
        try fleet.pass(a, hub)
      }
      return try hub.picture()
    }
    #expect(try run() == run())
  }
}
