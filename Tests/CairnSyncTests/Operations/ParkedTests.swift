import CairnContext
import CairnModel
import CairnStore
import CairnTesting
import Foundation
import Testing

@testable import CairnSync

/// Specification: sync.md 4, "Dangling references": what refers to a record that only a lost store had.
struct ParkedTests {
  /// The record that is lost.
  private let lost = RecordID(high: 0x0195_0700_1A2B_7C3D, low: 0x8E4F_5A6B_7C8D_9E0F)
  /// The store that had it.
  private let source = StoreID(high: 9, low: 9)

  /// Two daemons on one replica; the items with these keys refer to what is lost.
  private func duet(_ keys: [String] = ["k"], by property: String = "parent") throws -> Duet {
    let duet = try Duet()
    let site = duet.here.site
    let objects = try site.write { context in
      try keys.map { try site.insert("Item", ["key": $0], in: context) }
    }.map(\.objectID)
    try HistoryCapture(access: site.access).run()
    let ledger = try site.access.ledger()
    var set = try ChangeExporter(access: site.access, destination: source)
      .states(of: Set(try objects.compactMap(ledger.recordID)))
    for index in set.records.indices {
      let written = try #require(set.records[index].registers["key"]).write
      let stamp = Stamp(clock: written.stamp.clock.next, store: source)
      set.records[index].registers[property] = Register(
        value: .reference(lost), write: PropertyWrite(stamp: stamp))
    }
    try apply(set.records, to: duet.here)
    return duet
  }

  private func linkedDuet(_ keys: [String] = ["k"]) throws -> Duet {
    let duet = try duet(keys)
    try duet.link()
    return duet
  }

  private func apply(_ records: [RecordState], to daemon: SyncEngineTests.Daemon) throws {
    let context = ManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = daemon.site.coordinator
    let set = ChangeSet(source: source, after: 0, upTo: 0, records: records)
    _ = try context.performAndWait {
      try ChangeImporter(access: daemon.site.access, context: context).apply(set, cursor: nil)
    }
  }

  /// What had been lost comes after all.
  private func comeBack(_ value: String = "there", to daemon: SyncEngineTests.Daemon) throws {
    let write = PropertyWrite(
      stamp: Stamp(clock: ClockReading(milliseconds: 1000), store: source))
    let registers: Registers = [
      "key": Register(value: .string("lost"), write: write),
      "value": Register(value: .string(value), write: write),
    ]
    try apply([RecordState(id: lost, entity: "Item", registers: registers)], to: daemon)
  }

  private func parent(of key: String, in daemon: SyncEngineTests.Daemon) throws -> String? {
    try daemon.site.write { context in
      let item = try daemon.site.find("Item", key, in: context)
      return (item?.value(forKey: "parent") as? ManagedObject)?.value(forKey: "key") as? String
    }
  }

