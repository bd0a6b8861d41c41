import CairnStore
import Foundation
import Testing

@testable import CairnSync

/// Specification: sync.md 3, "History that is gone before it was captured": a link compares then.
struct GapComparisonTests {
  private func store(_ number: UInt64) -> StoreID { StoreID(high: number, low: 0) }

  @Test func allThatWereServedOrReadFromAreComparedWith() throws {
    func isEnough(_ of: [UInt64], _ readers: [UInt64], _ sources: [UInt64] = []) -> Bool {
      GapComparisons(Set(of.map(store)))
        .isEnough(for: Set(readers.map(store)), and: Set(sources.map(store)))
    }
    #expect(isEnough([1], [1]) && !isEnough([1], [1, 2]))
    // A store that serves no other is compared with the first that comes.
    #expect(!isEnough([], []) && isEnough([1], []))
    #expect(isEnough([1, 2], [1, 2]))
    #expect(!isEnough([1], [], [2]) && isEnough([1, 2], [], [2]))
    let two = GapComparisons([store(2), store(1)])
    #expect(try GapComparisons(decoding: two.encoded) == two)
  }

  /// The first store that is compared with does not have the record yet.
  @Test func aValueWhoseHistoryIsLostIsFoundInWhicheverStoreHasItAsItWas() throws {
    let fleet = Fleet(seed: 96)
    let (a, b, c) = (try fleet.add("a"), try fleet.add("b"), try fleet.add("c"))
    // Both are served; the second does not get what comes later.
    _ = try fleet.settle([(a, b), (a, c)])
    try a.write { _ = try a.insert("Item", ["key": "k", "value": "old"], in: $0) }
    _ = try fleet.settle([(a, b)])
    try a.write { try a.find("Item", "k", in: $0)?.setValue("new", forKey: "value") }
    _ = try a.access.history().purgeHistory(before: .max, date: nil)
    _ = try fleet.settle([(a, c)])
    #expect(try a.access.ledger().head.gap == .values)
    _ = try fleet.settle([(a, b), (a, c)])
    #expect(try a.access.ledger().head.gap == .none)
    for site in [a, b, c] {
      #expect(try site.picture() == ["item k new nil ^- []"], "\(site.name)")
      #expect(try StoreComparison(local: a.access, replica: site.access).run(name: "").isEqual)
    }
  }

  /// The store that has the value as it was is only read from, and away when history is found to be lost.
  @Test func aValueWhoseHistoryIsLostIsFoundAlsoInAStoreThatIsOnlyReadFrom() throws {
    let fleet = Fleet(seed: 98)
    let (a, b, c) = (try fleet.add("a"), try fleet.add("b"), try fleet.add("c"))
    try b.write { _ = try b.insert("Item", ["key": "k", "value": "old"], in: $0) }
    for _ in 0..<3 { _ = try fleet.pass(a, b, direction: .pull) }
    try a.write { try a.find("Item", "k", in: $0)?.setValue("new", forKey: "value") }
    _ = try a.access.history().purgeHistory(before: .max, date: nil)
    _ = try fleet.settle([(a, c)])
    #expect(try a.access.ledger().head.gap == .values)
    // From now on the link goes both ways.
    _ = try fleet.settle([(a, b), (a, c)])
    #expect(try a.access.ledger().head.gap == .none)
    for site in [a, b, c] {
      #expect(try site.picture() == ["item k new nil ^- []"], "\(site.name)")
    }
  }

  /// The store that has the value as it was has been given up, and comes back.
  @Test func aValueWhoseHistoryIsLostIsFoundAlsoInAStoreThatWasExpired() throws {
    let fleet = Fleet(seed: 99)
    let (a, b, c) = (try fleet.add("a"), try fleet.add("b"), try fleet.add("c"))
    try a.write { _ = try a.insert("Item", ["key": "k", "value": "old"], in: $0) }
    _ = try fleet.settle([(a, b)])
    try a.write { try a.find("Item", "k", in: $0)?.setValue("new", forKey: "value") }
    _ = try a.access.history().purgeHistory(before: .max, date: nil)
    try a.access.releaseReader(try b.access.ledger().storeID)
    _ = try fleet.settle([(a, c)])
    _ = try fleet.settle([(a, c), (a, b)])
    for site in [a, b, c] {
      #expect(try site.picture() == ["item k new nil ^- []"], "\(site.name)")
    }
  }

