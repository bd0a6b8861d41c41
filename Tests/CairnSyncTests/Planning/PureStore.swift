import CairnModel
import Foundation

@testable import CairnSync

/// A store of values that a planner's plans are applied to: rows, bookkeeping and nothing else, so that
/// the laws of planning can be tested by the thousand.
struct PureStore {
  struct Stuck: Error { let needs: Set<Lookup> }
  struct Broken: Error { let what: String }

  let id: StoreID
  let setting: ImportSetting
  private(set) var entries: [RecordID: RecordEntry] = [:]
  private(set) var rows: [RecordID: Known.Row] = [:]
  private(set) var links: [LinkKey: LinkState] = [:]
  /// The links that rows of a join table show.
  private(set) var joined: Set<LinkKey> = []
  private(set) var lists: [String: [RecordID]] = [:]
  private(set) var parked: Set<ImportPlan.Parking> = []
  private(set) var quarantine: [HeldKey: QuarantineEntry] = [:]
  private(set) var journal: Set<RecordID> = []
  private var nextKey: Int64 = 1
  /// What one batch may at most ask for, one after another.
  static let rounds = 30

  init(_ number: UInt64, _ setting: ImportSetting) {
    id = StoreID(high: number, low: 0)
    var setting = setting
    setting.store = id
    self.setting = setting
  }

  var schema: SyncSchema { setting.schema }

  // MARK: States

  func state(_ id: RecordID) -> RecordState? { entries[id]?.state(id: id, row: rows[id]) }

  var states: [RecordState] { entries.keys.sorted().compactMap(state) }
  var linkChanges: [LinkChange] {
    links.sorted { $0.key < $1.key }.map { LinkChange(key: $0.key, state: $0.value) }
  }

  /// What an application sees.
  var picture: [String] {
    var lines = rows.map { id, row in
      "\(entries[id]?.entity ?? "") \(id.low) "
        + row.byName.filter { $0.value != .null }.sorted { $0.key < $1.key }
        .map { "\($0.key)=\($0.value.reference.map { "\($0.low)" } ?? "\($0.value)")" }
        .joined(separator: " ")
    }
    lines += joined.map { "\($0.relationship) \($0.owner.low) \($0.member.low)" }
    lines += currentLists.filter { !$0.value.isEmpty }
      .map { "\($0.key) \($0.value.map(\.low))" }
    return lines.sorted()
  }

  // MARK: Receiving

  /// - Returns: Whether anything changed.
  @discardableResult
  mutating func receive(
    _ records: [RecordState], _ links: [LinkChange], from source: StoreID
  ) throws -> Bool {
    let before = (entries, rows, self.links, joined, parked)
    let plan = try plan(records, links, from: source)
    try apply(plan)
    return before.0 != entries || before.1 != rows || before.2 != self.links
      || before.3 != joined || before.4 != parked
  }

  @discardableResult
  mutating func receive(from other: PureStore) throws -> Bool {
    try receive(other.states, other.linkChanges, from: other.id)
  }

  /// Receives some of the records of another store.
  mutating func receive(_ ids: [RecordID], of other: PureStore) throws {
    try apply(plan(ids.compactMap(other.state), [], from: other.id, partOf: other))
  }

  /// Tries what waits in quarantine.
  ///
  /// - Returns: Whether anything changed.
  @discardableResult
  mutating func retry() throws -> Bool {
    let waiting = quarantine.values.compactMap(\.state).sorted { $0.id < $1.id }
    return try !waiting.isEmpty && receive(waiting, [], from: id)
  }

  /// - Parameter part: The store that what comes is a part of.
  func plan(
    _ records: [RecordState], _ links: [LinkChange], from source: StoreID,
    partOf part: PureStore? = nil
  ) throws -> ImportPlan {
    let batch = IncomingBatch(
      source: source, records: records, links: links, isPart: part != nil)
    var known = Known()
    known.nothingWaits = parked.isEmpty
    known.hasNoLinks = self.links.isEmpty
    known.nothingIsHeld = quarantine.isEmpty
    for _ in 0..<Self.rounds {
      switch ImportPlanner.plan(batch, known: known, setting: setting) {
      case .plan(let plan): return plan
      case .needs(let lookups): for lookup in lookups { answer(lookup, in: &known, part) }
      }
    }
    guard case .needs(let needs) = ImportPlanner.plan(batch, known: known, setting: setting) else {
      throw Broken(what: "a plan after \(Self.rounds) rounds")
    }
    throw Stuck(needs: needs)
  }

