import Testing

@testable import CairnSync

/// Specification: sync.md 5: purge and comparison run by themselves.
struct UpkeepScheduleTests {
  private static let hour: UInt64 = 3_600_000
  private static let day = 24 * hour

  private static func schedule(
    retention: Duration = .seconds(30 * 86400), verifyEvery: Duration = .seconds(86400)
  ) -> UpkeepSchedule {
    var configuration = SyncConfiguration()
    configuration.retention = retention
    return UpkeepSchedule(configuration, verifyEvery: verifyEvery)
  }

  @Test func nothingIsDueBeforeReplicasCouldShowThatTheyAreThere() {
    let start = 100 * Self.day
    let times = UpkeepSchedule.Times(started: start)
    #expect(Self.schedule().next(now: start, times) == .wait(UpkeepSchedule.grace))
    #expect(Self.schedule().next(now: start + UpkeepSchedule.grace, times) == .purge)
  }

  @Test func whatWasDoneBeforeARestartCounts() {
    let start = 100 * Self.day
    let times = UpkeepSchedule.Times(
      started: start, purged: start - 2 * Self.hour, verified: start - Self.day)
    let ready = start + UpkeepSchedule.grace
    #expect(Self.schedule().next(now: ready, times) == .verify)
    #expect(Self.schedule(verifyEvery: .zero).next(now: ready, times) == .wait(Self.hour))
    #expect(Self.schedule(verifyEvery: .zero).next(now: start + 22 * Self.hour, times) == .purge)
  }

  @Test func aShortRetentionIsKeptToo() {
    let schedule = Self.schedule(retention: .seconds(3600))
    #expect(schedule.purgeEvery == Self.hour / 8)
    let start = 100 * Self.day
    let times = UpkeepSchedule.Times(started: start, purged: start, verified: start)
    #expect(schedule.next(now: start, times) == .wait(Self.hour / 8))
  }

  @Test func aClockThatWasWrongDelaysNothingForLong() {
    let start = 100 * Self.day
    let times = UpkeepSchedule.Times(
      started: start, purged: start + 400 * Self.day, verified: start + 400 * Self.day)
    #expect(Self.schedule().next(now: start, times) == .purge)
    let ahead = UpkeepSchedule.Times(started: start + 400 * Self.day)
    #expect(Self.schedule().next(now: start, ahead) == .purge, "set back since the start")
    // Waits are cut, so that a clock that is set is noticed.
    let done = UpkeepSchedule.Times(started: start, purged: start, verified: start)
    #expect(Self.schedule().next(now: start, done) == .wait(Self.hour))
  }

  @Test func firstComparisonFollowsTheFirstInterval() {
    let start = 100 * Self.day
    let times = UpkeepSchedule.Times(started: start, purged: start + Self.day)
    #expect(Self.schedule().next(now: start + Self.day - 1, times) != .verify)
    let purged = UpkeepSchedule.Times(started: start, purged: start + Self.day - 1)
    #expect(Self.schedule().next(now: start + Self.day, purged) == .verify)
  }
}
