import Testing

@testable import CairnSync

struct RecordDecisionTests {
  let a = StoreID(high: 0, low: 1)
  let b = StoreID(high: 0, low: 2)
  let id = RecordID(high: 1, low: 1)

  func stamp(_ clock: UInt64, _ store: StoreID) -> Stamp {
    Stamp(clock: ClockReading(bits: clock), store: store)
  }
  func state(_ value: Int64, _ write: PropertyWrite) -> RecordState {
    RecordState(
      id: id, entity: "Item",
      registers: ["p": Register(value: .integer(value), write: write)])
  }

  @Test func theGreaterStampWinsAndAConcurrentLoserIsReported() throws {
    let mine = state(1, PropertyWrite(stamp: stamp(5, a)))
    let theirs = state(2, PropertyWrite(stamp: stamp(6, b)))
    let decision = RecordDecision.decide(mine: mine, theirs: theirs, policy: .lastWriter)
    #expect(decision.merged.registers["p"]?.value == .integer(2))
    let conflict = try #require(decision.conflicts.first)
    #expect(conflict.losingValue == .integer(1) && conflict.winningValue == .integer(2))
    let back = RecordDecision.decide(mine: theirs, theirs: mine, policy: .lastWriter)
    #expect(back.merged == decision.merged && back.conflicts.map(\.losingValue) == [.integer(1)])
  }

  @Test func anOverwriteByAWriterWhoSawTheValueIsNoConflict() {
    let first = PropertyWrite(stamp: stamp(5, a))
    let mine = state(1, first)
    let theirs = state(2, first.overwritten(at: stamp(6, b)))
    let decision = RecordDecision.decide(mine: mine, theirs: theirs, policy: .lastWriter)
    #expect(decision.conflicts.isEmpty && decision.merged.registers["p"]?.value == .integer(2))
    // Three writes later, the first is still known.
    let later = first.overwritten(at: stamp(6, b)).overwritten(at: stamp(7, a))
      .overwritten(at: stamp(8, b))
    #expect(later.hasSeen(first) && !later.isConcurrent(with: first))
  }

  @Test(arguments: [
    (DeleteConflictPolicy.lastWriter, UInt64(9), true),
    (.lastWriter, 4, false),
    (.deleteWins, 9, false),
    (.deleteWins, 4, false),
    (.writeWins, 9, true),
    (.writeWins, 4, true),
  ])
  func aDeleteAgainstAWriteItHadNotSeenFollowsThePolicy(
    policy: DeleteConflictPolicy, writeClock: UInt64, survives: Bool
  ) {
    var deleted = RecordState(id: id, entity: "Item")
    deleted.deletion = Deletion(stamp: stamp(6, a))
    let written = state(1, PropertyWrite(stamp: stamp(writeClock, b)))
    let atDeleter = RecordDecision.decide(mine: deleted, theirs: written, policy: policy)
    let atWriter = RecordDecision.decide(mine: written, theirs: deleted, policy: policy)
    #expect(atDeleter.merged == atWriter.merged)
    #expect(atDeleter.merged.isAlive(under: policy) == survives)
    #expect(atDeleter.conflicts == atWriter.conflicts && atWriter.conflicts.count == 1)
    #expect(atWriter.conflicts.first?.rule == (survives ? .writeWon : .deleteWon))
  }

  @Test func aDeleteByAWriterWhoSawEveryWriteIsCarriedOutUnderAllPolicies() {
    let write = PropertyWrite(stamp: stamp(5, b))
    var seen = SeenWrites()
    seen.insert(write.stamp)
    var deleted = RecordState(id: id, entity: "Item")
    deleted.deletion = Deletion(stamp: stamp(6, a), seen: seen)
    for policy in DeleteConflictPolicy.allCases {
      let decision = RecordDecision.decide(
        mine: state(1, write), theirs: deleted, policy: policy)
      #expect(!decision.merged.isAlive(under: policy) && decision.conflicts.isEmpty, "\(policy)")
    }
  }

  @Test func whatAMigrationFilledInBringsNoDeletedRecordBack() {
    let id = RecordID(high: 1, low: 1)
    let store = StoreID(high: 1, low: 1)
    let stamp = Stamp(clock: ClockReading(milliseconds: 10), store: store)
    let state = RecordState(
      id: id, entity: "E",
      registers: [
        "a": Register(value: .integer(1), write: PropertyWrite(stamp: stamp)),
        "added": Register(value: .null, write: .filledIn),
      ],
      deletion: Deletion(stamp: Stamp(clock: stamp.clock.next, store: store), seen: SeenWrites()))
    for policy in DeleteConflictPolicy.allCases { #expect(!state.isAlive(under: policy)) }
  }

  @Test func aWriteAtTheDeletesOwnStampBringsNoDeletedRecordBack() {
    let stamp = Stamp(clock: ClockReading(milliseconds: 10), store: StoreID(high: 1, low: 1))
    let state = RecordState(
      id: RecordID(high: 1, low: 1), entity: "E",
      registers: ["a": Register(value: .integer(1), write: PropertyWrite(stamp: stamp))],
      deletion: Deletion(stamp: stamp, seen: SeenWrites()))
    for policy in DeleteConflictPolicy.allCases { #expect(!state.isAlive(under: policy)) }
  }

  /// One save deletes a record and inserts another with the same unique value; a write that the deleter had
  /// not seen keeps the first alive.
  @Test func liveRecordsThatAreUnitedStayAliveWhateverTheDeleteOfOneHadSeen() throws {
    var kept = state(1, PropertyWrite(stamp: stamp(4, b)))
    kept.deletion = Deletion(stamp: stamp(6, a))
    let new = RecordState(
      id: RecordID(high: 1, low: 2), entity: "Item",
      registers: ["p": Register(value: .integer(2), write: PropertyWrite(stamp: stamp(6, a)))])
    let policy = DeleteConflictPolicy.writeWins
    #expect(kept.isAlive(under: policy) && new.isAlive(under: policy))
    let result = RecordDecision.unite(kept, new, policy: policy)
    #expect(result.survivor.isAlive(under: policy))
    #expect(result.survivor.registers["p"]?.value == .integer(2))
    #expect(result.conflicts.map(\.losingValue) == [.integer(1)])
    // A store that has united them already gets nothing new, in either order.
    let again = RecordDecision.unite(new, result.survivor, policy: policy)
    #expect(again.survivor == result.survivor && again.tombstone == result.tombstone)
    #expect(kept.joined(with: result.survivor) == result.survivor)
    // Who writes later is later.
    let write = try #require(result.survivor.registers["p"]?.write)
    let first = try #require(new.registers["p"]?.write)
    #expect(write.hasSeen(first) && write.overwritten(at: stamp(9, a)).hasSeen(write))
  }
}