  private func expectHeld(_ daemon: SyncEngineTests.Daemon) async throws {
    let error = await #expect(throws: SyncError.self) {
      try await daemon.engine.wait(timeout: .patience)
    }
    #expect(error?.code == .recordsHeld)
    #expect(error?.message.contains("waits for the record \(lost)") == true, "\(error as Any)")
  }

  @Test func aWaitNamesTheReferenceThatHoldsItUp() async throws {
    let duet = try linkedDuet()
    try await expectHeld(duet.here)
    let page = try await duet.here.engine.parked()
    #expect(page.references.map(\.store.text) == ["local", "nas"])
    for found in page.references {
      #expect(found.entity == "Item" && found.property == "parent" && found.id.target == lost)
      #expect(found.holders.isEmpty && !found.isQuarantined)
    }
    #expect(try await duet.here.engine.parked(in: ["nas"]).references == [page.references[1]])
    #expect(ParkedReference.ID(page.references[1].id.description) == page.references[1].id)
    try await duet.close()
  }

  @Test func whatIsAbandonedHoldsUpNoWaitInAnyStore() async throws {
    let duet = try linkedDuet()
    try await expectHeld(duet.here)
    try await expectHeld(duet.there)
    #expect(try await duet.here.engine.abandon([lost]) == 2)
    try await duet.here.engine.wait(timeout: .patience)
    // The other daemon reads it from the replica.
    try await duet.there.engine.wait(timeout: .patience)
    for daemon in [duet.here, duet.there] {
      #expect(try await daemon.engine.parked().references.isEmpty)
      #expect(try await daemon.engine.verify(name: "nas").isEqual)
      #expect(try daemon.engine.status().replicas[0].held.count == 0)
    }
    try await duet.close()
  }

  @Test func whatComesAfterItWasAbandonedIsReferredTo() async throws {
    let duet = try linkedDuet()
    try await expectHeld(duet.here)
    try await duet.here.engine.abandon()
    try await duet.settle()
    #expect(try parent(of: "k", in: duet.there) == nil)
    try comeBack(to: duet.there)
    try await duet.settle()
    for daemon in [duet.here, duet.there] { #expect(try parent(of: "k", in: daemon) == "lost") }
    try await duet.close()
  }

  /// Sync merges the record that has the reference once more, with another of its values.
  @Test func whatIsAbandonedStaysAbandonedWhenAnotherValueIsMerged() async throws {
    let duet = try linkedDuet()
    try await expectHeld(duet.here)
    try await duet.here.engine.abandon()
    try await duet.settle()
    try duet.there.site.write { try duet.there.set("k", "value", "later", in: $0) }
    try await duet.settle()
    #expect(try duet.here.item("k", "value") == "later")
    #expect(try await duet.here.engine.parked().references.isEmpty)
    try await duet.close()
  }

  /// A record that was united waits with its values for the one that it became, and says so anew with each merge.
  @Test func whatWaitsForARecordThatItWasUnitedWithIsAbandonedForGood() async throws {
    let duet = try linkedDuet([])
    try await duet.settle()
    func tombstone(_ note: String, _ milliseconds: UInt64) -> RecordState {
      let write = PropertyWrite(
        stamp: Stamp(clock: ClockReading(milliseconds: milliseconds), store: source))
      return RecordState(
        id: RecordID(high: 1, low: 2), entity: "Tag",
        registers: [
          "name": Register(value: .string("t"), write: write),
          "note": Register(value: .string(note), write: write),
        ], survivor: lost)
    }
    try apply([tombstone("first", 1000)], to: duet.here)
    try await expectHeld(duet.here)
    #expect(try await duet.here.engine.parked().references.first?.property == nil)
    #expect(try await duet.here.engine.abandon([lost]) > 0)
    try await duet.here.engine.wait(timeout: .patience)
    try apply([tombstone("second", 2000)], to: duet.here)
    try await duet.here.engine.wait(timeout: .patience)
    try await duet.close()
  }

  /// It is the record that is not waited for any more, whatever refers to it.
  @Test func anotherReferenceToWhatWasAbandonedDoesNotWaitEither() async throws {
    let duet = try linkedDuet()
    try await expectHeld(duet.here)
    try await duet.here.engine.abandon()
    try await duet.settle()
    let write = PropertyWrite(
      stamp: Stamp(clock: ClockReading(milliseconds: 1000), store: source))
    try apply(
      [
        RecordState(
          id: RecordID(high: 1, low: 2), entity: "Item",
          registers: [
            "key": Register(value: .string("new"), write: write),
            "parent": Register(value: .reference(lost), write: write),
          ])
      ], to: duet.here)
    try await duet.settle()
    #expect(try await duet.there.engine.parked().references.isEmpty)
    try comeBack(to: duet.there)
    try await duet.settle()
    for key in ["k", "new"] { #expect(try parent(of: key, in: duet.here) == "lost") }
    try await duet.close()
  }

  /// A store of the group has the record, in trouble as its link may be.
  @Test func aListTellsWhichStoresHaveTheRecord() async throws {
    let duet = try linkedDuet()
    try await expectHeld(duet.here)
    try await duet.here.engine.rest()
    try comeBack(to: duet.here)
    let found = try await duet.here.engine.parked().references
    #expect(found.map(\.store.text) == ["nas"])
    #expect(found.first?.holders.map(\.text) == ["local"])
    try await duet.close()
  }

  @Test func whatNoReferenceWaitsForCannotBeAbandoned() async throws {
    let duet = try linkedDuet()
    try await expectHeld(duet.here)
    let other = RecordID(high: 3, low: 3)
    let error = await #expect(throws: SyncError.self) {
      try await duet.here.engine.abandon([lost, other])
    }
    #expect(error?.code == .notAwaited)
    #expect(error?.message.contains("\(other)") == true)
    // The one of the two that could be was not, either.
    #expect(try await duet.here.engine.parked().references.count == 2)
    try await duet.close()
  }

  /// It has arrived, and would be visible if a rule did not refuse it.
  @Test func whatWaitsInQuarantineCannotBeAbandoned() async throws {
    let duet = try linkedDuet()
    try await expectHeld(duet.here)
    try await duet.here.engine.rest()
    try comeBack(String(repeating: "x", count: SampleModel.mostLength + 1), to: duet.here)
    let found = try await duet.here.engine.parked(in: ["local"]).references
    #expect(found.map(\.isQuarantined) == [true])
    let error = await #expect(throws: SyncError.self) {
      try await duet.here.engine.abandon([lost])
    }
    #expect(error?.code == .notAllowed)
    #expect(error?.message.contains("quarantine") == true)
    try await duet.close()
  }

  /// A reference out of what a link exchanges is kept, and waits for nothing there.
  @Test func whatLeadsOutOfALinkIsNotListed() async throws {
    let duet = try duet(by: "label")
    try duet.here.engine.addReplica(
      ReplicaConfiguration(name: "nas", url: duet.replica, entities: ["Item", "Part"]))
    try await duet.here.engine.wait(timeout: .patience)
    #expect(try await duet.here.engine.parked().references.isEmpty)
    await #expect(throws: SyncError.self) { try await duet.here.engine.abandon([lost]) }
    try await duet.close()
  }

  @Test(arguments: [1, 2, 3, 100])
  func aListComesInPages(limit: Int) async throws {
    let keys = ["a", "b", "c"]
    let duet = try linkedDuet(keys)
    try await expectHeld(duet.here)
    var (after, seen): (ParkedReference.ID?, [ParkedReference.ID]) = (nil, [])
    repeat {
      let page = try await duet.here.engine.parked(after: after, limit: limit)
      #expect(page.references.count <= limit && !page.references.isEmpty)
      seen += page.references.map(\.id)
      after = page.next
    } while after != nil
    #expect(Set(seen).count == 2 * keys.count && seen.count == 2 * keys.count)
    #expect(
      seen.map(\.store) == Array(repeating: "local", count: 3) + Array(repeating: "nas", count: 3))
    try await duet.close()
  }
}