  private func answer(_ lookup: Lookup, in known: inout Known, _ source: PureStore?) {
    switch lookup {
    case .entry(let id): known.entries[id] = .some(entries[id])
    case .record(let id):
      known.entries[id] = .some(entries[id])
      known.rows[id] = .some(rows[id])
    case .link(let key): known.links[key] = .some(links[key])
    case .links(let end):
      let keys = links.keys.filter { key in
        guard key.relationship == end.relationship else { return false }
        switch end.role {
        case .owner: return key.owner == end.record
        case .member: return key.member == end.record
        case .either: return key.owner == end.record || key.member == end.record
        }
      }
      known.linksOfRecords[end] = keys
      for key in keys { known.links[key] = .some(links[key]) }
    case .waiting(let id):
      known.waiting[id] = parked.filter { $0.target == id }.map(\.reference)
    case .referrers(let id):
      known.referrers[id] = rows.flatMap { referrer, row in
        row.byName.filter { $0.value.reference == id }.map {
          Referrer(record: referrer, property: $0.key)
        }
      }
    case .holders(let place):
      known.holders[place] = rows.filter { _, row in
        zip(place.constraint, place.values).allSatisfy { row[$0]?.isSame(as: $1) ?? false }
      }.map(\.key)
    case .held(let key): known.quarantine[key] = .some(quarantine[key])
    case .source(let id): known.sources[id] = .some(source?.state(id))
    }
  }

  // MARK: Applying

  private mutating func apply(_ plan: ImportPlan) throws {
    for action in plan.rows { try apply(action) }
    for write in plan.records {
      var entry = write.entry
      if rows[write.id] == nil {
        guard entry.key == nil else { throw Broken(what: "a key without a row") }
      } else if entry.key == nil {
        entry.key = .row(nextKey)
        nextKey += 1
      }
      entries[write.id] = entry
    }
    for write in plan.linkStates { links[write.key] = write.state }
    for key in plan.movedLinks { links[key] = nil }
    for action in plan.links {
      for member in action.added { joined.insert(key(action, member)) }
      for member in action.removed { joined.remove(key(action, member)) }
    }
    for action in plan.orders {
      lists["\(action.owner.low).\(action.relationship)"] = action.members
    }
    parked.subtract(plan.unparked)
    parked.formUnion(plan.parked)
    for item in plan.held { quarantine[item.key] = item.entry }
    for key in plan.released { quarantine[key] = nil }
    journal.formUnion(plan.conflicts.map { JournalEntry(conflict: $0, time: 0).id })
  }

  private func key(_ action: ImportPlan.LinkAction, _ member: RecordID) -> LinkKey {
    LinkKey(relationship: action.relationship, owner: action.owner, member: member)
  }

  private mutating func apply(_ action: ImportPlan.RowAction) throws {
    if action.kind == .delete {
      guard rows.removeValue(forKey: action.id) != nil else {
        throw Broken(what: "a delete without a row")
      }
      joined = joined.filter { $0.owner != action.id && $0.member != action.id }
      return
    }
    guard let plan = schema.entities[action.entity] else {
      throw Broken(what: "a row of no entity")
    }
    guard (rows[action.id] == nil) == (action.kind == .insert) else {
      throw Broken(
        what: "\(action.kind) of a row that is \(rows[action.id] == nil ? "not " : "")there")
    }
    var row =
      rows[action.id]
      ?? RowValues(plan.names, plan.columns.map { _ in .null })
    for item in action.values { row.values[item.column] = item.value }
    rows[action.id] = row
  }

  // MARK: Invariants

  /// What is wrong with the rows; nil when nothing is.
  func flaw() -> String? {
    for (id, row) in rows {
      guard entries[id]?.key != nil else { return "row \(id.low) without a key" }
      for (name, value) in row.byName {
        if let target = value.reference, rows[target] == nil {
          return "\(id.low).\(name) leads to \(target.low), which is not there"
        }
      }
    }
    for (id, entry) in entries where entry.key != nil && rows[id] == nil {
      return "record \(id.low) has a key and no row"
    }
    let shown = Set(
      links.filter { $0.value.isMember && rows[$0.key.owner] != nil && rows[$0.key.member] != nil }
        .keys)
    if shown != joined { return "links \(shown) are shown as \(joined)" }
    for (name, members) in currentLists where places(name) != members {
      return "\(name) is \(members.map(\.low)), not \(places(name).map(\.low))"
    }
    return nil
  }

  /// The lists without members that have gone.
  private var currentLists: [String: [RecordID]] {
    var result: [String: [RecordID]] = [:]
    for name in lists.keys {
      let members = Set(places(name))
      if !members.isEmpty { result[name] = (lists[name] ?? []).filter(members.contains) }
    }
    return result
  }

