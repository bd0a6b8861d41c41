/// Decides what a batch does to a destination, from what is known of it: merging, collisions, delete
/// rules, claims, orders, what waits, what is held, and what is written down.
///
/// A function of its inputs: no store, no context, no clock. Where something is not known yet it says
/// what; see ``Outcome``.
struct ImportPlanner {
  enum Outcome {
    /// Look these up and plan again.
    case needs(Set<Lookup>)
    case plan(ImportPlan)
  }

  /// One record the batch touches.
  struct Item {
    let id: RecordID
    let entry: RecordEntry?
    /// The row before; nil when there was no object.
    let row: Known.Row?
    /// The state before; nil when the record was unknown here.
    let before: RecordState?
    var after: RecordState
    /// Whether the state equals the one the source sent.
    var equalsIncoming = false
    /// Whether the source knows less of a record that is deleted here, and sent nothing new: it has not heard of the
    /// delete or of what was deleted, or has forgotten it.
    var isSourceBehind = false
    /// Whether others have to learn of it: the state itself changed, not only what the row can show of it, or
    /// the source has to be told again.
    var isNews: Bool { before != after || isSourceBehind }

    /// Whether another write of a property counts now than the one that filled the row.
    func hasNewWrite(of name: String) -> Bool {
      before?.registers[name]?.write.stamp != after.registers[name]?.write.stamp
    }
  }

  struct PlannedLink {
    let state: LinkState
    let isNews: Bool
    let equalsIncoming: Bool
  }

  let known: Known
  let setting: ImportSetting
  let source: StoreID
  let batch: IncomingBatch
  /// The records that came, of a batch that is a part.
  private let sent: Set<RecordID>
  var needs: Set<Lookup> = []
  var items: [RecordID: Item] = [:]
  var links: [LinkKey: PlannedLink] = [:]
  /// The keys of `links` by either end.
  var linksByEnd: [LinkEnd: Set<LinkKey>] = [:]
  /// The links that a union takes from a record whose survivor has them now, in `links`: the ledger forgets them.
  var moved: Set<LinkKey> = []
  var conflicts: [Conflict] = []
  /// Of deleted records, what is lost all the same should they be kept.
  var conflictsOfKept: [RecordID: [Conflict]] = [:]
  /// The records that go along with a deleted one, and when that was deleted; see ``settleFates()``.
  var hidden: [RecordID: Stamp] = [:]
  /// The records that stay although they were deleted, and what stands in the way.
  var kept: [RecordID: Denial] = [:]
  /// What became an item and was not followed yet, see ``settlePresence()``.
  var loaded: [RecordID] = []
  /// The items by what they refer to, see ``itemsReferring(to:)``; nil where it is to be found anew.
  var referring: [RecordID: Set<Referrer>]?
  /// How often a record was looked at because of another one: in proportion to both, however deep they hang
  /// together.
  var looks = 0
  var schema: SyncSchema { setting.schema }

  private init(_ batch: IncomingBatch, _ known: Known, _ setting: ImportSetting) {
    self.batch = batch
    self.known = known
    self.setting = setting
    source = batch.source
    sent = batch.isPart ? Set(batch.records.map(\.id)) : []
  }

  static func plan(_ batch: IncomingBatch, known: Known, setting: ImportSetting) -> Outcome {
    NewRowPlanning.plan(batch, known: known, setting: setting)
      ?? planOneByOne(batch, known: known, setting: setting)
  }

  static func planOneByOne(
    _ batch: IncomingBatch, known: Known, setting: ImportSetting
  ) -> Outcome {
    var batch = batch
    batch.records += known.sources.values.compactMap { $0 }
    var planner = ImportPlanner(batch, known, setting)
    var sorting = IncomingSorting(source: batch.source)
    planner.decide(&sorting)
    if !planner.needs.isEmpty { return .needs(planner.needs) }
    let plan = planner.result(sorting)
    return planner.needs.isEmpty ? .plan(plan) : .needs(planner.needs)
  }

  private mutating func decide(_ sorting: inout IncomingSorting) {
    sorting.sort(batch, &self)
    for record in sorting.records {
      load(record.id)
      record.registers.forEachReference { _ = entry($0) }
    }
    for link in sorting.links where known.links[link.key] == nil { needs.insert(.link(link.key)) }
    for id in batch.reconsidered { load(id) }
    askForHolders(of: sorting.records)
    if !needs.isEmpty { return }
    for record in sorting.records { merge(record, wasLess: sorting.sentLess.contains(record.id)) }
    _ = settleUniqueness()
    for link in sorting.links { merge(link) }
    for id in batch.reconsidered.sorted() {
      if let state = load(id) { lookAtLinks(of: id, state) }
    }
    settlePresence()
    // What stays although it was deleted may share unique values with what came after it.
    while !kept.isEmpty, needs.isEmpty, settleUniqueness() { settlePresence() }
  }

  // MARK: What is there

  /// The bookkeeping's entry; nil when the record is unknown here, or when that is not known yet.
  mutating func entry(_ id: RecordID) -> RecordEntry? {
    if let entry = known.entries[id] { return entry }
    needs.insert(.entry(id))
    return nil
  }

  /// Makes the record an item of the plan.
  ///
  /// - Returns: Its state so far; nil when it is unknown here.
  @discardableResult
  mutating func load(_ id: RecordID) -> RecordState? {
    if let item = items[id] {
      return item.before == nil && item.after.isUnknown ? nil : item.after
    }
    guard let known = known.entries[id] else {
      needs.insert(.record(id))
      return nil
    }
    var row: Known.Row?
    if known?.key != nil {
      guard let read = self.known.rows[id] else {
        needs.insert(.record(id))
        return nil
      }
      row = read
    }
    let before = known?.state(id: id, row: row)
    items[id] = Item(
      id: id, entry: known, row: row, before: before,
      after: before ?? RecordState(id: id, entity: ""))
    loaded.append(id)
    if referring != nil, let item = items[id] { noteReferences(of: item) }
    return before
  }

