import Cairn
import Foundation
import TestSupport
import Testing

/// core-data-sqlite-format.md and core-data-semantics chapter 15: random models and random work of
/// several contexts, on one coordinator with each merge policy or on two.
///
/// After every save the file is without findings, and another stack reads it as the context does: what
/// was acknowledged is there, and no change that nobody made.
///
/// `CAIRN_TEST_SEED` repeats a run, `CAIRN_RANDOM_STORES` asks for more stores than the few of an
/// ordinary run.
@Suite struct RandomStoreTests {
  @Test func whateverIsDoneTheFileMeetsTheFormatAndIsReadAlike() throws {
    let count =
      ProcessInfo.processInfo.environment["CAIRN_RANDOM_STORES"].flatMap { Int($0) } ?? 3
    let seed = TestSeed.get("RandomStoreTests")
    var saves = 0
    for number in 0..<count {
      let own = seed &+ UInt64(number)
      if number > 0, number % 20 == 0 { print("\(number) random stores, \(saves) saves") }
      do {
        let run = try RandomStoreRun(seed: own)
        try run.run(versions: 3, steps: 40)
        saves += run.saves
      } catch {
        Issue.record("seed \(own): \(error)")
      }
    }
    #expect(saves > count)
  }
}
