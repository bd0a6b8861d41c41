import CairnContext
import CairnModel
import CairnStore
import Foundation
import Testing

@testable import CairnSync

// Several writers of one store's bookkeeping: only those who meet at a record stand in each other's way.
struct ContentionTests {
  /// Two stores in files, the replica with items that the local store does not have.
  struct Pair: Sendable {
    let scratch: Scratch
    let fleet: Fleet
    let local: Fleet.Site
    let replica: Fleet.Site

    init(items: Int = 0, batchSize: Int = 1000) throws {
      scratch = try Scratch()
      fleet = Fleet(seed: 1, directory: scratch.url)
      local = try fleet.add("local") { $0.batchSize = batchSize }
      replica = try fleet.add("replica") { $0.batchSize = batchSize }
      if items > 0 { try insert((0..<items).map { "k\($0)" }, in: replica) }
    }

    func insert(_ keys: [String], in site: Fleet.Site) throws {
      try site.write { context in
        for key in keys { _ = try site.insert("Item", ["key": key, "value": "0"], in: context) }
      }
    }

    /// An application saves, and another process stamps what it saved at once.
    func writeElsewhere(
      _ site: Fleet.Site, _ work: (ManagedObjectContext) throws -> Void
    ) throws {
      try site.write(work)
      try HistoryCapture(access: site.access).run()
    }

    func write(_ value: String, to key: String, in site: Fleet.Site) throws {
      try site.write { context in
        try site.find("Item", key, in: context)?.setValue(value, forKey: "value")
      }
    }

    /// Runs a pass and adds up what it reports.
    func pass() throws -> PassReport {
      let context = ManagedObjectContext(.privateQueue)
      context.persistentStoreCoordinator = fleet.coordinator
      let pass = SyncPass(local: local.access, replica: replica.access, context: context)
      var machine = PassState(direction: .both)
      var sum = PassReport(event: .drained)
      while let step = machine.step {
        let report = try context.performAndWait { try pass.perform(step) }
        sum.records += report.records
        sum.replans += report.replans
        machine.take(report.event)
      }
      return sum
    }

    /// The digests are complete, and those that counting anew gives.
    func expectDigests() throws {
      for site in [local, replica] {
        let stored = try #require(try site.access.ledger().value(SyncKey.digests))
        #expect(try DigestState(decoding: stored).extent == .all)
        #expect(try !DigestBuild(access: site.access).audit())
      }
    }

    func expectEqual(_ comment: Comment? = nil) throws {
      _ = try fleet.settle([(local, replica)])
      #expect(try local.picture() == replica.picture(), comment)
    }
  }

  @Test func aCommitForOtherRecordsIsNoReasonToPlanAgain() throws {
    let pair = try Pair(items: 20)
    pair.fleet.interrupt(pair.local, at: .beforeImportCommit) {
      try pair.writeElsewhere(pair.local) {
        _ = try pair.local.insert("Item", ["key": "own"], in: $0)
      }
    }
    let report = try pair.pass()
    #expect(pair.fleet.wasInterrupted && report.replans == 0)
    #expect(report.records == 21)
    try pair.expectEqual()
    try pair.expectDigests()
    #expect(try pair.local.picture().count == 21)
  }

  @Test func aCommitForARecordOfTheBatchIsPlannedOn() throws {
    let pair = try Pair(items: 20)
    _ = try pair.pass()
    for number in 0..<20 { try pair.write("replica", to: "k\(number)", in: pair.replica) }
    try HistoryCapture(access: pair.replica.access).run()
    pair.fleet.advance(5)
    pair.fleet.interrupt(pair.local, at: .afterPlan) {
      try pair.write("later", to: "k7", in: pair.local)
      try HistoryCapture(access: pair.local.access).run()
    }
    let report = try pair.pass()
    #expect(pair.fleet.wasInterrupted && report.replans == 1)
    try pair.expectEqual()
    try pair.expectDigests()
    #expect(try pair.local.picture().contains { $0.hasPrefix("item k7 later") })
    #expect(try pair.local.picture().filter { $0.contains(" replica ") }.count == 19)
  }

