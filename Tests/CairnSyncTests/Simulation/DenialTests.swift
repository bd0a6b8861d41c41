import CairnContext
import CairnModel
import Foundation
import Testing

@testable import CairnSync

/// Specification: sync.md 4, "Delete rules": a `deny` keeps the record, in whatever order the delete and
/// the reference arrive.
struct DenialTests {
  private static func model() -> ManagedObjectModel {
    let model = SampleModel.make()
    model.entitiesByName["Item"]?.relationshipsByName["parts"]?.deleteRule = .deny
    return model
  }

  /// An item in three stores; the first deletes it, the second gives it a part.
  private static func apart(
    onFiles: Bool, seed: UInt64
  ) throws -> (fleet: Fleet, sites: [Fleet.Site], scratch: Scratch?) {
    let scratch = onFiles ? try Scratch() : nil
    let fleet = Fleet(seed: seed, directory: scratch?.url, model: model())
    let sites = try ["a", "b", "hub"].map { try fleet.add($0) }
    try sites[0].write { context in
      _ = try sites[0].insert("Item", ["key": "i", "value": "v"], in: context)
    }
    _ = try fleet.settle([(sites[0], sites[2]), (sites[1], sites[2])])
    try sites[0].write { context in
      try sites[0].find("Item", "i", in: context).map(context.delete)
    }
    try HistoryCapture(access: sites[0].access).run()
    fleet.advance(10)
    try sites[1].write { context in
      let item = try sites[1].find("Item", "i", in: context)
      let part = try sites[1].insert("Part", ["key": "p"], in: context)
      part.setValue(item, forKey: "item")
    }
    try HistoryCapture(access: sites[1].access).run()
    return (fleet, sites, scratch)
  }

  /// Another entity whose relationship has the name of the one that denies.
  @Test func whatRefersByAPropertyOfTheSameNameDeniesNothing() throws {
    let scratch = try Scratch()
    let fleet = Fleet(
      seed: 74, directory: scratch.url, model: SampleModel.make(.muchNewer, denies: true))
    let sites = try ["a", "b", "hub"].map { try fleet.add($0) }
    let links = [(sites[0], sites[2]), (sites[1], sites[2])]
    try sites[0].write { context in
      for key in ["free", "full"] { _ = try sites[0].insert("Item", ["key": key], in: context) }
    }
    _ = try fleet.settle(links)
    try sites[0].write { context in try sites[0].all("Item", in: context).forEach(context.delete) }
    fleet.advance(10)
    try sites[1].write { context in
      for item in try sites[1].all("Item", in: context) {
        _ = try sites[1].insert("Fresh", ["title": "t", "item": item], in: context)
      }
      let full = try sites[1].find("Item", "full", in: context) as Any
      _ = try sites[1].insert("Part", ["key": "p", "item": full], in: context)
    }
    #expect(try fleet.settle(links) < 40)
    for site in sites {
      let left = try site.write { context in
        try site.all("Item", in: context).map { $0.value(forKey: "key") as? String }
      }
      #expect(left == ["full"], "\(site.name)")
      let held = try ReplicationTests().quarantine(site)
      #expect(held.count == 1 && held.first?.message.contains("parts") == true)
    }
  }

