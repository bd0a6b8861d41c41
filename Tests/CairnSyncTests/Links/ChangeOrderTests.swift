import CairnContext
import CairnModel
import CairnStore
import Foundation
import Synchronization
import Testing

@testable import CairnSync

// What one change set takes out of the change order: whole transactions, no more than fits into memory, and
// nothing that waits for a writer to pause.
struct ChangeOrderTests {
  private typealias Pair = ContentionTests.Pair

  private func moves(in site: Fleet.Site) throws -> Int {
    try #require(site.store.capabilities.sidecar).sidecarEntries(
      of: SyncMap.changes.rawValue, from: nil, to: nil, limit: 0
    ).count { $0.key[$0.key.startIndex + 8] == SyncKey.movedKind }
  }

  /// All change sets that a destination with nothing gets.
  private func sets(of site: Fleet.Site, isFirstCopy: Bool = true) throws -> [ChangeSet] {
    let exporter = ChangeExporter(access: site.access, destination: StoreID(high: 9, low: 9))
    try HistoryCapture(access: site.access).run()
    var cursor = SyncCursor(streamingUntil: isFirstCopy ? try exporter.end() : 0)
    var sets: [ChangeSet] = []
    while let set = try exporter.next(after: cursor) {
      sets.append(set)
      cursor.position = set.upTo
    }
    return sets
  }

  @Test func aRecordAloneInItsTransactionsLeavesNothingBehindInTheChangeOrder() throws {
    let pair = try Pair()
    try pair.insert(["a"], in: pair.local)
    for number in 0..<20 {
      try pair.write("\(number)", to: "a", in: pair.local)
      try HistoryCapture(access: pair.local.access).run()
    }
    #expect(try moves(in: pair.local) == 0)
    // Captured at once it is the same.
    for number in 0..<20 { try pair.write("again \(number)", to: "a", in: pair.local) }
    try HistoryCapture(access: pair.local.access).run()
    #expect(try moves(in: pair.local) == 0)
    try pair.expectEqual()
  }

  @Test func whatIsLeftOfATransactionIsSentWithWhatHasMovedOnHoweverOften() throws {
    let pair = try Pair(batchSize: 1)
    try pair.insert(["a", "b"], in: pair.local)
    try pair.insert((0..<5).map { "k\($0)" }, in: pair.local)
    try HistoryCapture(access: pair.local.access).run()
    for round in 0..<3 {
      try pair.write("written \(round)", to: "b", in: pair.local)
      try HistoryCapture(access: pair.local.access).run()
      let first = try #require(try sets(of: pair.local, isFirstCopy: false).first)
      #expect(first.records.count == 7)
    }
    // Captured at once it is the same.
    for round in 3..<6 { try pair.write("written \(round)", to: "b", in: pair.local) }
    try HistoryCapture(access: pair.local.access).run()
    #expect(try sets(of: pair.local, isFirstCopy: false).first?.records.count == 7)
  }

  @Test func whoHasHadATransactionDoesNotFollowWhatWasInIt() throws {
    let pair = try Pair(batchSize: 1)
    try pair.insert(["a", "hot"], in: pair.local)
    try HistoryCapture(access: pair.local.access).run()
    let position = try pair.local.access.ledger().head.sequence
    try pair.write("first", to: "hot", in: pair.local)
    try HistoryCapture(access: pair.local.access).run()
    try pair.insert(["b"], in: pair.local)
    try pair.write("last", to: "hot", in: pair.local)
    let exporter = ChangeExporter(
      access: pair.local.access, destination: StoreID(high: 9, low: 9))
    try HistoryCapture(access: pair.local.access).run()
    let next = try #require(try exporter.next(after: SyncCursor(position: position)))
    #expect(next.records.count == 1)
    let behind = try #require(try exporter.next(after: SyncCursor()))
    #expect(behind.records.count == 3)
  }

  @Test func membersThatMoveOnTogetherNeedNoWordOfIt() throws {
    let pair = try Pair()
    try pair.insert(["a", "b"], in: pair.local)
    try HistoryCapture(access: pair.local.access).run()
    try pair.local.write { context in
      for key in ["a", "b"] {
        try pair.local.find("Item", key, in: context)?.setValue("2", forKey: "value")
      }
    }
    try HistoryCapture(access: pair.local.access).run()
    #expect(try moves(in: pair.local) == 0)
  }

  @Test func aChangeSetHasNoMoreBytesThanTheBoundUnlessATransactionHas() throws {
    let scratch = try Scratch()
    let fleet = Fleet(seed: 1, directory: scratch.url)
    let site = try fleet.add("local") {
      $0.batchSize = 1000
      $0.batchBytes = 1000
    }
    let text = String(repeating: "x", count: 90)
    for number in 0..<40 {
      try site.write { context in
        _ = try site.insert("Item", ["key": "k\(number)", "value": text], in: context)
      }
    }
    try site.write { context in
      for number in 0..<30 {
        _ = try site.insert("Item", ["key": "l\(number)", "value": text], in: context)
      }
    }
    let sets = try sets(of: site)
    #expect(sets.map(\.records.count).reduce(0, +) == 70)
    #expect(sets.last?.records.count == 30)
    #expect(sets.dropLast().allSatisfy { $0.records.count < 11 } && sets.count > 4)
  }

  @Test func whatIsWrittenWhileAPassRunsDoesNotKeepItFromEnding() throws {
    let pair = try Pair(batchSize: 1)
    try pair.insert(["a"], in: pair.local)
    try HistoryCapture(access: pair.local.access).run()
    let exporter = ChangeExporter(
      access: pair.local.access, destination: StoreID(high: 9, low: 9))
    let first = try #require(try exporter.next(after: SyncCursor()))
    try pair.insert(["b"], in: pair.local)
    #expect(try exporter.next(after: SyncCursor(position: first.upTo)) == nil)
    // Far behind it takes a part of it up, so that each page looks through little.
    for number in 0...HistoryCapture.transactionsPerCommit {
      try pair.insert(["c\(number)"], in: pair.local)
    }
    #expect(try exporter.next(after: SyncCursor(position: first.upTo)) != nil)
  }

  @Test func aCaptureTakesNoMoreChangesAtATimeThanTheBoundUnlessATransactionHas() throws {
    let pair = try Pair()
    for number in 0..<4 {
      try pair.insert((0..<3).map { "k\(number)-\($0)" }, in: pair.local)
    }
    try pair.insert((0..<10).map { "l\($0)" }, in: pair.local)
    try pair.insert(["last"], in: pair.local)
    var counts: [Int] = []
    let capture = HistoryCapture(access: pair.local.access, changesPerCommit: 4)
    #expect(try capture.run { counts.append($0) } == 6)
    // The first two have six changes, the fifth has ten by itself; then the look at all rows.
    #expect(counts == [2, 2, 1, 1, 23])
    let sets = try sets(of: pair.local, isFirstCopy: false)
    #expect(sets.map(\.records.count).reduce(0, +) == 23)
    try pair.expectEqual()
    #expect(try pair.replica.picture().count == 23)
  }

  @Test func rowsFromBeforeSyncAreTakenUpInPartsThatFit() throws {
    let scratch = try Scratch()
    let fleet = Fleet(seed: 1, directory: scratch.url)
    let site = try fleet.add("local") { $0.batchBytes = 1000 }
    try site.write { context in
      for number in 0..<30 {
        _ = try site.insert(
          "Item", ["key": "k\(number)", "value": String(repeating: "x", count: 90)], in: context)
      }
    }
    _ = try #require(site.store.capabilities.history).purgeHistory(before: .max, date: nil)
    let sets = try sets(of: site)
    #expect(sets.map(\.records.count).reduce(0, +) == 30)
    #expect(sets.allSatisfy { $0.records.count < 11 })
  }

  @Test func aRangeIsCutBetweenTransactions() throws {
    var range = ChangeRange(after: 0)
    let ids = (1...4).map { RecordID(high: 0, low: $0) }
    func entry(_ sequence: UInt64, _ id: RecordID) -> (key: Data, value: Data) {
      (SyncKey.change(sequence, record: id).key, Data())
    }
    try range.take(
      [entry(1, ids[0]), entry(2, ids[1]), entry(2, ids[2]), entry(5, ids[3])])
    #expect(range.end(within: 100, sizes: [10, 10, 10, 10]) == 5)
    #expect(range.end(within: 35, sizes: [10, 10, 10, 10]) == 4)
    #expect(range.end(within: 25, sizes: [10, 10, 10, 10]) == 1)
    #expect(range.end(within: 5, sizes: [10, 10, 10, 10]) == 1)
    range.cut(after: 2)
    #expect(range.records.map(\.id) == Array(ids[..<3]) && range.upTo == 2)
  }

  /// Three programs that write one record without pause.
  private final class Writers: Sendable {
    private let isEnding = Mutex(false)
    private let failures = Mutex(0)
    var failureCount: Int { failures.withLock { $0 } }
    func end() { isEnding.withLock { $0 = true } }

    func run(_ site: Fleet.Site, named name: String) {
      var number = 0
      while !isEnding.withLock({ $0 }) {
        number += 1
        let value = "\(name) \(number)"
        do {
          try site.write { context in
            try site.find("Item", "hot", in: context)?.setValue(value, forKey: "value")
          }
        } catch let error as CoreDataError where error.code == .managedObjectMerge {
          continue
        } catch {
          failures.withLock { $0 += 1 }
        }
      }
    }
  }

  @Test func aRecordThatIsWrittenWithoutPauseHoldsUpNeitherItselfNorOthers() throws {
    let pair = try Pair()
    try pair.insert(["hot"] + (0..<50).map { "k\($0)" }, in: pair.local)
    _ = try pair.pass()
    let writers = Writers()
    let group = DispatchGroup()
    for name in ["a", "b", "c"] {
      DispatchQueue.global().async(group: group) { writers.run(pair.local, named: name) }
    }
    defer {
      writers.end()
      group.wait()
    }
    for round in 0..<5 {
      try pair.write("there \(round)", to: "k\(round)", in: pair.replica)
      try pair.write("here \(round)", to: "k\(round + 20)", in: pair.local)
      // Also from the other side.
      try pair.write("replica \(round)", to: "hot", in: pair.replica)
      _ = try pair.pass()
      let (here, there) = (try pair.local.picture(), try pair.replica.picture())
      #expect(here.contains { $0.hasPrefix("item k\(round) there \(round)") })
      #expect(there.contains { $0.hasPrefix("item k\(round + 20) here \(round)") })
      #expect(there.contains { $0.hasPrefix("item hot ") && !$0.hasPrefix("item hot 0") })
    }
    writers.end()
    group.wait()
    #expect(writers.failureCount == 0)
    try pair.expectEqual()
  }
}
