import Foundation
import Testing

@testable import CairnSync

/// Specification: sync.md 1: a stamp has 48 bits of milliseconds, which end in the year 10889.
struct ClockEndTests {
  private let end: UInt64 = (1 << 48) - 1

  @Test func aTimeThatNoStampCanHaveCountsAsTheLastOne() {
    #expect(ClockReading(milliseconds: end + 5).milliseconds == end)
    #expect(RecordID(milliseconds: end + 5, random: (0, 0)).milliseconds == end)
    let last = ClockReading(bits: .max)
    #expect(last.next == last)
  }

  @Test func theMachinesClockStandsStillBeforeStampsEnd() {
    let late = SyncEnvironment.milliseconds(at: Date(timeIntervalSince1970: 1e18))
    #expect(late < end && ClockReading(milliseconds: late).milliseconds == late)
    #expect(SyncEnvironment.milliseconds(at: Date(timeIntervalSince1970: -5)) == 0)
    #expect(SyncEnvironment.milliseconds(at: Date(timeIntervalSince1970: 5)) == 5000)
  }

  @Test func aStoreWhoseClockIsPastTheEndStampsEachWriteLaterThanTheOneBefore() {
    var clock = HybridLogicalClock(last: ClockReading(milliseconds: 1_800_000_000_000))
    let late = SyncEnvironment.milliseconds(at: Date(timeIntervalSince1970: 1e18))
    let readings = (0..<3).map { _ in clock.tick(milliseconds: 1 << 60, limit: late + 300_000) }
    #expect(readings[0].milliseconds > 1_800_000_000_000)
    #expect(readings[0] < readings[1] && readings[1] < readings[2])
  }
}
