import CairnModel
import Testing

@testable import CairnSync

/// Specification: sync.md 7: where a record is united with one that is deleted, what it showed goes, and is in the
/// journal.
///
/// A store that has only the new one of two records, as while a clock holds the delete, unites it with the old one.
struct UnionLossTests {
  private static let old = RecordID(high: 1, low: 1)
  private static let new = RecordID(high: 1, low: 2)

  private static func stamp(_ time: UInt64, _ store: PureStore) -> Stamp {
    Stamp(clock: ClockReading(bits: time), store: store.id)
  }

  /// A store that deleted a tag and made another of its name, and one that united the two.
  private static func apart(
    inserted time: UInt64
  ) throws -> (writer: PureStore, united: PureStore) {
    let setting = try PlanLawTests.setting(.deleteWins)
    var (writer, united) = (PureStore(1, setting), PureStore(2, setting))
    writer.insert(
      old, "Tag", ["name": .string("red"), "note": .string("old")], stamp(10, writer))
    try united.receive(from: writer)
    writer.delete(old, stamp(20, writer))
    writer.insert(
      new, "Tag", ["name": .string("red"), "note": .string("new")], stamp(time, writer))
    try united.receive([#require(writer.state(new))], [], from: writer.id)
    #expect(united.rows[old]?["note"] == .string("new") && united.rows[new] == nil)
    return (writer, united)
  }

  private static func notes(_ plan: ImportPlan) -> [Conflict] {
    plan.conflicts.filter { $0.property == "note" }
  }

  @Test func whatItShowedIsJournaled() throws {
    let (writer, united) = try Self.apart(inserted: 30)
    for ids in [[Self.new], [Self.old, Self.new]] {
      let plan = try writer.plan(ids.compactMap(united.state), [], from: united.id)
      #expect(plan.rows.map(\.kind) == [.delete])
      let note = try #require(Self.notes(plan).first)
      #expect(note.losingValue == .string("new") && note.rule == .deleteWon)
      #expect(note.winningStamp == Self.stamp(20, writer))
    }
  }

  /// The stamps say that the deleter had seen what it inserted; it did not delete that.
  @Test func soIsWhatTheSaveInsertedThatDeletedTheOther() throws {
    var (writer, united) = try Self.apart(inserted: 20)
    try united.receive([#require(writer.state(Self.old))], [], from: writer.id)
    #expect(united.rows.isEmpty)
    let plan = try writer.plan(united.states, [], from: united.id)
    #expect(Self.notes(plan).map(\.losingValue) == [.string("new")])
    #expect(Self.notes(plan).map(\.rule) == [.deleteWon])
    try writer.receive(from: united)
    #expect(try writer.plan(united.states, [], from: united.id).conflicts.isEmpty, "once")
  }

  /// A delete of a record that was united elsewhere, which the deleter had not heard of, takes nothing from the
  /// survivor, whichever of the two arrives first.
  @Test func theDeleteOfARecordThatHadBecomeAnotherIsJournaled() throws {
    let setting = try PlanLawTests.setting(.lastWriter)
    var (deleter, united) = (PureStore(1, setting), PureStore(2, setting))
    united.insert(Self.old, "Tag", ["name": .string("red")], Self.stamp(10, united))
    deleter.insert(Self.new, "Tag", ["name": .string("red")], Self.stamp(20, deleter))
    try united.receive(from: deleter)
    #expect(united.rows[Self.new] == nil)
    deleter.delete(Self.new, Self.stamp(30, deleter))
    for (store, other) in [(united, deleter), (deleter, united)] {
      func lost(_ store: PureStore) throws -> [Conflict] {
        try store.plan(other.states, [], from: other.id).conflicts.filter { $0.property == nil }
      }
      let conflict = try #require(try lost(store).first)
      #expect(conflict.record == Self.old && conflict.rule == .united)
      #expect(conflict.losingStamp == Self.stamp(30, deleter))
      var after = store
      try after.receive(from: other)
      #expect(after.rows.keys.sorted() == [Self.old])
      #expect(try lost(after).isEmpty, "once")
    }
  }
}
