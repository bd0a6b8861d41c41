import CairnStore
import CairnTesting
import Foundation
import Testing

@testable import CairnSync

/// Specification: sync.md 7: the journal is listed, filtered and shown.
struct ConflictListTests {
  @Test func aConflictIsListedOnceWithTheStoresThatWroteAndTheSameIDEverywhere() async throws {
    let duet = try await Duet.make()
    try await duet.concurrently(
      here: { try duet.here.set("k", "value", "mine", in: $0) },
      there: { try duet.there.set("k", "value", "theirs", in: $0) })
    let page = try await duet.here.engine.conflicts()
    let found = try #require(page.conflicts.first)
    #expect(page.conflicts.count == 1 && page.next == nil && page.away.isEmpty)
    #expect(found.conflict.losingValue == .string("mine"))
    #expect(found.conflict.winningValue == .string("theirs"))
    #expect(found.conflict.rule == .lastWriter)
    #expect(found.losingStore.name == "local" && found.winningStore.name == nil)
    #expect(try await duet.here.engine.conflict(found.id) == found)
    let other = try await duet.there.engine.conflicts(in: ["nas"])
    let elsewhere = try await duet.here.engine.conflicts(in: ["nas"])
    #expect(other.conflicts.map(\.id) == elsewhere.conflicts.map(\.id))
    try await duet.close()
  }

  @Test func theListIsFilteredByTimeRecordEntityPropertyAndRule() async throws {
    let duet = try await Duet.make()
    try await duet.concurrently(
      here: {
        try duet.here.set("k", "value", "mine", in: $0)
        try duet.here.set("k", "other", 2.0, in: $0)
      },
      there: {
        try duet.there.set("k", "value", "theirs", in: $0)
        try duet.there.set("k", "other", 3.0, in: $0)
      })
    func count(_ filter: ConflictFilter) async throws -> Int {
      try await duet.here.engine.conflicts(matching: filter).conflicts.count
    }
    let all = try await duet.here.engine.conflicts().conflicts
    #expect(all.count == 2)
    let time = try #require(all.map(\.time).max())
    #expect(try await count(ConflictFilter(since: time + 1)) == 0)
    #expect(try await count(ConflictFilter(until: time + 1)) == 2)
    #expect(try await count(ConflictFilter(until: 1)) == 0)
    let record = try duet.here.record("Item", "k")
    #expect(try await count(ConflictFilter(record: record, property: "value")) == 1)
    #expect(try await count(ConflictFilter(record: RecordID(high: 1, low: 1))) == 0)
    #expect(try await count(ConflictFilter(entity: "Tag")) == 0)
    #expect(try await count(ConflictFilter(entity: "Item", rules: [.lastWriter])) == 2)
    #expect(try await count(ConflictFilter(rules: [.deleteWon])) == 0)
    try await duet.close()
  }