  /// Values that lose to others in a record that is kept are lost, whatever its delete had seen.
  @Test func theJournalHasWhatLosesInARecordThatIsKept() throws {
    let fleet = Fleet(seed: 73, model: Self.model())
    let sites = try ["a", "b", "hub"].map { try fleet.add($0) { $0.deleteConflicts = .deleteWins } }
    let (a, b, hub) = (sites[0], sites[1], sites[2])
    try a.write { _ = try a.insert("Item", ["key": "i", "value": "v"], in: $0) }
    _ = try fleet.settle([(a, hub), (b, hub)])
    try hub.write { context in try hub.find("Item", "i", in: context).map(context.delete) }
    for (site, value) in [(a, "x"), (b, "y")] {
      fleet.advance(10)
      try site.write { context in
        let item = try #require(try site.find("Item", "i", in: context))
        item.setValue(value, forKey: "value")
        _ = try site.insert("Part", ["key": value, "item": item], in: context)
      }
    }
    for site in sites { try HistoryCapture(access: site.access).run() }
    _ = try fleet.settle([(a, hub), (b, hub)])
    for site in sites { #expect(try site.picture().first == "item i y nil ^- []", "\(site.name)") }
    let lost = try sites.flatMap { try ReplicationTests().journal($0) }.map(\.losingValue)
    #expect(lost.contains(.string("x")))
  }

  @Test(arguments: [false, true], [false, true])
  func aDeniedDeleteTakesEffectOnceNothingIsInTheWay(
    onFiles: Bool, deleteFirst: Bool
  ) throws {
    let (fleet, sites, scratch) = try Self.apart(onFiles: onFiles, seed: 71)
    defer { withExtendedLifetime(scratch) {} }
    let hub = sites[2]
    let links = [(sites[0], hub), (sites[1], hub)]
    let order = deleteFirst ? links : links.reversed()
    #expect(try fleet.settle(order) < 40)
    let whole = ["item i v nil ^- []", "part p of i at 0"]
    for site in sites {
      #expect(try site.picture() == whole, "\(site.name)")
      let held = try ReplicationTests().quarantine(site)
      #expect(held.count == 1 && held.first?.message.contains("parts") == true)
      let journal = try ReplicationTests().journal(site)
      #expect(journal.contains { $0.rule == .writeWon && $0.property == nil }, "\(site.name)")
    }
    #expect(try StoreComparison(local: sites[0].access, replica: hub.access).run(name: "").isEqual)
    // What denies the delete goes, in the store where it had been deleted first.
    fleet.advance(10)
    try sites[0].write { context in
      for part in try sites[0].all("Part", in: context) { context.delete(part) }
    }
    #expect(try fleet.settle(order) < 40)
    for site in sites {
      #expect(try site.picture() == [], "\(site.name)")
      #expect(try ReplicationTests().quarantine(site).isEmpty, "\(site.name)")
    }
  }

  @Test func aWriteBringsBackWhatWasKeptForGood() throws {
    let (fleet, sites, _) = try Self.apart(onFiles: false, seed: 72)
    let links = [(sites[0], sites[2]), (sites[1], sites[2])]
    _ = try fleet.settle(links)
    fleet.advance(10)
    try sites[0].write {
      try sites[0].find("Item", "i", in: $0)?.setValue("again", forKey: "value")
    }
    #expect(try fleet.settle(links) < 40)
    for site in sites {
      #expect(try site.picture() == ["item i again nil ^- []", "part p of i at 0"])
      #expect(try ReplicationTests().quarantine(site).isEmpty, "\(site.name)")
    }
    fleet.advance(10)
    try sites[1].write { context in
      for part in try sites[1].all("Part", in: context) { context.delete(part) }
    }
    _ = try fleet.settle(links)
    for site in sites { #expect(try site.picture() == ["item i again nil ^- []"]) }
  }

  @Test func discardingTheDeleteKeepsTheRecord() throws {
    let (fleet, sites, _) = try Self.apart(onFiles: false, seed: 73)
    _ = try fleet.settle([(sites[0], sites[2]), (sites[1], sites[2])])
    let held = try #require(try ReplicationTests().quarantine(sites[1]).first?.state)
    let ledger = try sites[1].access.ledger()
    let entry = try #require(try ledger.record(held.id))
    let object = try #require(ledger.objectID(for: entry))
    let row = try #require(try sites[1].store.snapshots(for: [object])[0])
    let mine = entry.state(id: held.id, row: try RowReading(ledger: ledger).values(of: row))
    let discard = QuarantineDiscard(mine: mine, held: held, policy: .lastWriter, isThere: true)
    #expect(discard.effect == .keepsRecord)
    let later = ClockReading(milliseconds: 2_000_000)
    let (state, lost) = discard.decide(at: Stamp(clock: later, store: ledger.storeID))
    #expect(state.isAlive(under: .lastWriter) && lost.map(\.rule) == [.discarded])
    var wins = held
    let deletion = try #require(held.deletion)
    wins.deletion = Deletion(stamp: deletion.stamp, seen: deletion.seen, policy: .deleteWins)
    let strict = QuarantineDiscard(mine: mine, held: wins, policy: .lastWriter, isThere: true)
    guard case .impossible = strict.effect else {
      Issue.record("a delete that wins cannot be taken back: \(strict.effect)")
      return
    }
  }

  /// A delete that wins stays; what came along with it, and is refused, is given up.
  @Test(arguments: [true, false])
  func valuesOfARecordWhoseDeleteIsDeniedAreDiscardedWithoutIt(isNewsHere: Bool) throws {
    func stamp(_ milliseconds: UInt64, _ store: UInt64) -> Stamp {
      Stamp(
        clock: ClockReading(milliseconds: milliseconds), store: StoreID(high: store, low: store))
    }
    let (old, new) = (stamp(1, 1), stamp(3, 1))
    let delete = Deletion(stamp: stamp(2, 2))
    let id = RecordID(high: 1, low: 1)
    func state(_ value: String, _ stamp: Stamp, _ deletion: Deletion?) -> RecordState {
      let write = PropertyWrite(stamp: stamp)
      return RecordState(
        id: id, entity: "Item",
        registers: ["value": Register(value: .string(value), write: write)], deletion: deletion)
    }
    let discard = QuarantineDiscard(
      mine: state("short", old, isNewsHere ? nil : delete), held: state("long", new, delete),
      policy: .deleteWins, isThere: true)
    #expect(discard.effect == .keepsValues(["value"]))
    let (kept, lost) = discard.decide(at: stamp(4, 2))
    #expect(kept.deletion == delete && kept.registers["value"]?.value == .string("short"))
    #expect(kept.registers["value"].map { $0.write.stamp > new } == true)
    // Its own value goes with the delete, whose author had not seen it.
    let own = isNewsHere ? [Conflict.Rule.deleteWon] : []
    #expect(lost.map(\.rule) == [.discarded] + own)
    #expect(lost.first?.losingValue == .string("long"))
    #expect(lost.dropFirst().allSatisfy { $0.losingValue == .string("short") })
  }

  /// The store refuses the whole record for a value of its own, so that what loses to that was merged nowhere.
  @Test func whatLosesByItsStampIsInTheJournalToo() throws {
    func register(_ value: String, _ milliseconds: UInt64, _ store: UInt64) -> Register {
      let stamp = Stamp(
        clock: ClockReading(milliseconds: milliseconds), store: StoreID(high: store, low: store))
      return Register(value: .string(value), write: PropertyWrite(stamp: stamp))
    }
    func state(_ registers: Registers) -> RecordState {
      RecordState(id: RecordID(high: 1, low: 1), entity: "Item", registers: registers)
    }
    let discard = QuarantineDiscard(
      mine: state(["value": register("mine", 3, 1), "key": register("k", 1, 1)]),
      held: state(["value": register("earlier", 2, 2), "key": register("later", 4, 2)]),
      policy: .lastWriter, isThere: true)
    #expect(discard.effect == .keepsValues(["key"]))
    let (kept, lost) = discard.decide(
      at: Stamp(clock: ClockReading(milliseconds: 5), store: StoreID(high: 1, low: 1)))
    #expect(kept.registers["value"]?.value == .string("mine"))
    #expect(lost.map(\.losingValue) == [.string("later"), .string("earlier")])
    #expect(lost.map(\.rule) == [.discarded, .lastWriter])
  }
}
