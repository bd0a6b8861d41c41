import Testing

@testable import CairnPlatform

/// When a file watch reports; times are in nanoseconds.
struct ReportScheduleTests {
  private func schedule(eager: Bool, later: [UInt64] = []) -> ReportSchedule {
    ReportSchedule(debounce: 10, isEager: eager, laterReports: later)
  }

  @Test func nothingIsDueBeforeAnythingWasWritten() {
    var schedule = schedule(eager: true, later: [1])
    #expect(schedule.next == nil)
    #expect(!schedule.takeReport(at: 100))
  }

  @Test func aPatientScheduleReportsOnceAfterTheDebounceHoweverOftenIsWritten() {
    var schedule = schedule(eager: false)
    for time in [UInt64(100), 103, 109] { schedule.changed(at: time) }
    #expect(!schedule.takeReport(at: 109))
    #expect(schedule.takeReport(at: 110))
    #expect(schedule.next == nil)
  }

  @Test func anEagerScheduleReportsTheFirstChangeAtOnceAndThenOncePerDebounce() {
    var schedule = schedule(eager: true)
    schedule.changed(at: 100)
    #expect(schedule.takeReport(at: 100))
    schedule.changed(at: 101)
    #expect(schedule.next == 110)
    #expect(!schedule.takeReport(at: 109))
    #expect(schedule.takeReport(at: 112))
  }

  @Test func laterReportsFollowEachOtherUntilTheLast() {
    var schedule = schedule(eager: true, later: [1, 5])
    schedule.changed(at: 100)
    #expect([100, 101, 106].map { schedule.takeReport(at: $0) } == [true, true, true])
    #expect(schedule.next == nil)
  }

  @Test func aChangeBeginsTheLaterReportsAnewAndComesNoLaterThanTheyWould() {
    var schedule = schedule(eager: true, later: [1, 50])
    schedule.changed(at: 100)
    #expect([100, 101].map { schedule.takeReport(at: $0) } == [true, true])
    #expect(schedule.next == 151)
    schedule.changed(at: 148)
    #expect(schedule.takeReport(at: 148))
    #expect(schedule.next == 149)
  }
}
