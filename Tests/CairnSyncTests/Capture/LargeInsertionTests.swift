import CairnStore
import Foundation
import TestSupport
import Testing

@testable import CairnSync

/// Specification: sync.md 5: the first copy of a store comes in chunks, also where one save has inserted all of it; 2,
/// promise 4: what is saved later arrives whole.
struct LargeInsertionTests {
  private let pair: ContentionTests.Pair

  init() throws { pair = try ContentionTests.Pair(batchSize: 50) }

  private func insert(_ keys: Range<Int>) throws {
    try pair.insert(keys.map { "k\($0)" }, in: pair.local)
  }

  private func capture() throws {
    try HistoryCapture(access: pair.local.access, changesPerCommit: 64).run()
  }

  /// How many records each change set after a place has.
  private func sets(after place: UInt64 = 0, isFirstCopy: Bool) throws -> [Int] {
    let exporter = ChangeExporter(
      access: pair.local.access, destination: StoreID(high: 9, low: 9), batchSize: 50)
    var cursor = SyncCursor(
      position: place, streamingUntil: isFirstCopy ? try exporter.end() : 0)
    var counts: [Int] = []
    while let set = try exporter.next(after: cursor) {
      counts.append(set.records.count)
      cursor.position = set.upTo
    }
    return counts
  }

  @Test func whatOneSaveHasInsertedBeforeSyncBeganTravelsInParts() throws {
    try insert(0..<300)
    try pair.insert(["later"], in: pair.local)
    try capture()
    let counts = try sets(isFirstCopy: true)
    #expect(counts.reduce(0, +) == 301)
    #expect(counts.allSatisfy { $0 <= 128 })
    try pair.expectEqual()
    #expect(try pair.replica.picture().count == 301)
  }

  @Test func aCaptureThatDiesGoesOnWithTheRest() throws {
    try insert(0..<300)
    let access = pair.local.access
    let all = try access.history().readHistory(HistoryReadRequest(after: nil, limit: 1))
    let transaction = try #require(all.first)
    let part = HistoryTransactionRecord(
      number: transaction.number, date: transaction.date, author: nil, contextName: nil,
      bundleID: nil, processID: nil, changes: Array(transaction.changes.prefix(100)))
    #expect(
      try LargeInsertion(access: access, transaction: part, rowsPerCommit: 64).capture(after: 0))
    let before = try access.ledger().head.sequence
    try capture()
    #expect(try sets(isFirstCopy: true).reduce(0, +) == 300)
    #expect(
      try sets(after: before, isFirstCopy: true).reduce(0, +) == 200,
      "what was taken up before keeps its place")
    try pair.expectEqual()
  }

  @Test func whatOneSaveInsertsLaterArrivesWhole() throws {
    try insert(0..<2)
    try capture()
    let before = try pair.local.access.ledger().head.sequence
    try insert(2..<300)
    try capture()
    #expect(try sets(after: before, isFirstCopy: false) == [298])
  }
}
