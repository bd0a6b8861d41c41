import CairnStore
import Foundation

/// Takes out of a ledger what a part of the change order tells and no reader has to know any more.
struct TombstonePurge {
  let access: StoreAccess
  let ledger: Ledger
  /// The last number of the change order that may go.
  let limit: UInt64
  private(set) var records = 0
  private(set) var links = 0
  private(set) var markers = 0
  private(set) var postponed = 0

  var count: Int { records + links + markers }

  /// Whether a store that was read from takes nothing from this one now, and goes on with records that
  /// others stand for here: its link does not serve it, or it is expired.
  private let hasUnservedSources: Bool

  init(access: StoreAccess, ledger: Ledger, limit: UInt64) throws {
    self.access = access
    self.ledger = ledger
    self.limit = limit
    let readers = try access.readers()
    var hasUnservedSources = false
    try access.store.capabilities.sidecar?.visitEntries(of: .cursors) { key, _ in
      // An expired one may be there all the same, and push.
      if readers[try SyncKey.identity(StoreID.self, in: key)]?.isExpired ?? true {
        hasUnservedSources = true
      }
    }
    self.hasUnservedSources = hasUnservedSources
  }

  /// - Parameter keys: Of `sync_changes`.
  /// - Returns: The numbers of records that would go but for something that waits with them.
  mutating func remove(_ keys: [Data]) throws -> [UInt64] {
    var gone: [(id: RecordID, sequence: UInt64)] = []
    var postponed: [UInt64] = []
    for key in keys {
      let (sequence, what) = try SyncKey.change(from: key)
      switch what {
      case .moved:
        ledger.put(SyncKey.moved(sequence), nil)
        markers += 1
      case .link(let link): try removeLink(link)
      case .record(let id): gone.append((id, sequence))
      }
    }
    try ledger.prefetch(records: gone.map(\.id))
    for (id, sequence) in gone {
      if try !removeRecord(id) { postponed.append(sequence) }
    }
    self.postponed += postponed.count
    return postponed
  }

  /// Removes a record that is over, with those that went along with it.
  ///
  /// - Returns: False for one that is over, but has to stay for a while.
  private mutating func removeRecord(_ id: RecordID) throws -> Bool {
    guard let entry = try ledger.record(id) else { return true }
    guard RetentionRule.isOver(entry, id: id, plan(of: entry)?.policy) else { return true }
    // What comes for it from there belongs to the other, also when that store is served one day.
    if entry.survivor != nil, hasUnservedSources { return true }
    // Its values wait for the other, which has not arrived.
    if entry.survivor != nil, !entry.overlay.isEmpty { return false }
    let stamp = entry.survivor == nil ? entry.deletion?.stamp : nil
    guard let group = try collect(id, entry, goneAt: stamp) else { return false }
    for (id, entry) in group.sorted(by: { $0.key < $1.key }) {
      for key in try links(of: id, entry) { remove(key, try ledger.link(key)) }
      for (name, value) in entry.overlay {
        if let target = value.reference { ledger.unpark(target, owner: id, property: name) }
      }
      ledger.forget(id, sequence: entry.sequence)
      records += 1
    }
    return true
  }

  private func plan(of entry: RecordEntry) -> SyncSchema.EntityPlan? {
    access.schema.entities[entry.entity]
  }

  private func links(of id: RecordID, _ entry: RecordEntry) throws -> Set<LinkKey> {
    try Set((plan(of: entry)?.linkSides ?? []).flatMap { try ledger.links(of: id, $0) })
  }

  /// A record and all that went along with it, however far that goes.
  ///
  /// - Parameter stamp: When they were deleted; nil for a record that another stands for.
  /// - Returns: Nil where one of them has to stay.
  private func collect(
    _ id: RecordID, _ entry: RecordEntry, goneAt stamp: Stamp?
  ) throws -> [RecordID: RecordEntry]? {
    var group = [id: entry]
    var next = [id]
    func add(_ id: RecordID, _ entry: RecordEntry) {
      if group.updateValue(entry, forKey: id) == nil { next.append(id) }
    }
    while let id = next.popLast(), let entry = group[id] {
      // What waits in quarantine would meet nothing that it has to be merged with.
      if try entry.sequence > limit || ledger.value(SyncKey.quarantine(id)) != nil { return nil }
      for key in try links(of: id, entry) where try (ledger.link(key)?.sequence ?? 0) > limit {
        return nil
      }
      for waiting in try ledger.waiting(for: id) {
        // Without its entry it would be one that has not arrived.
        guard let owner = try ledger.record(waiting.owner), let stamp,
          RetentionRule.goesAlong(owner, plan(of: owner), by: waiting.property, goneAt: stamp)
        else { return nil }
        add(waiting.owner, owner)
      }
      for other in try taken(by: id, entry) {
        guard let stamp, let entry = try ledger.record(other),
          RetentionRule.isHidden(entry, goneAt: stamp)
        else { continue }
        add(other, entry)
      }
    }
    return group
  }

  /// The records that a record takes along by its own relationships.
  private func taken(by id: RecordID, _ entry: RecordEntry) throws -> [RecordID] {
    guard let plan = plan(of: entry) else { return [] }
    var found = plan.takes.compactMap { entry.overlay[plan.columns[$0].name]?.reference }
    for side in plan.linkSides where side.relationship.deleteRule == .cascade {
      for key in try ledger.links(of: id, side) where try ledger.link(key)?.state.isMember == true {
        found.append(key.owner == id ? key.member : key.owner)
      }
    }
    return try found.map { try ledger.resolve($0) }.filter { $0 != id }
  }

  private mutating func removeLink(_ key: LinkKey) throws {
    guard let entry = try ledger.link(key), !entry.state.isMember, entry.sequence <= limit else {
      return
    }
    remove(key, entry)
  }

  private mutating func remove(_ key: LinkKey, _ entry: LinkEntry?) {
    ledger.forget(key, sequence: entry?.sequence ?? 0)
    links += 1
  }
}

extension Ledger {
  /// Forgets a link that every reader knows to be gone.
  func forget(_ key: LinkKey, sequence: UInt64) {
    put(SyncKey.link(key), nil)
    put(SyncKey.backlink(key), nil)
    put(SyncKey.change(sequence, link: key), nil)
  }
}
