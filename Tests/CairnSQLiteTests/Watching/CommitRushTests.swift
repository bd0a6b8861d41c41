// How long the watch of a store rests while programs commit without pause; times in milliseconds here.
import Testing

@testable import CairnSQLite

struct CommitRushTests {
  /// The rests after commits that were noticed at some times.
  private func rests(_ times: [UInt64]) -> [UInt64] {
    var rush = CommitRush()
    return times.map { rush.noticed(at: $0 * 1_000_000) / 1_000_000 }
  }

  @Test func commitsThatComeOneByOneAreNeverRestedAfter() {
    #expect(rests([1000, 1012, 1024, 1100, 1112]) == [0, 0, 0, 0, 0])
  }

  @Test func theRestBecomesLongerWhileEachCommitFollowsItSoon() {
    var rush = CommitRush()
    var now: UInt64 = 1_000_000_000
    let rests = (0..<9).map { _ in
      let rest = rush.noticed(at: now)
      now += rest + 4_000_000
      return rest / 1_000_000
    }
    #expect(rests == [0, 5, 10, 20, 40, 80, 160, 200, 200])
  }

  @Test func aPauseAfterARestEndsTheRush() {
    #expect(rests([1000, 1001, 1007, 1030, 1031, 1036]) == [0, 5, 10, 0, 5, 10])
  }

  @Test func aRushOfWeeksCountsOn() {
    var rush = CommitRush()
    for _ in 0..<1000 { _ = rush.noticed(at: 7) }
    #expect(rush.noticed(at: 7) == 200_000_000)
  }
}