  /// Whether this store can have an object of the record's entity.
  func canHold(_ state: RecordState) -> Bool { setting.holdable.contains(state.entity) }

  /// Whether the record has an object when the plan has been carried out.
  mutating func isPresent(_ id: RecordID) -> Bool {
    if let item = items[id] { return isPresent(item) }
    return entry(id)?.key != nil
  }

  func isPresent(_ item: Item) -> Bool {
    guard canHold(item.after) else { return false }
    return kept[item.id] != nil || hidden[item.id] == nil && setting.isAlive(item.after)
  }

  /// Whether a record that was known here without an object lives again, by itself or with what it had gone along
  /// with: others may have forgotten what this store then shows of it, with the delete.
  func livesAgain(_ item: Item) -> Bool {
    item.entry != nil && item.row == nil && !batch.isModelChange && isPresent(item)
  }

  /// The entity of a record, the plan's decisions included; nil for an unknown one.
  mutating func entity(of id: RecordID) -> String? {
    if let item = items[id] { return item.after.entity }
    return entry(id)?.entity
  }

  /// The record that stands for one, the plan's decisions included.
  mutating func resolve(_ id: RecordID) -> RecordID {
    var current = id
    while true {
      let next = items[current].map(\.after.survivor) ?? entry(current)?.survivor
      // Survivors have smaller IDs, so this ends.
      guard let next, next < current else { return current }
      current = next
    }
  }

  // MARK: Merging

  /// - Parameter wasLess: Whether the source sent less, and the rest waited here.
  private mutating func merge(_ incoming: RecordState, wasLess: Bool) {
    let mine = load(incoming.id)
    let decision = RecordDecision.decide(
      mine: mine, theirs: incoming, policy: setting.policy(of: incoming))
    conflicts += decision.conflicts
    if let mine, !setting.isAlive(decision.merged) {
      if batch.journalsDeletes, setting.isAlive(mine) {
        conflicts += Conflict.taken(from: mine, by: decision.merged, besides: decision.conflicts)
      }
      conflictsOfKept[incoming.id, default: []] += Conflict.lostRegisters(
        mine: mine, theirs: incoming, merged: decision.merged, rule: .lastWriter)
    }
    var merged = decision.merged
    var equalsIncoming = decision.equalsIncoming && !batch.completed.contains(incoming.id)
    if let item = items[incoming.id], item.row != nil, item.after.entity != merged.entity {
      // The row is what it is; older versions may have written down another entity elsewhere.
      merged.entity = item.after.entity
      equalsIncoming = false
    }
    items[incoming.id]?.after.survivor = merged.survivor
    if let survivor = merged.survivor {
      noteDelete(of: merged, before: mine, losingTo: survivor)
      // United here or there: the values belong to the survivor.
      let registers = merged.registers
      let wasAlive = mine.map(setting.isAlive) ?? false
      if !registers.isEmpty, absorb(registers, of: merged, into: survivor, wasAlive: wasAlive) {
        merged.registers = [:]
        equalsIncoming = false
      }
      if mine?.survivor == nil { moveLinks(of: incoming.id, merged) }
    }
    items[incoming.id]?.after = merged
    if mine == nil { absorbWaiting(for: incoming.id) }
    items[incoming.id]?.equalsIncoming = equalsIncoming
    // Told once: what the source sends after that has all of this in it. Also of two that are deleted, since a
    // delete may be denied. Not of what both know to be united: where the survivor has not arrived, the values wait
    // with the tombstone, and the other has them elsewhere.
    let isUnited = merged.survivor != nil && merged.survivor == incoming.survivor
    if batch.isSent, mine == merged, merged != incoming || wasLess, !setting.isAlive(merged),
      !isUnited
    {
      items[incoming.id]?.isSourceBehind = true
    }
  }

  /// Asks what the source has of those of colliding records that it has not sent: one that it has deleted or
  /// renamed before it gave the values to the other is not united with that.
  ///
  /// - Returns: Whether anything is to be asked.
  mutating func askSource(about ids: [RecordID]) -> Bool {
    if !batch.isPart { return false }
    let unasked = ids.filter { !sent.contains($0) && known.sources[$0] == nil }
    needs.formUnion(unasked.map(Lookup.source))
    return !unasked.isEmpty
  }

  /// Unites two items that collide; see ``RecordDecision/unite(_:_:)``.
  mutating func unite(_ a: RecordID, _ b: RecordID) {
    guard let first = load(a), let second = load(b) else { return }
    let result = RecordDecision.unite(first, second, policy: setting.policy(of: first))
    conflicts += result.conflicts
    let (keeper, other) = first.id < second.id ? (first, second) : (second, first)
    noteValuesWithoutPlace(of: other.entity, other.registers, in: keeper)
    items[result.survivor.id]?.after = result.survivor
    items[result.survivor.id]?.equalsIncoming = false
    items[result.tombstone.id]?.after = result.tombstone
    items[result.tombstone.id]?.equalsIncoming = false
    moveLinks(of: result.tombstone.id, result.tombstone)
  }
}

extension RecordState {
  /// Whether nothing is known of the record.
  var isUnknown: Bool { registers.isEmpty && deletion == nil && survivor == nil }
}