  @Test func whatCameInBetweenAndWhatIsRebasedBothStandInTheChangeOrder() throws {
    let pair = try Pair(items: 5)
    let third = try pair.fleet.add("third")
    pair.fleet.interrupt(pair.local, at: .beforeImportCommit) {
      try pair.writeElsewhere(pair.local) {
        _ = try pair.local.insert("Item", ["key": "own"], in: $0)
      }
    }
    _ = try pair.fleet.pass(pair.local, pair.replica, direction: .pull)
    let changes = try #require(pair.local.store.capabilities.sidecar).sidecarEntries(
      of: SyncMap.changes.rawValue, from: nil, to: nil, limit: 0)
    let ledger = try pair.local.access.ledger()
    var last: UInt64 = 0
    for (key, _) in changes where key[key.startIndex + 8] == SyncKey.recordKind {
      var reader = ByteReader(key)
      let sequence = try reader.fixed()
      let id = try SyncKey.identity(RecordID.self, in: key.dropFirst(9))
      #expect(try ledger.record(id)?.sequence == sequence)
      last = max(last, sequence)
    }
    #expect(last == ledger.head.sequence)
    #expect(try pair.local.access.mark(at: last) != 0)
    // A reader that was in between misses nothing of either.
    _ = try pair.fleet.settle([(pair.local, third)])
    #expect(try third.picture() == pair.local.picture() && third.picture().count == 6)
  }

  @Test func aCaptureIsNotDoneAgainForWhatWasImportedMeanwhile() throws {
    let pair = try Pair(items: 3)
    pair.fleet.interrupt(pair.local, at: .beforeCaptureCommit) {
      _ = try pair.fleet.pass(pair.local, pair.replica, direction: .pull)
    }
    try pair.insert(["own"], in: pair.local)
    try HistoryCapture(access: pair.local.access).run()
    try pair.expectEqual()
    #expect(try pair.local.picture().count == 4)
  }

  @Test func twoWhoCaptureTheSameHistoryStampItOnce() throws {
    let pair = try Pair()
    try pair.insert(["a", "b"], in: pair.local)
    pair.fleet.interrupt(pair.local, at: .beforeCaptureCommit) {
      try HistoryCapture(access: pair.local.access).run()
    }
    try HistoryCapture(access: pair.local.access).run()
    let entries = try #require(pair.local.store.capabilities.sidecar).sidecarEntries(
      of: SyncMap.records.rawValue, from: nil, to: nil, limit: 0)
    #expect(entries.count == 2)
    try pair.expectEqual()
  }

  @Test func aDeleteIsPlannedOnAllThatWasCommittedBefore() throws {
    let pair = try Pair(items: 3)
    _ = try pair.pass()
    try pair.replica.write { context in
      try pair.replica.find("Item", "k1", in: context).map(context.delete)
    }
    pair.fleet.interrupt(pair.local, at: .beforeImportCommit) {
      try pair.writeElsewhere(pair.local) { context in
        let child = try pair.local.insert("Item", ["key": "child"], in: context)
        child.setValue(try pair.local.find("Item", "k1", in: context), forKey: "parent")
      }
    }
    let report = try pair.pass()
    #expect(pair.fleet.wasInterrupted && report.replans > 0)
    try pair.expectEqual()
    #expect(try pair.local.picture().contains { $0.hasPrefix("item child") })
  }

  /// Moves what is to be written behind others' numbers wherever a number stands.
  @Test func aShiftKeepsAllPlacesThatNameANumberInStep() throws {
    let id = RecordID(high: 1, low: 2)
    var entry = RecordEntry(entity: "Item", key: .row(1))
    entry.sequence = 12
    let link = LinkKey(relationship: "Item.tags", owner: id, member: id)
    var linkEntry = LinkEntry(
      state: LinkState(
        stamp: Stamp(clock: .beforeSync, store: StoreID(high: 0, low: 1)), isMember: true))
    linkEntry.sequence = 9
    let shift = SequenceShift(after: 10, by: 5)
    let entries: [SidecarKey: Data?] = [
      SyncKey.record(id): entry.encoded, SyncKey.change(12, record: id): Data(),
      SyncKey.change(3, record: id): nil,
      SyncKey.link(link): linkEntry.encoded,
    ]
    entry.sequence = 17
    let expected: [SidecarKey: Data?] = [
      SyncKey.record(id): entry.encoded, SyncKey.change(17, record: id): Data(),
      SyncKey.change(3, record: id): nil,
      SyncKey.link(link): linkEntry.encoded,
    ]
    #expect(try shift.entries(entries) == expected)
  }
}
