import CairnContext
import CairnModel
import CairnStore
import CairnTesting
import Foundation
import GRDB
import TestSupport
import Testing

@testable import CairnSync

/// Specification: sync.md 5 and 7, of two values of one write: a program with SQL of its own, or a disk, changed one
/// of them past history.
struct ContradictionTests {
  private func change(_ replica: URL, to value: String) async throws {
    let file = try DatabaseQueue(patient: replica.path)
    try await file.write {
      try $0.execute(sql: "UPDATE ZITEM SET ZVALUE = ? WHERE ZKEY = 'k'", arguments: [value])
    }
    try file.close()
  }

  private func pass(_ daemon: SyncEngineTests.Daemon) async throws {
    try await daemon.engine.link("nas").completePass(timeout: .patience)
  }

  /// Either value may be the greater.
  @Test(arguments: ["zzzzz", "aaaaa"])
  func theValueThatLosesIsKeptAndTheStoresAreNotCalledEqualUntilTheyAreRead(
    changed: String
  ) async throws {
    let duet = try await Duet.make()
    try await change(duet.replica, to: changed)
    // Another property brings the whole record along.
    try duet.there.site.write { try duet.there.set("k", "other", 2.0, in: $0) }
    try await pass(duet.there)
    try await pass(duet.here)
    try await pass(duet.there)
    let (winner, loser) = changed > "first" ? (changed, "first") : ("first", changed)
    for daemon in [duet.here, duet.there] { #expect(try daemon.item("k", "value") == winner) }
    let journal = try await duet.there.engine.conflicts().conflicts.map(\.conflict)
    let lost = try #require(journal.first { $0.property == "value" })
    #expect(lost.rule == .contradiction)
    #expect(lost.losingValue == .string(loser) && lost.winningValue == .string(winner))
    #expect(lost.losingStamp == lost.winningStamp)
    let known = try #require(try duet.there.engine.status().replicas[0].differences)
    #expect(known.lasting > 0 && known.contradictions == known.count)
    let error = await #expect(throws: SyncError.self) {
      try await duet.there.engine.wait(timeout: .patience)
    }
    #expect(error?.code == .recordsHeld)
    #expect(error?.message.contains("not what was written") == true)
    #expect(try await duet.there.engine.verify(name: "nas", level: .quick).isEqual)
    #expect(try duet.there.engine.status().replicas[0].differences != nil)
    #expect(try await duet.there.engine.verify(name: "nas").isEqual)
    try await duet.there.engine.wait(timeout: .patience)
    try await duet.close()
  }

  @Test func whatAPassHasMetIsKnownAfterARestart() async throws {
    let duet = try await Duet.make()
    try await change(duet.replica, to: "zzz")
    try duet.there.site.write { try duet.there.set("k", "other", 2.0, in: $0) }
    try await pass(duet.there)
    let local = duet.there.site.access
    let id = try #require(duet.there.engine.link("nas").replica).ledger().storeID
    let known = try #require(try local.knownDifferences(with: id))
    #expect(known.contradictions > 0 && known.level == .full)
    #expect(known.text.hasSuffix("not what was written"))
    try await duet.close()
  }

  /// No program wrote what a model's migration filled in, and a reference to a record that became another is the
  /// same one.
  @Test func valuesThatOnlyLookDifferentAreNoContradiction() throws {
    let stamp = PropertyWrite(
      stamp: Stamp(clock: ClockReading(milliseconds: 5), store: StoreID(high: 1, low: 1)))
    func state(_ value: WireValue, _ write: PropertyWrite) -> RecordState {
      RecordState(
        id: RecordID(high: 1, low: 1), entity: "Item",
        registers: ["value": Register(value: value, write: write)])
    }
    func lost(_ write: PropertyWrite) -> [Conflict] {
      RecordDecision.decide(
        mine: state(.string("a"), write), theirs: state(.string("b"), write), policy: .lastWriter
      ).conflicts
    }
    #expect(lost(stamp).map(\.losingValue) == [.string("a")])
    #expect(lost(.filledIn).isEmpty)
  }

  /// What a record became in a union may arrive after what refers to it, which then has another reference of the same
  /// write: the journal has it, but no program changed anything past history.
  @Test(arguments: [true, false])
  func aReferenceToWhatHasNotArrivedIsNoneYet(hasArrived: Bool) throws {
    let fleet = Fleet(seed: 8)
    let a = try fleet.add("a")
    let objects = try a.write { context in
      let parent = try a.insert("Item", ["key": "p"], in: context)
      return [
        parent, try a.insert("Item", ["key": "other"], in: context),
        try a.insert("Item", ["key": "k", "parent": parent], in: context),
      ]
    }.map(\.objectID)
    try HistoryCapture(access: a.access).run()
    let ledger = try a.access.ledger()
    let ids = try objects.compactMap(ledger.recordID)
    let source = StoreID(high: 9, low: 9)
    var set = try ChangeExporter(access: a.access, destination: source).states(of: [ids[2]])
    let target = hasArrived ? ids[1] : RecordID(high: 1, low: 1)
    let written = try #require(set.records[0].registers["parent"]).write
    set.records[0].registers["parent"] = Register(value: .reference(target), write: written)
    let incoming = ChangeSet(source: source, after: 0, upTo: 0, records: set.records)
    let context = ManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = fleet.coordinator
    let outcome = try context.performAndWait {
      try ChangeImporter(access: a.access, context: context).apply(incoming, cursor: nil)
    }
    #expect(outcome.contradictions == (hasArrived ? 1 : 0))
    #expect(try ReplicationTests().journal(a).map(\.rule) == [.contradiction])
  }
}