  /// Which of two values is the new one nothing tells: a third one, which is known to have replaced the former, is
  /// not lost to either of them.
  @Test func aValueIsNotTakenForANewOneBecauseBothStoresHaveLostTheirHistory() throws {
    let fleet = Fleet(seed: 100)
    let (a, b, c) = (try fleet.add("a"), try fleet.add("b"), try fleet.add("c"))
    try a.write { _ = try a.insert("Item", ["key": "k", "value": "first"], in: $0) }
    _ = try fleet.settle([(a, b), (a, c)])
    fleet.advance(10)
    try c.write { try c.find("Item", "k", in: $0)?.setValue("known", forKey: "value") }
    try HistoryCapture(access: c.access).run()
    fleet.advance(10)
    try b.write { try b.find("Item", "k", in: $0)?.setValue("lost", forKey: "value") }
    try a.write { _ = try a.insert("Item", ["key": "other"], in: $0) }
    for site in [a, b] {
      let history = try site.access.history()
      #expect(try history.purgeHistory(before: .max, date: nil) > 0)
    }
    _ = try fleet.settle([(a, b)])
    _ = try fleet.settle([(a, c), (a, b)])
    for site in [a, b, c] {
      #expect(try site.picture().contains("item k known nil ^- []"), "\(site.name)")
    }
    // Neither "first", which nobody wrote again, nor "lost" has replaced it, and both are told of.
    let lost = try [a, b, c].flatMap { try ReplicationTests().journal($0) }
      .filter { $0.property == "value" }
    #expect(Set(lost.map(\.losingValue)).isSuperset(of: [.string("lost")]))
  }

  /// Each takes its value in a commit of its own; the first that is there has then replaced what both knew.
  @Test func noneOfTwoLostValuesIsLostToADeathBetweenTheCommitsThatTakeThem() throws {
    let fleet = Fleet(seed: 102)
    let (a, b) = (try fleet.add("a"), try fleet.add("b"))
    try a.write { _ = try a.insert("Item", ["key": "k", "value": "first"], in: $0) }
    _ = try fleet.settle([(a, b)])
    for site in [a, b] {
      fleet.advance(10)
      try site.write { try site.find("Item", "k", in: $0)?.setValue(site.name, forKey: "value") }
      #expect(try site.access.history().purgeHistory(before: .max, date: nil) > 0)
    }
    fleet.interrupt(a, at: .afterGapCommit) { throw Fleet.Stopped() }
    #expect(try fleet.pass(a, b) == nil)
    #expect(fleet.wasInterrupted)
    _ = try fleet.settle([(a, b)])
    #expect(try a.picture() == b.picture())
    #expect(try GapFindings.kept(in: b.store).isEmpty)
    let told = try [a, b].flatMap { try ReplicationTests().journal($0) }
      .flatMap { [$0.losingValue, $0.winningValue] }
    #expect(Set(told).isSuperset(of: [.string("a"), .string("b")]), "\(told)")
  }

