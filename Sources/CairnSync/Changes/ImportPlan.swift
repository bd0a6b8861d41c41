import CairnModel
import CairnStore
import Foundation

/// What one change set does to one destination: the states after the merge and how they differ from
/// those before.
///
/// Decides only; ``ImportApplication`` carries it out.
final class ImportPlan {
  /// One record the commit touches.
  struct Item {
    let id: RecordID
    var entry: RecordEntry?
    /// The object before; nil when there was none.
    var object: ManagedObjectID?
    /// The state before; nil when the record was unknown here.
    var before: RecordState?
    var after: RecordState
    /// Whether the state equals the one the source sent.
    var equalsIncoming = false
    /// Whether the state itself changed, not only what the row can show of it.
    var isNews: Bool { before != after }
  }

  let access: StoreAccess
  let ledger: Ledger
  let source: StoreID
  private(set) var items: [RecordID: Item] = [:]
  private(set) var links: [LinkKey: (state: LinkState, isNews: Bool, equalsIncoming: Bool)] = [:]
  private(set) var conflicts: [Conflict] = []
  /// Rows read for items, so that each is read once.
  private var rows: [RecordID: [String: WireValue]] = [:]

  init(access: StoreAccess, ledger: Ledger, source: StoreID) {
    self.access = access
    self.ledger = ledger
    self.source = source
  }

  var hasNews: Bool {
    items.values.contains { $0.isNews } || links.values.contains { $0.isNews }
  }

  func policy(of state: RecordState) -> DeleteConflictPolicy {
    access.schema.entities[state.entity]?.policy ?? access.configuration.deleteConflicts
  }

  /// Whether the record has an object when the plan has been carried out.
  func isPresent(_ id: RecordID) throws -> Bool {
    if let item = items[id] { return canHold(item.after) && isAlive(item.after) }
    return try ledger.record(id)?.key != nil
  }

  func isAlive(_ state: RecordState) -> Bool { state.isAlive(under: policy(of: state)) }

  /// Whether this store can have an object of the record's entity.
  func canHold(_ state: RecordState) -> Bool {
    guard let plan = access.schema.entities[state.entity] else { return false }
    return !plan.entity.isAbstract && access.store.holds(plan.entity)
  }

  // MARK: Merging

  /// Merges incoming states, then settles collisions and what they bring about.
  ///
  /// - Parameter reconsidered: Records of which the store may be able to show more now.
  func merge(
    _ records: [RecordState], _ changes: [LinkChange], reconsidering reconsidered: Set<RecordID>
  ) throws {
    try prefetch(records, changes)
    for record in records { try merge(record) }
    var uniqueness = UniquenessSettling(plan: self)
    try uniqueness.run()
    for link in changes { try merge(link) }
    try ledger.prefetch(records: reconsidered)
    for id in reconsidered.sorted() {
      if let state = try load(id) { try lookAtLinks(of: id, state) }
    }
    try completeArrivals()
    try ledger.prefetch(
      records: items.values.flatMap { $0.after.registers.values.compactMap(\.value.reference) })
  }

  private func prefetch(_ records: [RecordState], _ changes: [LinkChange]) throws {
    var ids = Set(records.map(\.id))
    for link in changes { ids.formUnion([link.key.owner, link.key.member]) }
    try ledger.prefetch(records: ids)
    try ledger.prefetch(changes.map { SyncKey.link($0.key) })
    try loadRows(records.map(\.id))
  }

  private func merge(_ incoming: RecordState) throws {
    let mine = try load(incoming.id)
    let decision = RecordDecision.decide(
      mine: mine, theirs: incoming, policy: policy(of: incoming))
    conflicts += decision.conflicts
    var merged = decision.merged
    var equalsIncoming = decision.equalsIncoming
    if let survivor = merged.survivor {
      // United here or there: the values belong to the survivor.
      let registers = merged.registers
      if !registers.isEmpty {
        merged.registers = [:]
        equalsIncoming = false
        try absorb(registers, of: merged, into: survivor)
      }
      if mine?.survivor == nil { try moveLinks(of: incoming.id, merged, to: survivor) }
    }
    items[incoming.id]?.after = merged
    items[incoming.id]?.equalsIncoming = equalsIncoming
  }

