import CairnModel
import Foundation
import Testing

@testable import CairnSync

/// The plan of a batch of new records is that of a plan one by one.
struct NewRowPlanningTests {
  private static let source = StoreID(high: 0, low: 7)

  private static func setting(limit: UInt64 = .max) throws -> ImportSetting {
    let model = NewRowTests.model()
    try model.prepareForUse()
    let schema = try SyncSchema(model: model, defaultPolicy: .lastWriter, policies: [:])
    return ImportSetting(
      schema: schema, defaultPolicy: .lastWriter, holdable: Set(schema.entities.keys),
      time: CredibleTime(limit: limit), now: 0)
  }

  private static func record(
    _ number: UInt64, _ entity: String, _ values: [String: WireValue], at time: UInt64,
    _ setting: ImportSetting
  ) throws -> RecordState {
    let columns = try #require(setting.schema.entities[entity]).names
    var row = RowValues(columns, [WireValue?](repeating: .null, count: columns.names.count))
    for (name, value) in values { row[name] = value }
    let write = PropertyWrite(stamp: Stamp(clock: ClockReading(milliseconds: time), store: source))
    return RecordState(
      id: RecordID(high: 1, low: number), entity: entity,
      registers: Registers(row, write: write))
  }

  private static func known(_ batch: IncomingBatch, _ entries: [RecordID: RecordEntry?]) -> Known {
    var known = Known()
    (known.nothingWaits, known.nothingIsHeld, known.hasNoLinks) = (true, true, true)
    known.hasNoneOfBatch = true
    known.entries = entries
    for record in batch.records { known.entries[record.id] = .some(nil) }
    return known
  }

  private static func place(_ key: WireValue) -> UniquePlace {
    UniquePlace(entity: "Label", constraint: ["key"], values: [key])
  }

  /// The plans by the run and one by one; nil where there is none by the run.
  private static func plans(
    _ batch: IncomingBatch, _ known: Known, _ setting: ImportSetting
  ) throws -> (fast: ImportPlan?, slow: ImportPlan?) {
    var fast: ImportPlan?
    if case .plan(let plan)? = NewRowPlanning.plan(
      batch, known: known, setting: setting, least: 1)
    {
      fast = plan.expanded
    }
    var slow: ImportPlan?
    if case .plan(let plan) = ImportPlanner.planOneByOne(batch, known: known, setting: setting) {
      slow = plan
    }
    return (fast, slow)
  }

  private static func expectSame(_ fast: ImportPlan, _ slow: ImportPlan, _ comment: Comment) {
    #expect(fast.rows == slow.rows, comment)
    #expect(fast.records == slow.records, comment)
    #expect(fast.reading == slow.reading, comment)
    #expect(fast.newsCount == slow.newsCount, comment)
    #expect(slow.links.isEmpty && slow.orders.isEmpty && slow.linkStates.isEmpty, comment)
    #expect(slow.parked.isEmpty && slow.unparked.isEmpty && slow.held.isEmpty, comment)
    #expect(slow.conflicts.isEmpty && slow.read.isEmpty && slow.culprits.isEmpty, comment)
  }

