import Cairn
import CairnTesting
import Foundation
import Testing

/// core-data-semantics chapter 22.3: random models along random changes, in every type of store and by
/// every way of lightweight migration.
///
/// Each value and each link is compared with what the rules give. A tenth of the migrations are also
/// looked at as if their program had been killed at some step.
///
/// `CAIRN_TEST_SEED` repeats a run, `CAIRN_RANDOM_MIGRATIONS` asks for more stores than the few of an
/// ordinary run (`make migrations`).
@Suite struct RandomMigrationTests {
  @Test func whateverChangesTheStoreHoldsWhatTheRulesGive() throws {
    let count =
      ProcessInfo.processInfo.environment["CAIRN_RANDOM_MIGRATIONS"].flatMap { Int($0) } ?? 40
    let seed = TestSeed.get("RandomMigrationTests")
    var killed = 0
    for number in 0..<count {
      let own = seed &+ UInt64(number)
      if number > 0, number % 200 == 0 { print("\(number) random migrations, \(killed) killed") }
      do {
        let run = try RandomMigrationRun(seed: own)
        do {
          try run.run()
        } catch {
          Issue.record("seed \(own), \(run.way.rawValue): \(error)")
        }
        if run.wasKilled { killed += 1 }
      }
    }
    if count >= 200 { #expect(killed > count / 40) }
  }
}
