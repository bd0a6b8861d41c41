import CairnModel
import Testing

@testable import CairnSync

/// Specification: sync.md 7: a link that was added to a record which is deleted elsewhere is in the journal.
struct LinkLossTests {
  private static let item = RecordID(high: 1, low: 1)
  private static let tag = RecordID(high: 1, low: 2)
  private static let key = LinkKey(relationship: "Item.tags", owner: item, member: tag)

  private static func stamp(_ time: UInt64, _ store: PureStore) -> Stamp {
    Stamp(clock: ClockReading(bits: time), store: store.id)
  }

  /// - Parameters:
  ///   - deleted: What the other store deletes before it hears of the link.
  ///   - time: When the link is written: before the delete or after it.
  @Test(arguments: [item, tag], [15, 30] as [UInt64])
  func aLinkThatTheDeleterOfOneOfItsRecordsHadNotSeenIsJournaledOnce(
    deleted: RecordID, time: UInt64
  ) throws {
    let setting = try PlanLawTests.setting(.lastWriter)
    var (deleter, writer) = (PureStore(1, setting), PureStore(2, setting))
    deleter.insert(Self.item, "Item", ["key": .string("i")], Self.stamp(10, deleter))
    deleter.insert(Self.tag, "Tag", ["name": .string("t")], Self.stamp(11, deleter))
    try writer.receive(from: deleter)
    deleter.delete(deleted, Self.stamp(20, deleter))
    writer.link(Self.key, true, Self.stamp(time, writer))
    func lost() throws -> [Conflict] {
      try deleter.plan(writer.states, writer.linkChanges, from: writer.id).conflicts
        .filter { $0.member != nil }
    }
    let conflicts = try lost()
    #expect(conflicts.count == 1)
    let conflict = try #require(conflicts.first)
    let isItem = deleted == Self.item
    #expect(conflict.record == deleted && conflict.property == (isItem ? "tags" : "items"))
    #expect(conflict.losingValue == .reference(isItem ? Self.tag : Self.item))
    #expect(conflict.rule == .deleteWon && conflict.losingStamp == Self.stamp(time, writer))
    try deleter.receive(from: writer)
    #expect(deleter.rows[deleted] == nil, "a link brings no record back")
    #expect(try lost().isEmpty)
  }

  /// Who deletes a record knows the links that it has.
  @Test func aLinkThatGoesWithItsRecordIsNoLoss() throws {
    let setting = try PlanLawTests.setting(.lastWriter)
    var (deleter, writer) = (PureStore(1, setting), PureStore(2, setting))
    writer.insert(Self.item, "Item", ["key": .string("i")], Self.stamp(10, writer))
    writer.insert(Self.tag, "Tag", ["name": .string("t")], Self.stamp(11, writer))
    writer.link(Self.key, true, Self.stamp(12, writer))
    try deleter.receive(from: writer)
    deleter.delete(Self.item, Self.stamp(20, deleter))
    for (store, other) in [(deleter, writer), (writer, deleter)] {
      let plan = try store.plan(other.states, other.linkChanges, from: other.id)
      #expect(plan.conflicts.isEmpty)
    }
  }
}