  /// A third store's later value comes while one of the two has yet to take its own.
  @Test func aLostValueIsTakenBeforeALaterOneReplacesIt() throws {
    let fleet = Fleet(seed: 103)
    let (a, b, c) = (try fleet.add("a"), try fleet.add("b"), try fleet.add("c"))
    try a.write { _ = try a.insert("Item", ["key": "k", "value": "first"], in: $0) }
    _ = try fleet.settle([(a, b), (c, b)])
    for site in [a, b] {
      fleet.advance(10)
      try site.write { try site.find("Item", "k", in: $0)?.setValue(site.name, forKey: "value") }
      #expect(try site.access.history().purgeHistory(before: .max, date: nil) > 0)
    }
    fleet.interrupt(a, at: .afterGapCommit) { throw Fleet.Stopped() }
    #expect(try fleet.pass(a, b) == nil)
    fleet.advance(10)
    try c.write { try c.find("Item", "k", in: $0)?.setValue("c", forKey: "value") }
    _ = try fleet.settle([(c, b)])
    _ = try fleet.settle([(a, b), (c, b)])
    for site in [a, b, c] { #expect(try site.picture() == ["item k c nil ^- []"]) }
    let lost = try [a, b, c].flatMap { try ReplicationTests().journal($0) }.map(\.losingValue)
    #expect(Set(lost).isSuperset(of: [.string("a"), .string("b")]), "\(lost)")
  }

  /// While a gap is open, what comes in costs a look at the rows of records that history was lost of, and no others.
  @Test func onlyRecordsThatWereThereWhenHistoryWasLostMayHaveAnUnknownValue() throws {
    let extent = GapExtent(sequence: 10, clock: ClockReading(milliseconds: 1000))
    #expect(try GapExtent(decoding: extent.encoded) == extent)
    func mayHaveLost(
      knownAt milliseconds: UInt64, changedAt sequence: UInt64, sentAs other: UInt64? = nil
    ) -> Bool {
      func write(_ milliseconds: UInt64) -> PropertyWrite {
        PropertyWrite(
          stamp: Stamp(clock: ClockReading(milliseconds: milliseconds), store: store(1)))
      }
      var entry = RecordEntry(entity: "Item", key: .row(1))
      entry.base = write(milliseconds)
      entry.sequence = sequence
      var state = RecordState(id: RecordID(high: 1, low: 1), entity: "Item")
      state.registers["value"] = Register(value: .string("v"), write: write(other ?? milliseconds))
      return extent.mayHaveLost(entry, as: state)
    }
    #expect(mayHaveLost(knownAt: 1000, changedAt: 10) && mayHaveLost(knownAt: 1000, changedAt: 11))
    #expect(!mayHaveLost(knownAt: 1001, changedAt: 11))
    // Known before, from a clock that was ahead.
    #expect(mayHaveLost(knownAt: 1001, changedAt: 10))
    // What another write has replaced in the other store tells nothing.
    #expect(!mayHaveLost(knownAt: 1000, changedAt: 10, sentAs: 1500))
  }

  /// The value as it was comes by way of a store that was compared with before, from one that is unknown here.
  @Test func aValueWhoseHistoryIsLostIsNotOverwrittenByTheOneThatItReplaced() throws {
    let fleet = Fleet(seed: 101)
    let (a, b, c, hub) = (
      try fleet.add("a"), try fleet.add("b"), try fleet.add("c"), try fleet.add("hub")
    )
    // Of two values under one stamp, the greater stays.
    try a.write { _ = try a.insert("Item", ["key": "k", "value": "z"], in: $0) }
    _ = try fleet.settle([(a, c), (b, c)])
    try a.write { try a.find("Item", "k", in: $0)?.setValue("a", forKey: "value") }
    #expect(try a.access.history().purgeHistory(before: .max, date: nil) > 0)
    _ = try fleet.settle([(a, hub)])
    #expect(try a.access.ledger().head.gap == .values)
    _ = try fleet.settle([(b, hub), (a, hub)])
    for site in [a, b, hub] {
      #expect(try site.picture() == ["item k a nil ^- []"], "\(site.name)")
    }
  }

  /// A comparison with a store that does not have the records tells nothing.
  @Test func linksAndOrdersWhoseHistoryIsLostAreFoundInTheRows() throws {
    let fleet = Fleet(seed: 97)
    let (a, b) = (try fleet.add("a"), try fleet.add("b"))
    try a.write { context in
      _ = try a.insert("Item", ["key": "k"], in: context)
      for name in ["t", "u"] { _ = try a.insert("Tag", ["name": name], in: context) }
    }
    try HistoryCapture(access: a.access).run()
    try a.write { context in
      let item = try #require(try a.find("Item", "k", in: context))
      let tags = try ["u", "t"].map { try #require(try a.find("Tag", $0, in: context)) }
      item.setValue(Set(tags), forKey: "tags")
      item.setValue(NSOrderedSet(array: tags), forKey: "picks")
    }
    _ = try a.access.history().purgeHistory(before: .max, date: nil)
    _ = try fleet.settle([(a, b)])
    #expect(try b.picture().contains("item k nil nil ^- [\"t\", \"u\"]"))
    #expect(try b.picture().contains("picks of k [\"u\", \"t\"]"))
    #expect(try a.picture() == b.picture())
    #expect(try StoreComparison(local: a.access, replica: b.access).run(name: "").isEqual)
  }
}
