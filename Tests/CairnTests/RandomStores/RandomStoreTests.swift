import Cairn
import Foundation
import Testing

/// The format, chapter 15, and issue-free files whatever is done: random models, random work, and
/// after every save a file without findings that a second stack reads as the first one does.
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