  /// The members of an item's parts in the order of their places.
  private func places(_ list: String) -> [RecordID] {
    guard list.hasSuffix(".parts"), let owner = UInt64(list.dropLast(6)) else { return [] }
    let members = rows.compactMap { id, row -> (id: RecordID, key: Data)? in
      guard row["item"]?.reference?.low == owner else { return nil }
      guard case .data(let key) = entries[id]?.overlay["item#position"] else {
        return (id, Data([255]))
      }
      return (id, key)
    }
    return members.sorted { a, b in
      a.key == b.key ? a.id < b.id : a.key.lexicographicallyPrecedes(b.key)
    }.map(\.id)
  }
}

// What applications do to a store, as capture writes it down.
extension PureStore {
  mutating func insert(
    _ record: RecordID, _ entity: String, _ values: [String: WireValue], _ stamp: Stamp
  ) {
    guard entries[record] == nil, let plan = schema.entities[entity] else { return }
    var entry = RecordEntry(entity: entity, key: .row(nextKey))
    nextKey += 1
    entry.base = PropertyWrite(stamp: stamp)
    entries[record] = entry
    rows[record] = RowValues(plan.names, plan.names.names.map { values[$0] ?? .null })
    if let item = values["item"]?.reference { place(record, in: item, stamp) }
  }

  private mutating func place(_ part: RecordID, in item: RecordID, _ stamp: Stamp) {
    let list = "\(item.low).parts"
    let others = rows.keys.filter { $0 != part && rows[$0]?["item"]?.reference == item }
    let last = others.compactMap { id -> PositionKey? in
      guard case .data(let key) = entries[id]?.overlay["item#position"] else { return nil }
      return PositionKey(data: key)
    }.max()
    let key = PositionKey.between(last, nil, for: part)
    let old = entries[part]?.write(of: "item#position")
    entries[part]?.overlay["item#position"] = .data(key.data)
    entries[part]?.writes["item#position"] =
      old?.overwritten(at: stamp) ?? PropertyWrite(stamp: stamp)
    lists[list] = places(list)
  }

  mutating func write(
    _ record: RecordID, _ name: String, _ value: WireValue, _ stamp: Stamp, byRule: Bool = false
  ) {
    guard var entry = entries[record], rows[record] != nil else { return }
    if let target = value.reference, rows[target] == nil { return }
    let earlier = entry.write(of: name)
    let hidden = entry.overlay.removeValue(forKey: name)
    entry.writes[name] =
      (hidden == nil
        ? earlier?.overwritten(at: stamp, byRule: byRule)
        : earlier?.overwrittenUnseen(at: stamp, byRule: byRule)) ?? PropertyWrite(stamp: stamp)
    if let old = hidden?.reference {
      parked.remove(
        .init(target: old, reference: WaitingReference(owner: record, property: name)))
    }
    entries[record] = entry
    rows[record]?[name] = value
    if name == "item", let item = value.reference { place(record, in: item, stamp) }
  }

  /// With what the model's delete rules do.
  mutating func delete(_ record: RecordID, _ stamp: Stamp) {
    guard var entry = entries[record], rows[record] != nil else { return }
    let isInTheWay = rows.values.contains { $0["item"]?.reference == record }
    if schema.hasDenials, isInTheWay { return }
    rows[record] = nil
    joined = joined.filter { $0.owner != record && $0.member != record }
    var seen = SeenWrites()
    let writes = [entry.base].compactMap { $0 } + Array(entry.writes.values)
    for write in writes {
      seen.insert(write.stamp)
      seen.formUnion(write.seen)
    }
    if let old = entry.deletion {
      seen.insert(old.stamp)
      seen.formUnion(old.seen)
    }
    seen.remove(stamp.store)
    let known = writes.map(\.stamp) + [entry.deletion?.stamp].compactMap { $0 }
    let policy = schema.entities[entry.entity]?.policy
    entry.deletion = Deletion(
      stamp: known.reduce(stamp) { $0.after($1) }, seen: seen, policy: policy)
    for (name, value) in entry.overlay {
      if let target = value.reference {
        parked.remove(
          .init(target: target, reference: WaitingReference(owner: record, property: name)))
      }
    }
    entry.key = nil
    entry.base = nil
    entry.writes = [:]
    entry.overlay = [:]
    entries[record] = entry
    for referrer in rows.keys.sorted() {
      for (name, value) in rows[referrer]?.byName ?? [:] where value.reference == record {
        if name == "item" {
          delete(referrer, stamp)
        } else {
          write(referrer, name, .null, stamp, byRule: true)
        }
      }
    }
  }

  mutating func link(_ key: LinkKey, _ isMember: Bool, _ stamp: Stamp) {
    guard rows[key.owner] != nil, rows[key.member] != nil else { return }
    let old = links[key]
    if (old?.isMember ?? false) == isMember { return }
    links[key] = LinkState(
      write: old?.write.overwritten(at: stamp) ?? PropertyWrite(stamp: stamp), isMember: isMember)
    if isMember { joined.insert(key) } else { joined.remove(key) }
  }
}