  @Test(arguments: 1...200)
  func whatIsPlannedByTheRunIsWhatIsPlannedOneByOne(seed: UInt64) throws {
    var chance = SeededGenerator(seed: seed)
    let setting = try Self.setting()
    let there = RecordID(high: 0, low: 1)
    let gone = RecordID(high: 0, low: 2)
    var entries: [RecordID: RecordEntry?] = [
      there: RecordEntry(entity: "Folder", key: .row(1)),
      gone: chance.chance(50) ? nil : RecordEntry(entity: "Folder", key: nil),
    ]
    if chance.chance(20) { entries[there] = RecordEntry(entity: "Entry", key: .row(1)) }
    var batch = IncomingBatch(source: Self.source)
    for number in 1...UInt64.random(in: 1...30, using: &chance) {
      if chance.chance(25) {
        batch.records.append(
          try Self.record(number, "Folder", ["key": .string("f")], at: number % 3, setting))
        continue
      }
      if chance.chance(10) {
        let name = chance.chance(10) ? "same" : "label \(number)"
        batch.records.append(
          try Self.record(number, "Label", ["key": .string(name)], at: number % 3, setting))
        continue
      }
      let inBatch = RecordID(high: 1, low: UInt64.random(in: 1...30, using: &chance))
      let folder = chance.pick([
        WireValue.null, .null, .reference(there), .reference(there), .reference(there),
        batch.records.contains { $0.id == inBatch } ? .reference(inBatch) : .null,
        chance.chance(10) ? .reference(gone) : .null,
      ])
      batch.records.append(
        try Self.record(
          number, "Entry", ["key": .string("\(number)"), "folder": folder ?? .null],
          at: number % 3, setting))
    }
    var known = Self.known(batch, entries)
    let holder = RecordID(high: 0, low: 3)
    known.entries[holder] = .some(RecordEntry(entity: "Label", key: .row(3)))
    known.rows[holder] = .some(nil)
    for record in batch.records where record.entity == "Label" {
      let place = Self.place(record.registers["key"]?.value ?? .null)
      known.holders[place] = chance.chance(5) ? [holder] : []
    }
    let (fast, slow) = try Self.plans(batch, known, setting)
    guard let fast else { return }
    Self.expectSame(fast, try #require(slow), "seed \(seed)")
  }

  /// A batch of entries, the last of which is changed in a way that needs a look at it.
  private static func batch(
    _ setting: ImportSetting, _ change: (inout IncomingBatch, inout Known) throws -> Void
  ) throws -> ImportPlan? {
    var batch = IncomingBatch(source: source)
    for number in 1...20 as ClosedRange<UInt64> {
      batch.records.append(
        try record(number, "Entry", ["key": .string("\(number)")], at: 1000, setting))
    }
    var known = known(batch, [:])
    try change(&batch, &known)
    return try plans(batch, known, setting).fast
  }

  @Test func onlyWhatIsNoMoreThanItsRowIsPlannedByTheRun() throws {
    let setting = try Self.setting()
    let write = PropertyWrite(
      stamp: Stamp(clock: ClockReading(milliseconds: 5), store: Self.source))
    let changes: [(why: String, (inout IncomingBatch, inout Known) -> Void)] = [
      ("a delete", { batch, _ in batch.records[19].deletion = Deletion(stamp: write.stamp) }),
      ("a union", { batch, _ in batch.records[19].survivor = batch.records[0].id }),
      (
        "a second write",
        { batch, _ in batch.records[19].registers["key"] = Register(value: .null, write: write) }
      ),
      (
        "a property of another model",
        { batch, _ in batch.records[19].registers["newer"] = Register(value: .null, write: write) }
      ),
      ("one that is known", { _, known in known.hasNoneOfBatch = false }),
      ("what waits", { _, known in known.nothingWaits = false }),
      ("what is held", { _, known in known.nothingIsHeld = false }),
      ("another order", { batch, _ in batch.records.swapAt(3, 4) }),
      ("what was refused", { batch, _ in batch.refused[batch.records[0].id] = "no" }),
    ]
    let plain = try Self.batch(setting) { _, _ in }
    #expect(plain != nil)
    for (why, change) in changes {
      let plan = try Self.batch(setting, change)
      #expect(plan == nil, "\(why)")
    }
    let future = try Self.batch(try Self.setting(limit: 999)) { _, _ in }
    #expect(future == nil)
  }

  @Test func whatIsReferredToIsLookedUp() throws {
    let setting = try Self.setting()
    let folder = RecordID(high: 0, low: 5)
    var batch = IncomingBatch(source: Self.source)
    batch.records = [
      try Self.record(1, "Entry", ["folder": .reference(folder)], at: 1, setting)
    ]
    var known = Self.known(batch, [:])
    guard
      case .needs(let needs)? = NewRowPlanning.plan(
        batch, known: known, setting: setting, least: 1)
    else {
      Issue.record("nothing was asked for")
      return
    }
    #expect(needs == [.entry(folder)])
    known.entries[folder] = .some(RecordEntry(entity: "Folder", key: .row(3)))
    #expect(try Self.plans(batch, known, setting).fast != nil)
    known.entries[folder] = .some(nil)
    #expect(try Self.plans(batch, known, setting).fast == nil)
    var deleted = RecordEntry(entity: "Folder", key: .row(3))
    deleted.deletion = Deletion(stamp: Stamp(clock: ClockReading(bits: 1), store: Self.source))
    known.entries[folder] = .some(deleted)
    #expect(try Self.plans(batch, known, setting).fast == nil)
  }

  @Test func uniqueValuesThatNobodyHasAreInsertedByTheRun() throws {
    let setting = try Self.setting()
    func batch(_ names: [WireValue]) throws -> IncomingBatch {
      var batch = IncomingBatch(source: Self.source)
      batch.records = try names.enumerated().map { place, name in
        try Self.record(UInt64(place + 1), "Label", ["key": name], at: 1, setting)
      }
      return batch
    }
    let two = try batch([.string("a"), .string("b")])
    var known = Self.known(two, [:])
    guard
      case .needs(let needs)? = NewRowPlanning.plan(two, known: known, setting: setting, least: 1),
      case .needs(let slow) = ImportPlanner.planOneByOne(two, known: known, setting: setting)
    else {
      Issue.record("nothing was asked for")
      return
    }
    #expect(needs == [.holders(Self.place(.string("a"))), .holders(Self.place(.string("b")))])
    #expect(slow.isSuperset(of: needs), "one by one it asks in the first plan, too")
    for name in ["a", "b"] { known.holders[Self.place(.string(name))] = [] }
    let plans = try Self.plans(two, known, setting)
    Self.expectSame(try #require(plans.fast), try #require(plans.slow), "two names")
    known.holders[Self.place(.string("b"))] = [RecordID(high: 0, low: 3)]
    #expect(try Self.plans(two, known, setting).fast == nil, "somebody has it")
    let same = try batch([.string("a"), .string("a")])
    #expect(try Self.plans(same, known, setting).fast == nil, "two have it")
    let none = try batch([.null, .null])
    #expect(try Self.plans(none, known, setting).fast != nil, "no value is nobody's")
  }
}
