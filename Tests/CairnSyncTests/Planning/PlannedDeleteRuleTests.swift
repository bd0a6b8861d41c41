import CairnModel
import Foundation
import Testing

@testable import CairnSync

/// What the model's delete rules do to records that the deleter did not know.
struct PlannedDeleteRuleTests {
  private static let item = PlanLawTests.item
  private static let part = PlanLawTests.part

  private static func stamp(_ time: UInt64, _ store: PureStore) -> Stamp {
    Stamp(clock: ClockReading(bits: time), store: store.id)
  }

  /// One store has deleted an item; another has given it a part, later and without knowing that.
  private static func apart(
    _ setting: ImportSetting
  ) throws -> (deleter: PureStore, writer: PureStore) {
    var (a, b) = (PureStore(1, setting), PureStore(2, setting))
    a.insert(item, "Item", ["key": .string("i")], stamp(10, a))
    try b.receive(from: a)
    a.delete(item, stamp(20, a))
    b.insert(part, "Part", ["key": .string("p"), "item": .reference(item)], stamp(30, b))
    return (a, b)
  }

  private static func meet(_ a: inout PureStore, _ b: inout PureStore) throws {
    var stores = [a, b]
    try PlanLawTests.settle(&stores, [(0, 1), (1, 0)])
    (a, b) = (stores[0], stores[1])
  }

  @Test(arguments: DeleteConflictPolicy.allCases, [false, true])
  func whatTheDeleterDidNotKnowGoesAlongInWhateverOrderTheyArrive(
    policy: DeleteConflictPolicy, deleteFirst: Bool
  ) throws {
    let setting = try PlanLawTests.setting(policy)
    let (a, b) = try Self.apart(setting)
    var third = PureStore(3, setting)
    for sender in deleteFirst ? [a, b] : [b, a] { try third.receive(from: sender) }
    #expect(third.picture == [] && third.flaw() == nil)
    // Nobody wrote a delete of the part.
    #expect(third.state(Self.part)?.deletion == nil)
  }

  @Test func theValuesThatWentAlongAreInTheJournal() throws {
    let setting = try PlanLawTests.setting(.lastWriter)
    var (a, b) = try Self.apart(setting)
    let plan = try b.plan(a.states, [], from: a.id)
    let lost = plan.conflicts.filter { $0.record == Self.part }
    #expect(lost.contains { $0.property == "key" && $0.losingValue == .string("p") })
    #expect(lost.allSatisfy { $0.rule == .deleteWon && $0.winningStamp == Self.stamp(20, a) })
    try Self.meet(&a, &b)
    #expect(a.journal == b.journal && !a.journal.isEmpty)
  }

  @Test func aWriteThatBringsTheOwnerBackBringsBackWhatWentAlong() throws {
    let setting = try PlanLawTests.setting(.lastWriter)
    var (a, b) = try Self.apart(setting)
    var late = PureStore(3, setting)
    try late.receive([try #require(b.state(Self.item))], [], from: b.id)
    late.write(Self.item, "value", .string("late"), Self.stamp(40, late))
    try Self.meet(&a, &b)
    #expect(a.picture == [] && b.picture == [])
    try a.receive(from: late)
    #expect(a.picture.contains { $0.hasPrefix("Part") && $0.contains("item=1") })
    try b.receive(from: a)
    #expect(a.picture == b.picture && a.flaw() == nil)
  }

  @Test func whatTheDeleterKnewAndAWriteBroughtBackStays() throws {
    let setting = try PlanLawTests.setting(.lastWriter)
    var (a, b) = (PureStore(1, setting), PureStore(2, setting))
    a.insert(Self.item, "Item", ["key": .string("i")], Self.stamp(10, a))
    a.insert(
      Self.part, "Part", ["key": .string("p"), "item": .reference(Self.item)], Self.stamp(11, a))
    try b.receive(from: a)
    a.delete(Self.item, Self.stamp(20, a))
    b.write(Self.part, "key", .string("kept"), Self.stamp(30, b))
    try Self.meet(&a, &b)
    #expect(a.picture.count == 1 && a.picture[0].contains("kept"))
    #expect(a.picture == b.picture)
  }

  // MARK: Deny

  private static func denying() throws -> ImportSetting {
    try PlanLawTests.setting(.lastWriter, denies: true)
  }

  @Test func aDeniedDeleteKeepsTheRecordAndIsHeld() throws {
    let (a, b) = try Self.apart(try Self.denying())
    var store = b
    try store.receive(from: a)
    #expect(store.picture == b.picture)
    let held = try #require(store.quarantine[.record(Self.item)])
    #expect(held.reason == .validation && held.message.contains("parts"))
    // The part goes, and with it what stood in the way.
    store.delete(Self.part, Self.stamp(40, store))
    try store.retry()
    #expect(store.picture == [] && store.quarantine.isEmpty)
  }

  @Test func aDeniedDeleteIsDeniedInWhateverOrderTheyArrive() throws {
    let setting = try Self.denying()
    let (a, b) = try Self.apart(setting)
    var (deleteFirst, deleteLast) = (PureStore(3, setting), PureStore(4, setting))
    for sender in [a, b] { try deleteFirst.receive(from: sender) }
    for sender in [b, a] { try deleteLast.receive(from: sender) }
    for store in [deleteFirst, deleteLast] {
      #expect(store.picture == b.picture && store.flaw() == nil)
      #expect(store.quarantine[.record(Self.item)] != nil)
    }
    #expect(deleteFirst.states == deleteLast.states)
  }

  @Test func theDeleterItselfGetsBackWhatItWasNotAllowedToDelete() throws {
    var (a, b) = try Self.apart(try Self.denying())
    try Self.meet(&a, &b)
    #expect(a.picture == b.picture && a.picture.count == 3)
    #expect(a.journal == b.journal && !a.journal.isEmpty)
    b.delete(Self.part, Self.stamp(40, b))
    try b.retry()
    try Self.meet(&a, &b)
    #expect(a.picture == [] && b.picture == [])
    #expect(a.quarantine.isEmpty && b.quarantine.isEmpty)
  }

  @Test func theJournalTellsOfADeniedDelete() throws {
    let (a, b) = try Self.apart(try Self.denying())
    let plan = try b.plan(a.states, [], from: a.id)
    let lost = plan.conflicts.filter { $0.record == Self.item }
    #expect(lost.count == 1)
    #expect(lost.first?.rule == .writeWon && lost.first?.losingStamp == Self.stamp(20, a))
    #expect(lost.first?.winningValue == .reference(Self.part))
  }
}
