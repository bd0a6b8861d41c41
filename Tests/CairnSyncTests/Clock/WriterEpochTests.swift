import CairnContext
import CairnStore
import Foundation
import Testing

@testable import CairnSync

/// Specification: sync.md 2.2 and 3: a write's seen writes are known also where a store's stamps go
/// back.
struct WriterEpochTests {
  /// The store by a clock that is wrong by a day.
  private func aDayAhead(_ access: StoreAccess) -> StoreAccess {
    var environment = access.environment
    let now = environment.now
    environment.now = { now() + 86_400_000 }
    return StoreAccess(
      store: access.store, schema: access.schema, environment: environment,
      configuration: access.configuration)
  }

  @Test func whatIsWrittenAfterTheClockWentBackHasAnotherIdentity() throws {
    let fleet = Fleet(seed: 91)
    let ledger = try fleet.add("a").access.ledger()
    let ahead = ledger.tick(milliseconds: 9_000_000, limit: 9_000_000)
    #expect(ahead.store == ledger.storeID)
    #expect(ledger.tick(milliseconds: 8_000_000, limit: 9_000_000).store == ahead.store)
    let back = ledger.tick(milliseconds: 2_000_000, limit: 2_000_000)
    #expect(back.clock < ahead.clock && back.store != ahead.store)
    #expect(back.store.isEpoch(of: ledger.storeID))
    #expect(ledger.tick(milliseconds: 2_000_001, limit: 9_000_000).store == back.store)
    let deletion = Deletion(
      stamp: Stamp(clock: ahead.clock.next, store: StoreID(high: 1, low: 1)),
      seen: SeenWrites([ahead.store: ahead.clock]))
    #expect(deletion.hasSeen(ahead) && !deletion.hasSeen(back))
  }

  @Test func aHeadIsReadByOlderVersionsUnlessItsClockWentBack() throws {
    var head = SyncHead()
    head.incarnation = StoreID(high: 3, low: 4)
    #expect(head.encoded.first == 2)
    head.epoch = 7
    #expect(head.encoded.first == 3)
    #expect(try SyncHead(decoding: head.encoded) == head)
    head.epoch = 0
    #expect(try SyncHead(decoding: head.encoded) == head)
  }

  /// What a store stamps anew stays later than the values of others that it replaced.
  @Test func whatIsStampedAnewStaysLaterThanWhatItsWriterHadSeen() throws {
    let fleet = Fleet(seed: 94)
    let set: (inout SyncConfiguration) -> Void = { $0.allowedClockSkew = 300_000 }
    // Programs' times are later than all that is believed, so that this is what they are stamped with.
    let a = try fleet.add("a", configure: set)
    let b = try fleet.add("b", skew: -50_000, configure: set)
    try b.write { _ = try b.insert("Item", ["key": "k", "value": "theirs"], in: $0) }
    try fleet.pass(a, b, direction: .pull)
    try a.write { try a.find("Item", "k", in: $0)?.setValue("mine", forKey: "value") }
    let wrong = aDayAhead(a.access)
    try HistoryCapture(access: wrong).run()
    #expect(try ClockRestart(access: a.access).runIfNeeded() != nil)
    _ = try fleet.settle([(a, b)])
    for site in [a, b] { #expect(try site.picture() == ["item k mine nil ^- []"], "\(site.name)") }
  }

  /// A read captures what a program has just written, by a clock that is wrong since the reader said that it is there.
  @Test func whatAReaderHasSeenKeepsItsStampAlsoWhereItWasCapturedOnTheWay() throws {
    let fleet = Fleet(seed: 96)
    let a = try fleet.add("a")
    let context = ManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = a.coordinator
    try a.write { _ = try a.insert("Item", ["key": "k"], in: $0) }
    let object = try a.write { try #require(try a.find("Item", "k", in: $0)).objectID }
    let (reader, other) = (StoreID(high: 5, low: 5), StoreID(high: 6, low: 6))
    let wrong = StoreSide(access: aDayAhead(a.access), context: context)
    let stream = try wrong.streams()[0]
    try wrong.acknowledge(reader, at: 0, of: stream)
    try HistoryCapture(access: wrong.access).run()
    let set = try #require(
      try wrong.changes(after: SyncCursor(), of: stream, for: reader)
    ).set
    #expect(try ClockRestart(access: a.access).runIfNeeded() != nil)
    func stamp() throws -> Stamp? {
      let ledger = try a.access.ledger()
      return try ledger.recordID(for: object).flatMap { try ledger.record($0)?.base?.stamp }
    }
    #expect(try stamp() == set.records[0].registers["key"]?.write.stamp)
    // What is later than the clock is served to others, too, who have seen it then.
    let right = StoreSide(access: a.access, context: context)
    #expect(
      try right.changes(after: SyncCursor(), of: stream, for: other)?.set.records == set.records)
    let notes = try a.access.readers()
    for id in [reader, other] {
      #expect(try #require(notes[id]).reading >= #require(try stamp()).clock, "\(id)")
    }
  }

