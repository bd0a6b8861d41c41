// Two contexts and every merge policy, at random.
import CairnModel
import CairnStore
import Foundation
import Testing

@testable import CairnContext

/// Chapter 12 with chapters 8, 9, 11 and 14: whatever two contexts do to the same objects, the save of
/// the second one leaves memory and store the same, inverses in agreement and nothing dangling.
@Suite struct RandomisedConflictTests {
  private func run(
    _ seed: UInt64, _ type: MergePolicyType, _ choice: StoreChoice, isTree: Bool = false
  ) throws {
    let duel = try ConflictDuel(seed: seed, policy: type, in: choice, isTree: isTree)
    for round in 0..<25 {
      let found = try duel.round()
      #expect(
        found.isEmpty, "seed \(seed), \(type), round \(round), after \(duel.trail.suffix(24))")
      if !found.isEmpty { return }
    }
    #expect(duel.resolved + duel.refused > 0, "seed \(seed) met no conflict")
  }

  @Test(arguments: RandomisedTests.seeds, PolicyRuleTests.types)
  func inMemory(seed: UInt64, type: MergePolicyType) throws { try run(seed, type, .memory) }

  @Test(arguments: RandomisedTests.seeds, PolicyRuleTests.types)
  func inAFile(seed: UInt64, type: MergePolicyType) throws { try run(seed, type, .sqlite) }

  @Test(arguments: RandomisedTests.seeds, PolicyRuleTests.types)
  func inAChild(seed: UInt64, type: MergePolicyType) throws {
    try run(seed, type, .memory, isTree: true)
  }
}