  /// Gives a survivor the values of a record it stands for.
  private func absorb(
    _ registers: [String: Register], of loser: RecordState, into survivor: RecordID
  ) throws {
    let target = try resolve(survivor)
    let before = try load(target)
    var theirs = RecordState(id: target, entity: loser.entity, registers: registers)
    theirs.deletion = nil
    let merged = before?.joined(with: theirs) ?? theirs
    if let before {
      conflicts += Conflict.lostRegisters(
        mine: before, theirs: theirs, merged: merged, rule: .united)
    }
    items[target]?.after = merged
    items[target]?.equalsIncoming = false
  }

  /// The record that stands for one, the plan's decisions included.
  func resolve(_ id: RecordID) throws -> RecordID {
    var current = id
    while true {
      let next: RecordID?
      if let item = items[current] {
        next = item.after.survivor
      } else {
        next = try ledger.record(current)?.survivor
      }
      guard let next, next < current else { return current }
      current = next
    }
  }

  // MARK: Items

  /// Makes the record an item of the plan.
  ///
  /// - Returns: Its state so far; nil when it is unknown here.
  @discardableResult
  func load(_ id: RecordID) throws -> RecordState? {
    if let item = items[id] { return item.before == nil && isEmpty(item.after) ? nil : item.after }
    let entry = try ledger.record(id)
    var object = entry.flatMap { ledger.objectID(for: $0) }
    var before: RecordState?
    if let entry {
      if object != nil, rows[id] == nil { try loadRows([id]) }
      let row = rows[id]
      if row == nil { object = nil }
      before = entry.state(id: id, row: row)
    }
    items[id] = Item(
      id: id, entry: entry, object: object, before: before,
      after: before ?? RecordState(id: id, entity: ""))
    return before
  }

  private func isEmpty(_ state: RecordState) -> Bool {
    state.registers.isEmpty && state.deletion == nil && state.survivor == nil
  }

  private func loadRows(_ ids: [RecordID]) throws {
    var objects: [(id: RecordID, object: ManagedObjectID)] = []
    for id in ids where rows[id] == nil {
      if let entry = try ledger.record(id), let object = ledger.objectID(for: entry) {
        objects.append((id, object))
      }
    }
    let snapshots = try access.store.snapshots(for: objects.map(\.object))
    let reading = RowReading(ledger: ledger)
    try reading.prefetchReferences(of: snapshots.compactMap { $0 })
    for (item, snapshot) in zip(objects, snapshots) {
      if let snapshot { rows[item.id] = try reading.values(of: snapshot) }
    }
  }

  /// Unites two items that collide; see ``RecordDecision/unite(_:_:)``.
  func unite(_ a: RecordID, _ b: RecordID) throws {
    guard let first = try load(a), let second = try load(b) else { return }
    let result = RecordDecision.unite(first, second)
    conflicts += result.conflicts
    items[result.survivor.id]?.after = result.survivor
    items[result.survivor.id]?.equalsIncoming = false
    items[result.tombstone.id]?.after = result.tombstone
    items[result.tombstone.id]?.equalsIncoming = false
    try moveLinks(
      of: result.tombstone.id, second.id == result.tombstone.id ? second : first,
      to: result.survivor.id)
  }

  // MARK: Links

  private func merge(_ incoming: LinkChange) throws {
    let key = try resolved(incoming.key)
    try merge(key, incoming.state, isIncoming: key == incoming.key)
  }

  private func merge(_ key: LinkKey, _ state: LinkState, isIncoming: Bool) throws {
    let mine = try links[key]?.state ?? ledger.link(key)?.state
    if isIncoming, let mine { try noteConflicts(key, mine, state) }
    let merged = mine?.joined(with: state) ?? state
    let isNews = merged != mine || (links[key]?.isNews ?? false)
    links[key] = (merged, isNews, isIncoming && merged == state)
  }

  private func noteConflicts(_ key: LinkKey, _ mine: LinkState, _ theirs: LinkState) throws {
    guard let relation = access.schema.links[key.relationship]?.relationship else { return }
    func entity(_ id: RecordID) throws -> String {
      try items[id]?.after.entity ?? ledger.record(id)?.entity ?? ""
    }
    conflicts += Conflict.find(
      key, mine: mine, theirs: theirs,
      names: (relation.name, relation.inverseRelationship?.name),
      entities: (try entity(key.owner), try entity(key.member)))
  }

