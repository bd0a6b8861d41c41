// The same random operations on contexts and on plain dictionaries, compared after each step.
import CairnModel
import CairnStore
import Foundation
import Testing

@testable import CairnContext

/// Chapters 6, 7, 8, 9, 11, 14 and 15 at once: whatever is done in whatever order, a context looks
/// like the dictionaries, inverses agree, no ID is there twice, and its changes are exactly the
/// difference to what it was read from.
@Suite struct RandomisedTests {
  /// Ten seeds, as many as `CAIRN_RANDOM_SEEDS` says, or the one in `CAIRN_TEST_SEED`.
  static var seeds: [UInt64] {
    let environment = ProcessInfo.processInfo.environment
    for name in ["CAIRN_TEST_SEED", "CAIRN_RANDOM_SEED"] {
      if let one = environment[name].flatMap({ UInt64($0) }) { return [one] }
    }
    return Array(1...(environment["CAIRN_RANDOM_SEEDS"].flatMap { UInt64($0) } ?? 10))
  }

  private func run(_ twin: ContextTwin, steps: Int, _ seed: UInt64) throws {
    for step in 0..<steps {
      do {
        try twin.step()
      } catch {
        Issue.record("seed \(seed), step \(step): \(error), after \(twin.trail.suffix(60))")
        return
      }
      let isRootSave = twin.trail.last == "save"
      // Not looking leaves relationships unloaded, which is another path through the code.
      let isReading = step % 3 == 0 || isRootSave
      let worked = twin.active
      let places = step % 10 == 0 ? Array(twin.nodes.indices) : [worked]
      for place in places {
        twin.active = place
        let context = twin.context
        let differences = try context.performAndWait { try twin.differences(reading: isReading) }
        #expect(
          differences.isEmpty,
          "seed \(seed), step \(step), node \(place), after \(twin.trail.suffix(60))")
        if !differences.isEmpty { return }
      }
      twin.active = worked
      if isRootSave {
        let differences = try twin.committedDifferences()
        #expect(
          differences.isEmpty,
          "seed \(seed), step \(step): stored otherwise, after \(twin.trail.suffix(60))")
        if !differences.isEmpty { return }
      }
    }
  }

  @Test(arguments: seeds, StoreChoice.allCases)
  func aContextAgreesWithPlainDictionariesAfterEveryStep(
    seed: UInt64, choice: StoreChoice
  ) throws {
    let twin = try ContextTwin(seed: seed, in: choice)
    try run(twin, steps: 400, seed)
    #expect(twin.largest > 5, "seed \(seed) worked on next to nothing")
  }

  /// A root with two children, one of them with a child of its own.
  @Test(arguments: seeds, StoreChoice.allCases)
  func aTreeOfContextsAgreesWithPlainDictionariesAfterEveryStep(
    seed: UInt64, choice: StoreChoice
  ) throws {
    let twin = try ContextTwin(seed: seed &+ 1000, in: choice, parents: [0, 0, 1])
    try run(twin, steps: 300, seed)
    #expect(twin.largest > 5, "seed \(seed) worked on next to nothing")
  }
}
