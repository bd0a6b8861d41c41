import Cairn
import CairnTesting
import Foundation
import TestSupport
import Testing

/// core-data-semantics chapter 22.3: random models along random changes, in every type of store and by
/// every way of lightweight migration.
///
/// Each value and each link is compared with what the rules give. A tenth of the migrations are also
/// made by a process of their own, which is killed before some operation on a file.
///
/// `CAIRN_TEST_SEED` repeats a run, `CAIRN_RANDOM_MIGRATIONS` asks for more stores than the few of an
/// ordinary run (`make migrations`).
@Suite struct RandomMigrationTests {
  @Test func whateverChangesTheStoreHoldsWhatTheRulesGive() async throws {
    let count =
      ProcessInfo.processInfo.environment["CAIRN_RANDOM_MIGRATIONS"].flatMap { Int($0) } ?? 40
    let seed = TestSeed.get("RandomMigrationTests")
    var deaths: [Int] = []
    for number in 0..<count {
      let own = seed &+ UInt64(number)
      if number > 0, number % 200 == 0 {
        print("\(number) random migrations, \(deaths.count) killed")
      }
      do {
        let run = try RandomMigrationRun(seed: own)
        do {
          try await run.run()
        } catch {
          Issue.record("seed \(own), \(run.way.rawValue): \(error)")
        }
        deaths += run.deaths
      }
    }
    if count < 200 { return }
    #expect(deaths.count > count / 40)
    // Some had not written anything that counts, some had.
    #expect(deaths.contains(0) && deaths.contains { $0 > 0 })
  }
}