  /// The place of a member in an ordered relationship of a record, once the plan is carried out.
  func position(of member: RecordID, _ places: MemberPlaces) throws -> PositionKey? {
    switch places.side.places {
    case .register(let name):
      if let item = items[member] {
        return item.after.registers[name].flatMap(MemberPlaces.position)
      }
    case .link(let side):
      let key = side.key(near: places.owner, far: member)
      if let link = links[key] {
        return link.state[keyPath: side.position(key, near: places.owner)]
          .flatMap(MemberPlaces.position)
      }
    }
    return try places.register(of: member, ledger).flatMap(MemberPlaces.position)
  }

  private func resolved(_ key: LinkKey) throws -> LinkKey {
    let owner = try resolve(key.owner)
    let member = try resolve(key.member)
    if access.schema.links[key.relationship]?.isSymmetric == true {
      return LinkKey(
        relationship: key.relationship, owner: min(owner, member), member: max(owner, member))
    }
    return LinkKey(relationship: key.relationship, owner: owner, member: member)
  }

  /// The survivor's links are those of both.
  private func moveLinks(
    of loser: RecordID, _ state: RecordState, to survivor: RecordID
  ) throws {
    for side in access.schema.entities[state.entity]?.linkSides ?? [] {
      for key in try ledger.links(of: loser, side) {
        guard let entry = try ledger.link(key) else { continue }
        let target = try resolved(key)
        if target != key { try merge(target, entry.state, isIncoming: false) }
      }
    }
  }

  // MARK: Consequences

  /// What waited for records that now arrive is looked at again; so is what points at records that
  /// are replaced by another.
  private func completeArrivals() throws {
    // On the way of a first copy there is nothing to look for.
    let nothingWaits = try ledger.nothingIsParked()
    let noLinks = try ledger.isEmpty(.links)
    for id in items.keys.sorted() {
      guard let item = items[id] else { continue }
      let was = item.object != nil
      let isThere = try isPresent(id)
      if isThere, !was {
        if !nothingWaits {
          for waiting in try ledger.waiting(for: id) { try load(waiting.owner) }
        }
        if !noLinks { try lookAtLinks(of: id, item.after) }
      }
      if was, !nothingWaits { try completeLettingGo(of: item, isThere: isThere) }
      if item.after.survivor != nil, item.before?.survivor == nil {
        for waiting in try ledger.waiting(for: id) { try load(waiting.owner) }
        if let object = item.object { try loadReferrers(to: object) }
      }
    }
  }

  /// Who waits for what a record had for itself alone and lets go of is looked at again.
  private func completeLettingGo(of item: Item, isThere: Bool) throws {
    guard let before = item.before, let entity = access.schema.entities[before.entity] else {
      return
    }
    for column in entity.columns where column.isExclusive {
      guard let old = before.registers[column.name]?.value.reference else { continue }
      if isThere, item.after.registers[column.name]?.value.reference == old { continue }
      for waiting in try ledger.waiting(for: try resolve(old)) { try load(waiting.owner) }
    }
  }

  private func lookAtLinks(of id: RecordID, _ state: RecordState) throws {
    for side in access.schema.entities[state.entity]?.linkSides ?? [] {
      for key in try ledger.links(of: id, side) where links[key] == nil {
        guard let entry = try ledger.link(key) else { continue }
        links[key] = (entry.state, false, false)
      }
    }
  }

  private func loadReferrers(to object: ManagedObjectID) throws {
    for plan in access.schema.entities.values where access.store.holds(plan.entity) {
      for column in plan.columns {
        guard let destination = column.relationship?.destinationEntity,
          object.entity.isKindOf(entity: destination)
        else { continue }
        let predicate = ComparisonPredicate(
          leftExpression: ObjectExpression(forKeyPath: column.name),
          rightExpression: ObjectExpression(forConstantValue: object),
          modifier: .direct, type: .equalTo)
        let request = StoreFetchRequest(
          entity: plan.entity, includesSubentities: false, predicate: predicate,
          result: .objectIDs)
        guard case .objectIDs(let found) = try access.store.fetch(request) else { continue }
        for referrer in found {
          if let id = try ledger.recordID(for: referrer) { try load(id) }
        }
      }
    }
  }
}
