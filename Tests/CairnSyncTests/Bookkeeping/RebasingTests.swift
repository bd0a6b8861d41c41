import CairnStore
import Foundation
import Testing

@testable import CairnSync

/// A commit of the bookkeeping moves behind what others have committed meanwhile, where it can.
struct RebasingTests {
  private let fleet = Fleet(seed: 4)
  private let store: Fleet.Site
  private let id = RecordID(high: 1, low: 1)

  init() throws {
    store = try fleet.add("a")
    try HistoryCapture(access: store.access).run()
  }

  /// Another daemon adds or changes a record, at a new number.
  private func commit(_ ids: RecordID...) throws {
    let ledger = try store.access.ledger()
    ledger.head.sequence += 1
    for id in ids {
      ledger.setRecord(id, try ledger.record(id) ?? RecordEntry(entity: "Item", key: nil))
    }
    #expect(try store.access.commit(ledger))
  }

  /// Each record stands once in the change order, where its entry says, and at no number beyond the last.
  private func expectOrder() throws {
    let ledger = try store.access.ledger()
    let sidecar = try #require(store.access.store.capabilities.sidecar)
    let changes = try sidecar.sidecarEntries(
      of: SyncMap.changes.rawValue, from: nil, to: nil, limit: 0
    ).filter { $0.key.dropFirst(8).first == SyncKey.recordKind }
    var places: [RecordID: [UInt64]] = [:]
    for (key, _) in changes {
      var reader = ByteReader(key)
      let number = try reader.fixed()
      _ = try reader.byte()
      places[try reader.identity(RecordID.self), default: []].append(number)
      #expect(number <= ledger.head.sequence)
    }
    for (id, numbers) in places { #expect(numbers == [try ledger.record(id)?.sequence]) }
  }

  @Test func whatOthersHaveNotTouchedMovesBehindTheirs() throws {
    try commit(id)
    let ledger = try store.access.ledger()
    var entry = try #require(try ledger.record(id))
    entry.key = .row(7)
    ledger.head.sequence += 1
    try commit(RecordID(high: 2, low: 2))
    ledger.setRecord(id, entry)
    #expect(try store.access.commit(ledger, isRebased: true))
    #expect(try store.access.ledger().record(id)?.key == .row(7))
    try expectOrder()
  }

  @Test func newRecordsMoveBehindWhatOthersHaveCommittedMeanwhile() throws {
    try commit(id)
    let ledger = try store.access.ledger()
    ledger.head.sequence += 1
    let stamp = ledger.tick(milliseconds: 1000, limit: .max)
    var records = NewRecords(
      entity: "Item", write: PropertyWrite(stamp: stamp), origin: nil,
      sequence: ledger.head.sequence)
    records.members = (1...3).map { .init(id: RecordID(high: 9, low: UInt64($0)), key: Int64($0)) }
    ledger.add(records)
    try commit(RecordID(high: 2, low: 2))
    let theirs = try store.access.ledger().head.sequence
    #expect(try store.access.commit(ledger, isRebased: true))
    let now = try store.access.ledger()
    for member in records.members {
      #expect(try now.record(member.id)?.sequence == theirs + 1)
    }
    #expect(now.head.sequence == theirs + 1)
    try expectOrder()
  }

  /// Its number is one of those that the commit was planned with.
  @Test(arguments: 1...3)
  func whatOthersHaveCommittedSinceTheHeadWasReadIsPlannedAnew(_ commits: Int) throws {
    try commit(id)
    let ledger = try store.access.ledger()
    ledger.head.sequence += 1
    for _ in 0..<commits { try commit(id) }
    ledger.setRecord(id, try #require(try ledger.record(id)))
    ledger.setRecord(RecordID(high: 3, low: 3), RecordEntry(entity: "Item", key: nil))
    #expect(try !store.access.commit(ledger, isRebased: true))
    try expectOrder()
  }

  /// Left by versions that did not look for that.
  @Test func numbersBeyondTheLastAreTakenUpWithANewIdentity() throws {
    try commit(id)
    let ledger = try store.access.ledger()
    let last = ledger.head.sequence
    ledger.setRecord(id, try #require(try ledger.record(id)), sequence: last + 3)
    #expect(try store.access.commit(ledger))
    let claim = ReaderClaim(cursor: SyncCursor(position: last + 3), ids: { [] })
    #expect(try store.access.renewIfRestored(asSeenBy: { _ in claim }))
    #expect(try store.access.ledger().head.sequence == last + 3)
    #expect(try !store.access.renewIfRestored(asSeenBy: { _ in claim }), "and not again")
    try expectOrder()
  }
}
