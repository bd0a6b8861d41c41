import Testing

@testable import CairnPlatform

/// When a file watch reports; times are in nanoseconds.
struct ReportScheduleTests {
  private func schedule(eager: Bool, later: [UInt64] = []) -> ReportSchedule {
    ReportSchedule(debounce: 10, isEager: eager, laterReports: later)
  }

  private func take(_ schedule: inout ReportSchedule, at time: UInt64) -> Bool {
    schedule.takeReport(at: time)
  }

  @Test func nothingIsDueBeforeAnythingWasWritten() {
    var schedule = schedule(eager: true, later: [1])
    #expect(schedule.next == nil)
    #expect(!take(&schedule, at: 100))
  }

  @Test func aPatientScheduleReportsOnceAfterTheDebounceHoweverOftenIsWritten() {
    var schedule = schedule(eager: false)
    for time in [UInt64(100), 103, 109] { schedule.changed(at: time) }
    #expect(!take(&schedule, at: 109))
    #expect(take(&schedule, at: 110))
    #expect(schedule.next == nil)
  }

  @Test func anEagerScheduleReportsTheFirstChangeAtOnceAndThenOncePerDebounce() {
    var schedule = schedule(eager: true)
    schedule.changed(at: 100)
    #expect(take(&schedule, at: 100))
    schedule.changed(at: 101)
    #expect(schedule.next == 110)
    #expect(!take(&schedule, at: 109))
    #expect(take(&schedule, at: 112))
  }

  @Test func laterReportsFollowEachOtherUntilTheLast() {
    var schedule = schedule(eager: true, later: [1, 5])
    schedule.changed(at: 100)
    for time in [UInt64(100), 101, 106] { #expect(take(&schedule, at: time)) }
    #expect(schedule.next == nil)
  }

  @Test func aChangeBeginsTheLaterReportsAnewAndComesNoLaterThanTheyWould() {
    var schedule = schedule(eager: true, later: [1, 50])
    schedule.changed(at: 100)
    for time in [UInt64(100), 101] { #expect(take(&schedule, at: time)) }
    #expect(schedule.next == 151)
    schedule.changed(at: 148)
    #expect(take(&schedule, at: 148))
    #expect(schedule.next == 149)
  }
}
