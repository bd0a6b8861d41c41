import CairnContext
import CairnStore
import Foundation
import Testing

@testable import CairnSync

/// Specification: sync.md 7 and 9: the entries about a record are found without reading the whole journal, whatever
/// version wrote them.
struct JournalIndexTests {
  private let fleet = Fleet(seed: 83)
  private let a: Fleet.Site
  private let b: Fleet.Site

  init() throws {
    (a, b) = (try fleet.addRetaining("a"), try fleet.addRetaining("b"))
    try a.write { context in
      for number in 0..<6 { _ = try a.insert("Item", ["key": "k\(number)"], in: context) }
    }
    try fleet.sync([(a, b)])
  }

  /// Writes that lose to each other, of some items.
  private func quarrel(_ numbers: [Int], _ text: String) throws {
    for site in [a, b] {
      try site.write { context in
        for number in numbers {
          try site.find("Item", "k\(number)", in: context)?
            .setValue("\(text) \(site.name)", forKey: "value")
        }
      }
      try HistoryCapture(access: site.access).run()
      fleet.advance(10)
    }
    try fleet.sync([(a, b)])
  }

  private func members() throws -> [GroupStores.Member] {
    try [a, b].map {
      GroupStores.Member(
        name: $0.name, id: try $0.access.ledger().storeID, access: $0.access, link: nil,
        translation: nil)
    }
  }

  private func all(_ reading: JournalReading) throws -> [JournalEntry] {
    var reading = reading
    var found: [JournalEntry] = []
    while let item = try reading.next() { if let entry = item.entry { found.append(entry) } }
    return found
  }

  private func state(_ site: Fleet.Site) throws -> JournalIndex.State {
    try site.access.ledger().head.journalIndex
  }

  /// What is read of each record, and of some together, is what the whole journal has of them.
  private func expectTruth(_ line: Int = #line) throws {
    let journal = try all(JournalReading(members()))
    let records = Set(journal.map(\.conflict.record)).sorted()
    #expect(!records.isEmpty)
    var wanted = records.map { Set([$0]) } + [Set(records.prefix(2)), []]
    wanted.append([RecordID(high: 1, low: 1)])
    for wanted in wanted {
      let found = try all(JournalReading(members(), of: wanted))
      #expect(found == journal.filter { wanted.contains($0.conflict.record) }, "line \(line)")
    }
  }

  /// Puts a site's sync tables into the state in which a version without the index leaves them.
  private func forgetIndex(_ site: Fleet.Site, keepsEntries: Bool = false) throws {
    let sidecar = try #require(site.store.capabilities.sidecar)
    let head = try #require(try sidecar.sidecarValues(for: [SyncKey.head]).first ?? nil)
    #expect(head.last == JournalIndex.State.whole.rawValue)
    var request = SaveChangesRequest()
    request.author = SyncConfiguration.author
    request.sidecar = [
      .putAtTransaction(map: SyncMap.own.rawValue, Data()), .put(SyncKey.head, head.dropLast()),
    ]
    if !keepsEntries {
      request.sidecar += try sidecar.sidecarEntries(
        of: SyncMap.journalIndex.rawValue, from: nil, to: nil, limit: 0
      ).map { .remove(SyncMap.journalIndex.key($0.key)) }
    }
    guard case .saved = try site.store.save(request) else { throw Fleet.Stopped() }
    #expect(try state(site) == .missing)
  }

  @Test func whatIsReadOfARecordIsWhatTheWholeJournalHasOfIt() throws {
    try quarrel([0, 1, 2], "first")
    try quarrel([1, 2, 3], "second")
    for site in [a, b] {
      #expect(try state(site) == .whole)
      let entries = try JournalIndex(access: site.access).entries(of: [])
      #expect(entries?.isEmpty == true)
    }
    try expectTruth()
  }

  @Test func aJournalOfAVersionWithoutTheIndexIsReadWholeUntilItIsIndexed() throws {
    try quarrel([0, 1, 2], "first")
    try forgetIndex(a)
    try forgetIndex(b)
    #expect(try JournalIndex(access: a.access).entries(of: [RecordID(high: 1, low: 1)]) == nil)
    try expectTruth()
    try JournalIndex(access: a.access).complete()
    #expect(try state(a) == .whole && state(b) == .missing)
    try expectTruth()
    try JournalIndex(access: b.access).complete()
    try expectTruth()
    for site in [a, b] {
      #expect(try site.entries(.journalIndex) == site.entries(.journal), "\(site.name)")
    }
    try quarrel([0, 4], "second")
    try expectTruth()
  }

  @Test func anIndexThatWasInterruptedIsMadeAgain() throws {
    try quarrel([0, 1, 2], "first")
    try forgetIndex(a)
    let ledger = try a.access.ledger()
    ledger.head.journalIndex = .growing
    #expect(try a.access.commit(ledger))
    try quarrel([3], "second")
    #expect(try state(a) == .growing)
    try expectTruth()
    try JournalIndex(access: a.access).complete()
    #expect(try state(a) == .whole)
    try expectTruth()
  }

  /// Entries that are gone from the journal leave the index, also those that another version has purged.
  @Test func theIndexForgetsWhatThePurgeOfTheJournalForgets() throws {
    try quarrel([0, 1, 2], "first")
    try forgetIndex(a, keepsEntries: true)
    let sidecar = try #require(a.store.capabilities.sidecar)
    let first = try #require(
      try sidecar.sidecarEntries(of: SyncMap.journal.rawValue, from: nil, to: nil, limit: 1).first)
    var request = SaveChangesRequest()
    request.author = SyncConfiguration.author
    request.sidecar = [
      .putAtTransaction(map: SyncMap.own.rawValue, Data()),
      .remove(SyncMap.journal.key(first.key)),
    ]
    guard case .saved = try a.store.save(request) else { throw Fleet.Stopped() }
    try JournalIndex(access: a.access).complete()
    #expect(try a.entries(.journalIndex) == a.entries(.journal))
    fleet.advance(2 * PurgeTests.retention)
    try quarrel([5], "late")
    for site in [a, b] {
      _ = try site.purge()
      #expect(try site.entries(.journal) == site.entries(.journalIndex), "\(site.name)")
    }
    try expectTruth()
  }

  /// A commit that was planned on an index which another version has left behind is planned again.
  @Test func aHeadIsNotMovedBehindOneThatLostItsIndex() throws {
    var base = SyncHead()
    var theirs = base
    theirs.sequence = 4
    #expect(base.rebased(from: base, onto: theirs)?.sequence == 4)
    theirs.journalIndex = .missing
    #expect(base.rebased(from: base, onto: theirs) == nil)
    for index in [JournalIndex.State.missing, .growing, .whole] {
      base.journalIndex = index
      for epoch in [UInt64(0), 7] {
        base.epoch = epoch
        #expect(try SyncHead(decoding: base.encoded) == base)
      }
    }
  }
}
