import Cairn
import Foundation
import Testing

/// The format, chapter 15, and issue-free files whatever is done: random models, random work of
/// several contexts, on one coordinator with merge policies of each kind or on two; after every save a
/// file without findings that another stack reads as the context does, with what was acknowledged
/// and without changes that nobody made.
///
/// `CAIRN_TEST_SEED` repeats a run, `CAIRN_RANDOM_STORES` asks for more stores than the few of an
/// ordinary run.
@Suite struct RandomStoreTests {
  @Test func whateverIsDoneTheFileMeetsTheFormatAndIsReadAlike() throws {
    let count =
      ProcessInfo.processInfo.environment["CAIRN_RANDOM_STORES"].flatMap { Int($0) } ?? 5
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