  @Test func pagesCoverALongJournalWithoutRepeatingOrLeavingOut() async throws {
    let scratch = try Scratch()
    let daemon = try SyncEngineTests.Daemon("local", in: scratch)
    let ledger = try daemon.site.access.ledger()
    let total = 2503
    let conflicts = (0..<total).map { number in
      Conflict(
        record: RecordID(high: 7, low: UInt64(number)), entity: "Item", property: "value",
        losingValue: .null,
        losingStamp: Stamp(clock: ClockReading(bits: 5), store: StoreID(high: 1, low: 1)),
        winningValue: .string("x"),
        winningStamp: Stamp(
          clock: ClockReading(bits: UInt64(number / 3 + 10)), store: StoreID(high: 1, low: 2)),
        rule: .lastWriter)
    }
    #expect(try ledger.journal(conflicts, time: 1) == total)
    #expect(try daemon.site.access.commit(ledger))
    var seen: [RecordID] = []
    var cursor: ConflictCursor?
    var pages = 0
    repeat {
      let page = try await daemon.engine.conflicts(after: cursor, limit: 100)
      seen += page.conflicts.map(\.conflict.record)
      pages += 1
      cursor = try page.next.map { try #require(ConflictCursor($0.description)) }
    } while cursor != nil
    #expect(pages == 26)
    #expect(seen.count == total && Set(seen).count == total)
    try await daemon.close()
  }

  @Test func aReplicaThatIsAwayIsSaidToBeUnreadAndAnUnknownIDIsAClearError() async throws {
    let duet = try await Duet.make()
    let away = duet.scratch.url.appendingPathComponent("unmounted/away.sqlite")
    try duet.here.engine.addReplica(ReplicaConfiguration(name: "away", url: away))
    let page = try await duet.here.engine.conflicts()
    #expect(page.away.map(\.name) == ["away"])
    let missing = await #expect(throws: SyncError.self) {
      try await duet.here.engine.conflict(RecordID(high: 1, low: 2))
    }
    #expect(missing?.code == .noSuchConflict && missing?.message.contains("away") == true)
    let unknown = await #expect(throws: SyncError.self) {
      try await duet.here.engine.conflicts(in: ["nowhere"])
    }
    #expect(unknown?.code == .noSuchReplica)
    try await duet.close()
  }

  @Test func anEntryThatCannotBeReadHidesNoOther() async throws {
    let duet = try await Duet.make()
    try await duet.concurrently(
      here: { try duet.here.set("k", "value", "mine", in: $0) },
      there: { try duet.there.set("k", "value", "theirs", in: $0) })
    let ledger = try duet.here.site.access.ledger()
    ledger.put(SyncMap.journal.key(Data(repeating: 1, count: 24)), Data([9, 9]))
    #expect(try duet.here.site.access.commit(ledger))
    let page = try await duet.here.engine.conflicts()
    #expect(page.conflicts.count == 1 && page.damaged == 1)
    try await duet.close()
  }

  @Test(arguments: ["", "0", "zz", "+1", "é0", "0x"])
  func aCursorThatIsNoneIsRefused(text: String) {
    #expect(ConflictCursor(text) == nil)
  }

  /// Which store united two records, and which was given the outcome, makes no difference to the answer.
  @Test(arguments: [false, true]) func aUnionIsNamedWhicheverStoreKnowsOfIt(isFirst: Bool) throws {
    let fleet = Fleet(seed: 93)
    let sites = [try fleet.add("a"), try fleet.add("b")]
    let rules: [Conflict.Rule] = isFirst ? [.united, .lastWriter] : [.lastWriter, .united]
    for (index, site) in sites.enumerated() {
      let ledger = try site.access.ledger()
      func stamp(_ number: UInt64) -> Stamp {
        Stamp(clock: ClockReading(milliseconds: number), store: StoreID(high: 7, low: 7))
      }
      let conflict = Conflict(
        record: RecordID(high: 1, low: 1), entity: "Tag", property: "note",
        losingValue: .string("lost"), losingStamp: stamp(1), winningValue: .string("won"),
        winningStamp: stamp(2), rule: rules[index])
      #expect(try ledger.journal([conflict], time: UInt64(index + 1)) == 1)
      #expect(try site.access.commit(ledger))
    }
    let members = try sites.map { site in
      GroupStores.Member(
        name: site.name, id: try site.access.ledger().storeID, access: site.access, link: nil,
        translation: nil)
    }
    var reading = JournalReading(members)
    let item = try reading.next()
    #expect(item?.entry?.conflict.rule == .united && item?.journals.count == 2)
    let more = try reading.next() != nil
    #expect(!more)
  }

  /// A store that first sees the later writer win and then unites the records knows why.
  @Test(arguments: [[Conflict.Rule.lastWriter, .united], [.united, .lastWriter]])
  func aStoreKeepsWhyAValueLostWhicheverItLearnsFirst(rules: [Conflict.Rule]) throws {
    let fleet = Fleet(seed: 98)
    let site = try fleet.add("a")
    func stamp(_ clock: UInt64) -> Stamp {
      Stamp(clock: ClockReading(milliseconds: clock), store: StoreID(high: 9, low: 0))
    }
    let ledger = try site.access.ledger()
    var added = 0
    for (index, rule) in rules.enumerated() {
      let conflict = Conflict(
        record: RecordID(high: 1, low: 1), entity: "Item", property: "value",
        losingValue: .string("x"), losingStamp: stamp(5), winningValue: .string("y"),
        winningStamp: stamp(6), rule: rule)
      added += try ledger.journal([conflict], time: UInt64(100 + index))
    }
    #expect(added == 1)
    #expect(try site.access.commit(ledger))
    let sidecar = try #require(site.store.capabilities.sidecar)
    let entries = try sidecar.sidecarEntries(
      of: SyncMap.journal.rawValue, from: nil, to: nil, limit: 0
    ).map { try JournalEntry(decoding: $0.value) }
    #expect(entries.map(\.conflict.rule) == [.united] && entries.map(\.time) == [100])
  }
}