  /// What had lost to a value from the future comes back where that gets an earlier stamp.
  @Test func whatLostToAValueFromTheFutureIsReadAgainWhenThatIsStampedAnew() throws {
    let fleet = Fleet(seed: 95)
    let skewed: (inout SyncConfiguration) -> Void = { $0.allowedClockSkew = 300_000 }
    // Later by its clock than what the other can give its writes anew.
    let (a, b) = (
      try fleet.add("a", configure: skewed), try fleet.add("b", skew: 100_000, configure: skewed)
    )
    try a.write { _ = try a.insert("Item", ["key": "k"], in: $0) }
    _ = try fleet.settle([(a, b)])
    try a.write { try a.find("Item", "k", in: $0)?.setValue("early", forKey: "value") }
    let wrong = aDayAhead(a.access)
    try HistoryCapture(access: wrong).run()
    fleet.advance(1000)
    try b.write { try b.find("Item", "k", in: $0)?.setValue("late", forKey: "value") }
    // The clock is still wrong: the value from the future wins, and no other store gets it yet.
    try HistoryCapture(access: b.access).run()
    let exporter = ChangeExporter(access: b.access, destination: try wrong.ledger().storeID)
    let cursor = try wrong.ledger().cursor(for: try b.access.ledger().storeID)
    let set = try #require(try exporter.next(after: cursor))
    let next = SyncCursor(position: set.upTo, mark: try b.access.mark(at: set.upTo))
    let context = ManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = a.coordinator
    _ = try context.performAndWait {
      try ChangeImporter(access: wrong, context: context).apply(set, cursor: next)
    }
    #expect(try a.picture() == ["item k early nil ^- []"])
    fleet.advance(200_000)
    _ = try fleet.settle([(a, b)])
    for site in [a, b] { #expect(try site.picture() == ["item k late nil ^- []"], "\(site.name)") }
  }

  @Test func readingFromTheStartKeepsTheProofOfIdentityAndMissesNothingPurged() throws {
    let cursor = SyncCursor(position: 9, streamingUntil: 4, mark: 77)
    #expect(cursor.fromStart == SyncCursor(position: 0, streamingUntil: 9, mark: 77))
    #expect(cursor.fromStart.markedPosition == 9 && cursor.markedPosition == 9)
    // The mark of the middle of a copy is not that of its end.
    let copying = SyncCursor(position: 3, streamingUntil: 8, mark: 66)
    #expect(copying.fromStart == SyncCursor(position: 0, streamingUntil: 8, mark: 0))
    #expect(SyncCursor().fromStart == SyncCursor())
    // Nor has it been told of what was forgotten since it began.
    let behind = SyncCursor(position: 3, streamingUntil: 8, mark: 66, forgotten: 2)
    #expect(behind.furthest == 3 && behind.fromStart.furthest == 3)
    #expect(try SyncCursor(decoding: behind.encoded) == behind)
    // As written by versions that took the end of the copy for it.
    #expect(try SyncCursor(decoding: behind.encoded.prefix(24)).furthest == 8)
  }

  /// The value from the future that a store has overwritten is later than all that it writes after that.
  @Test func aDeleteHasNotSeenWhatWasWrittenAfterAValueFromTheFutureWasReplaced() throws {
    let fleet = Fleet(seed: 92)
    let set: (inout SyncConfiguration) -> Void = { $0.deleteConflicts = .writeWins }
    let (a, b) = (try fleet.add("a", configure: set), try fleet.add("b", configure: set))
    let ahead = try fleet.add("ahead", skew: 3_600_000, configure: set)
    try a.write { _ = try a.insert("Item", ["key": "k"], in: $0) }
    _ = try fleet.settle([(a, b), (a, ahead)])
    try ahead.write { try ahead.find("Item", "k", in: $0)?.setValue("late", forKey: "value") }
    func believe(_ site: Fleet.Site) throws {
      try site.access.accept(try site.access.held(.all).stamps, isExact: true)
    }
    try fleet.pass(a, ahead)
    try believe(a)
    try fleet.pass(a, ahead)
    fleet.advance(10)
    try a.write { try a.find("Item", "k", in: $0)?.setValue("over", forKey: "value") }
    try fleet.pass(a, b)
    try believe(b)
    try fleet.pass(a, b)
    #expect(try b.picture() == ["item k over nil ^- []"])
    fleet.advance(10)
    try a.write { try a.find("Item", "k", in: $0)?.setValue(2.0, forKey: "other") }
    try b.write { context in try b.find("Item", "k", in: context).map(context.delete) }
    try fleet.pass(a, b)
    for site in [a, b] { try believe(site) }
    _ = try fleet.settle([(a, b)])
    for site in [a, b] { #expect(try site.picture() == ["item k over 2.0 ^- []"], "\(site.name)") }
  }
}
