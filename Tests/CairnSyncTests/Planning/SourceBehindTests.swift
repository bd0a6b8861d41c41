import CairnModel
import Testing

@testable import CairnSync

/// Specification: sync.md 2.1: a store that is sent less than it knows of a record that is deleted in it, such as
/// that it lives, has what it knows go to the sender again, which has not heard of it or has forgotten it; once.
struct SourceBehindTests {
  private static let item = PlanLawTests.item
  private static let tag = RecordID(high: 1, low: 11)
  private static let link = LinkKey(relationship: "Item.tags", owner: item, member: tag)

  private static func stamp(_ time: UInt64, _ store: PureStore) -> Stamp {
    Stamp(clock: ClockReading(bits: time), store: store.id)
  }

  /// Two stores with a linked item, of which the first then does something that the second does not hear of.
  private static func apart(
    _ policy: DeleteConflictPolicy, _ work: (inout PureStore) -> Void
  ) throws -> (ahead: PureStore, behind: PureStore) {
    let setting = try PlanLawTests.setting(policy)
    var (a, b) = (PureStore(1, setting), PureStore(2, setting))
    a.insert(item, "Item", ["key": .string("i")], stamp(10, a))
    a.insert(tag, "Tag", ["name": .string("red")], stamp(11, a))
    a.link(link, true, stamp(12, a))
    try b.receive(from: a)
    work(&a)
    return (a, b)
  }

  /// What a store has to tell others of because another sends all it has.
  private static func news(_ store: PureStore, from other: PureStore) throws -> ImportPlan {
    try store.plan(other.states, other.linkChanges, from: other.id)
  }

  @Test(arguments: DeleteConflictPolicy.allCases)
  func whoSendsALivingRecordThatIsDeletedHereIsToldOnce(_ policy: DeleteConflictPolicy) throws {
    var (a, b) = try Self.apart(policy) { $0.delete(Self.item, Self.stamp(20, $0)) }
    // What it deleted is no news to it any more once it has come back.
    try a.receive(from: b)
    let plan = try Self.news(a, from: b)
    #expect(plan.records.filter(\.isNews).map(\.id) == [Self.item])
    #expect(plan.records.allSatisfy { $0.origin == nil }, "the sender, too, is to hear of it")
    #expect(plan.rows.isEmpty)
    try b.receive(from: a)
    #expect(b.picture == a.picture)
    #expect(try !Self.news(a, from: b).hasNews && !Self.news(b, from: a).hasNews)
  }

  /// A record may be there all the same, where its delete is denied: then its values show.
  @Test func whoKnowsLessOfWhatWasDeletedIsToldOnce() throws {
    var (a, b) = try Self.apart(.lastWriter) {
      $0.write(Self.item, "value", .string("last"), Self.stamp(20, $0))
    }
    let deleted = RecordState(
      id: Self.item, entity: "Item", deletion: Deletion(stamp: Self.stamp(30, a)))
    try a.receive([deleted], [], from: StoreID(high: 0, low: 3))
    try b.receive([deleted], [], from: StoreID(high: 0, low: 3))
    #expect(try Self.news(a, from: b).records.filter(\.isNews).map(\.id) == [Self.item])
    try b.receive(from: a)
    #expect(b.states == a.states)
    #expect(try !Self.news(a, from: b).hasNews && !Self.news(b, from: a).hasNews)
  }

  @Test func whoSendsALinkThatWasRemovedHereIsToldOnce() throws {
    var (a, b) = try Self.apart(.lastWriter) { $0.link(Self.link, false, Self.stamp(20, $0)) }
    let plan = try Self.news(a, from: b)
    #expect(plan.linkStates.map(\.key) == [Self.link] && plan.linkStates[0].origin == nil)
    #expect(plan.newsCount == 0 && plan.links.allSatisfy(\.added.isEmpty))
    try a.receive(from: b)
    try b.receive(from: a)
    #expect(b.joined.isEmpty)
    #expect(try !Self.news(a, from: b).hasNews && !Self.news(b, from: a).hasNews)
  }

  /// What was overwritten is not deleted: who sends the former value gets the later one anyway, in its turn.
  @Test func whoSendsAFormerValueIsNotToldAgain() throws {
    let (a, b) = try Self.apart(.lastWriter) {
      $0.write(Self.item, "value", .string("later"), Self.stamp(20, $0))
    }
    #expect(try !Self.news(a, from: b).hasNews)
  }

  @Test func whoSendsAWriteThatBringsTheRecordBackHasNewsItself() throws {
    var (a, b) = try Self.apart(.lastWriter) { $0.delete(Self.item, Self.stamp(20, $0)) }
    b.write(Self.item, "value", .string("later"), Self.stamp(30, b))
    try a.receive(from: b)
    #expect(a.rows[Self.item] != nil)
    try b.receive(from: a)
    #expect(try !Self.news(a, from: b).hasNews && !Self.news(b, from: a).hasNews)
  }
}
