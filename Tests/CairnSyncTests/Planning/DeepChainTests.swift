import CairnModel
import Foundation
import Testing
import TestSupport

@testable import CairnSync

/// Planning looks at each record of a long chain a few times, not once for each of the others.
struct DeepChainTests {
  /// A record that hangs on another, its parent, or has another for its own, its rest.
  static func model(_ rule: DeleteRule) -> ManagedObjectModel {
    let node = EntityDescription(name: "Node")
    let (parent, children) = (
      relationship("parent", to: node),
      relationship("children", to: node, isToMany: true, deleteRule: rule)
    )
    let (rest, users) = (
      relationship("rest", to: node, deleteRule: rule),
      relationship("users", to: node, isToMany: true)
    )
    connect(parent, children)
    connect(rest, users)
    node.properties = [
      AttributeDescription(name: "key", type: .string), parent, children, rest, users,
    ]
    let model = ManagedObjectModel()
    model.entities = [node]
    return model
  }

  private static let source = StoreID(high: 0, low: 7)

  private static func stamp(_ time: UInt64, _ store: StoreID = source) -> Stamp {
    Stamp(clock: ClockReading(milliseconds: time), store: store)
  }

  /// A store that has a chain, or nothing of it, and answers at once all that can be asked of it.
  private struct Chain {
    let setting: ImportSetting
    let property: String
    let ids: [RecordID]
    var known = Known()

    /// - Parameter property: `parent`: each refers to the one before. `rest`: each refers to the one after it.
    init(_ length: Int, _ rule: DeleteRule, by property: String, isReversed: Bool = false) throws {
      let model = DeepChainTests.model(rule)
      try model.prepareForUse()
      let schema = try SyncSchema(model: model, defaultPolicy: .lastWriter, policies: [:])
      setting = ImportSetting(
        schema: schema, defaultPolicy: .lastWriter, holdable: ["Node"],
        time: CredibleTime(limit: .max), now: 0)
      self.property = property
      let ids = (0..<length).map { RecordID(high: 1, low: UInt64($0)) }
      self.ids = isReversed ? ids.reversed() : ids
      known.hasNoLinks = true
      known.nothingIsHeld = true
      for id in ids {
        known.entries[id] = .some(nil)
        known.waiting[id] = []
        known.referrers[id] = []
      }
    }

    func target(_ place: Int) -> RecordID? {
      let place = property == "parent" ? place - 1 : place + 1
      return ids.indices.contains(place) ? ids[place] : nil
    }

    func row(_ place: Int) throws -> RowValues {
      let names = try #require(setting.schema.entities["Node"]).names
      var row = RowValues(names, [WireValue?](repeating: .null, count: names.names.count))
      row["key"] = .string("\(place)")
      if let target = target(place) { row[property] = .reference(target) }
      return row
    }

    func state(_ place: Int, at time: UInt64 = 10) throws -> RecordState {
      RecordState(
        id: ids[place], entity: "Node",
        registers: Registers(
          try row(place), write: PropertyWrite(stamp: DeepChainTests.stamp(time))))
    }

    func deleted(_ place: Int, at time: UInt64) -> RecordState {
      RecordState(
        id: ids[place], entity: "Node", deletion: Deletion(stamp: DeepChainTests.stamp(time)))
    }

    /// Puts a record there, with a row, written by a store that no deleter knows.
    mutating func insert(_ place: Int, at time: UInt64 = 10) throws {
      var entry = RecordEntry(entity: "Node", key: .row(Int64(place) + 1))
      entry.base = PropertyWrite(
        stamp: DeepChainTests.stamp(time, StoreID(high: 0, low: 8)))
      known.entries[ids[place]] = entry
      known.rows[ids[place]] = try row(place)
      if let target = target(place) {
        known.referrers[target, default: []].append(
          Referrer(record: ids[place], property: property))
      }
    }

    /// Puts a record there that went along with one that is deleted: its values are kept, and it waits.
    mutating func hide(_ place: Int, at time: UInt64 = 10) throws {
      var entry = RecordEntry(entity: "Node", key: nil)
      entry.takeWrites(from: try state(place, at: time))
      entry.overlay = try state(place, at: time).registers.byName.mapValues(\.value)
      known.entries[ids[place]] = entry
      if let target = target(place) {
        known.waiting[target, default: []].append(
          WaitingReference(owner: ids[place], property: property))
      }
    }

    func plan(_ records: [RecordState]) throws -> ImportPlan {
      let batch = IncomingBatch(
        source: DeepChainTests.source, records: records.sorted { $0.id < $1.id })
      switch ImportPlanner.planOneByOne(batch, known: known, setting: setting) {
      case .plan(let plan): return plan
      case .needs(let needs): throw PureStore.Stuck(needs: needs)
      }
    }
  }

  /// What is done with a chain of a length.
  private enum Deed: CaseIterable {
    /// All of it arrives at once.
    case arrives
    /// The same, each record with a smaller ID than the one that it refers to.
    case arrivesReversed
    /// Its first record is deleted by a store that did not know of the others.
    case goesAlong
    /// The same, by references of the first to the second and so on.
    case isTaken
    /// Its first record, which all others went along with, comes back.
    case comesBack
    /// The first arrives where the second waits for it, and the third for that, and so on.
    case waits
    /// Deletes of all but the last, which denies the one before it its delete.
    case isDenied

    func plan(_ length: Int) throws -> ImportPlan {
      switch self {
      case .arrives, .arrivesReversed:
        let chain = try Chain(
          length, .cascade, by: "parent", isReversed: self == .arrivesReversed)
        return try chain.plan(chain.ids.indices.map { try chain.state($0) })
      case .goesAlong, .isTaken:
        var chain = try Chain(length, .cascade, by: self == .isTaken ? "rest" : "parent")
        for place in chain.ids.indices { try chain.insert(place, at: place == 0 ? 10 : 30) }
        return try chain.plan([chain.deleted(0, at: 20)])
      case .comesBack:
        var chain = try Chain(length, .cascade, by: "parent")
        for place in chain.ids.indices.dropFirst() { try chain.hide(place, at: 30) }
        var entry = RecordEntry(entity: "Node", key: nil)
        entry.deletion = Deletion(stamp: DeepChainTests.stamp(20))
        chain.known.entries[chain.ids[0]] = entry
        return try chain.plan([chain.state(0, at: 40)])
      case .waits:
        var chain = try Chain(length, .nullify, by: "parent")
        for place in chain.ids.indices.dropFirst() { try chain.hide(place) }
        return try chain.plan([chain.state(0)])
      case .isDenied:
        var chain = try Chain(length, .deny, by: "parent")
        for place in chain.ids.indices { try chain.insert(place) }
        return try chain.plan(
          chain.ids.indices.dropLast().map { chain.deleted($0, at: 20) })
      }
    }

    /// How many rows come, go, or stay with a note that their delete is denied.
    func count(_ plan: ImportPlan) -> Int { self == .isDenied ? plan.held.count : plan.rows.count }
  }

  @Test(arguments: Deed.allCases)
  private func twiceTheLengthTakesTwiceTheLooks(deed: Deed) throws {
    let length = 250
    let (short, long) = (try deed.plan(length), try deed.plan(2 * length))
    let missing = deed == .isDenied ? 1 : 0
    #expect(deed.count(short) == length - missing && deed.count(long) == 2 * length - missing)
    #expect(short.looks >= length && short.looks < 20 * length, "\(short.looks)")
    #expect(Double(long.looks) < 2.2 * Double(short.looks), "\(short.looks) and \(long.looks)")
  }
}
