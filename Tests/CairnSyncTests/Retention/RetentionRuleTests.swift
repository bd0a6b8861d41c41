import Foundation
import Testing

@testable import CairnSync

/// Specification: sync.md 5, "Purge": decided from what is known, without a store.
struct RetentionRuleTests {
  private static let a = StoreID(high: 0, low: 1)
  private static let b = StoreID(high: 0, low: 2)

  private static func note(
    _ position: UInt64, heard: UInt64, offered: UInt64 = 0
  ) -> ReaderNote {
    var note = ReaderNote()
    note.position = position
    note.heard = heard
    note.offered = offered
    return note
  }

  /// At time 10,000 with a retention of 1,000; the change order had come to 500 at time 8,900.
  private static func rule(
    _ readers: [StoreID: ReaderNote], floor: UInt64 = 0, age: UInt64? = nil
  ) -> RetentionRule {
    var calendar = SequenceCalendar()
    calendar.note(500, now: 8900, retention: 1000)
    calendar.note(700, now: 9500, retention: 1000)
    return RetentionRule(
      .init(
        now: 10_000, retention: 1000, age: age, sequence: 900, calendar: calendar,
        readers: readers, floor: floor))
  }

  @Test func withoutReadersAgeAloneDecides() {
    #expect(Self.rule([:]).position == 500)
    #expect(Self.rule([:]).time == 9000)
    #expect(Self.rule([:], age: 400).position == 700)
    #expect(Self.rule([:], age: 0).position == 900)
    #expect(Self.rule([:], age: .max).time == 0 && Self.rule([:], age: .max).position == 0)
  }

  @Test func nothingGoesThatALiveReaderHasNotAcknowledged() {
    let rule = Self.rule([Self.a: Self.note(300, heard: 9990), Self.b: Self.note(800, heard: 9990)])
    #expect(rule.position == 300)
    #expect(rule.holding == [Self.a] && rule.expired.isEmpty)
    // Also by an operator's hand.
    #expect(
      Self.rule(
        [Self.a: Self.note(300, heard: 9990), Self.b: Self.note(800, heard: 9990)], age: 0
      ).position == 300)
  }

  @Test func aReaderThatIsSilentForLongerThanTheRetentionHoldsNothingBack() {
    let rule = Self.rule([
      Self.a: Self.note(300, heard: 8999, offered: 1300), Self.b: Self.note(800, heard: 9000),
    ])
    #expect(rule.position == 500)
    #expect(rule.expired == [Self.a] && rule.holding.isEmpty)
    // But marks by which it can be told from a reader of another life.
    #expect(rule.keepsMark(at: 300) && rule.keepsMark(at: 1300))
    #expect(!rule.keepsMark(at: 299) && !rule.keepsMark(at: 1301))
  }

  @Test func aReaderOfAVersionWithoutTimesOrFromTheFutureIsNotExpired() {
    let rule = Self.rule([Self.a: Self.note(300, heard: 0), Self.b: Self.note(400, heard: 20_000)])
    #expect(rule.expired.isEmpty && rule.position == 300)
  }

  @Test func whatWasDecidedOnceStaysDecided() {
    let rule = Self.rule([Self.a: Self.note(100, heard: 9990)], floor: 450)
    #expect(rule.position == 450)
  }

  @Test func anAgeIsNeverOverestimated() {
    var calendar = SequenceCalendar()
    for time in stride(from: UInt64(0), through: 100_000, by: 7) {
      calendar.note(time * 2, now: time, retention: 1000)
      guard time >= 2000 else { continue }
      let limit = time - 1000
      #expect(calendar.sequence(at: limit) <= limit * 2)
      // Nor by more than the time between two samples.
      #expect(calendar.sequence(at: limit) >= (limit - 50) * 2)
      #expect(calendar.samples.count < 40)
    }
  }

  @Test func samplesOfAWrongClockAndOfAnotherLifeGo() {
    var calendar = SequenceCalendar()
    calendar.note(10, now: 1000, retention: 100)
    calendar.note(20, now: 900_000, retention: 100)
    calendar.note(30, now: 2000, retention: 100)
    #expect(calendar.samples.map(\.time) == [1000, 2000])
    // The store went back in time.
    calendar.note(5, now: 3000, retention: 100)
    #expect(calendar.samples.map(\.sequence) == [5])
  }

  @Test func onlyWhatHasNoObjectAndWillHaveNoneIsOver() {
    let id = RecordID(high: 1, low: 1)
    func stamp(_ clock: UInt64) -> Stamp {
      Stamp(clock: ClockReading(milliseconds: clock), store: Self.a)
    }
    var entry = RecordEntry(entity: "Item", key: .row(1))
    entry.base = PropertyWrite(stamp: stamp(1))
    #expect(!RetentionRule.isOver(entry, id: id, .lastWriter))
    // Kept for a newer version of the model.
    entry.key = nil
    entry.overlay = ["x": .integer(1)]
    #expect(!RetentionRule.isOver(entry, id: id, .lastWriter))
    entry.deletion = Deletion(stamp: stamp(2))
    #expect(RetentionRule.isOver(entry, id: id, .lastWriter))
    #expect(!RetentionRule.isOver(entry, id: id, nil))
    entry.base = PropertyWrite(stamp: stamp(3))
    #expect(!RetentionRule.isOver(entry, id: id, .lastWriter))
    #expect(RetentionRule.isOver(entry, id: id, .deleteWins))
    entry.survivor = RecordID(high: 0, low: 1)
    #expect(RetentionRule.isOver(entry, id: id, .lastWriter))
  }

  @Test func aReaderIsNotedSeldomAndInTime() {
    var configuration = SyncConfiguration()
    configuration.retention = .seconds(64)
    configuration.allowedClockSkew = 1000
    var head = SyncHead()
    head.sequence = 10
    head.clock = HybridLogicalClock(last: ClockReading(milliseconds: 5000))
    let first = ReaderNote().visited(at: 5, head: head, now: 5000, name: "nas", configuration)
    #expect(first.position == 5 && first.offered == 10 + ReaderNote.slack && first.heard == 5000)
    func next(_ position: UInt64, _ now: UInt64, isFinal: Bool = false) -> ReaderNote {
      first.visited(
        at: position, head: head, now: now, name: "nas", configuration, isFinal: isFinal)
    }
    head.sequence = 500
    #expect(next(400, 5500) == first)
    #expect(next(400, 6000).position == 400)
    #expect(next(5 + ReaderNote.slack, 5500).position == 5 + ReaderNote.slack)
    #expect(next(400, 5500, isFinal: true).position == 400)
    // It was restored from a backup.
    #expect(next(4, 5500).position == 4)
    head.sequence = 2000
    #expect(next(400, 5500).offered == 2000 + ReaderNote.slack)
  }
}
