import CairnStore
import Foundation

/// A store that comes back after more than the retention: the one that serves it has forgotten meanwhile
/// what was deleted, and following its change order would bring that to life again.
///
/// What the returning store has and the other does not know was deleted if the other had it: it had read
/// that far, or had sent it itself, and it was not written since. All else is news, and travels.
///
/// How far the other has read says so only of what it was to have: a cursor is moved over what a filter
/// leaves out, and stays where it is while the link brings nothing that way. What is kept for that travels again once
/// the link brings it (``KeptRecords``).
struct ReturningReader {
  /// The store that was away.
  let access: StoreAccess
  /// The store that serves it.
  let source: StoreAccess
  /// What is exchanged, in the names of `names`; nil for all.
  ///
  /// What the other was never to have it has not forgotten.
  var filter: EntityFilter?
  /// The local store's model; nil for that of the store that was away.
  var names: SyncSchema?
  /// Whether the link brings the other what this store has.
  var isRead = true
  /// Whether this store was found to have gone back in time, and is still under its old identity.
  ///
  /// Then the other has read more than this store still has, and what was written since may stand at the
  /// same places: only what the other had acknowledged by the time of the backup counts.
  var isRestored = false

  /// Whether the other may have forgotten something that this store has not heard of.
  func isExpired() throws -> Bool {
    let (mine, theirs) = (try access.ledger(), try source.ledger())
    let floor = try theirs.retention().floor
    if floor == 0 { return false }
    let cursor = try mine.cursor(for: theirs.storeID)
    // The other has begun a new life: it is read from the beginning, but not all it has read from here
    // it still has. Nor has it all it has sent, where more entities are exchanged than before.
    if cursor == SyncCursor() {
      return try theirs.cursor(for: mine.storeID).position > 0
        || theirs.value(SyncKey.reader(mine.storeID)) != nil
    }
    // During the first copy nothing is needed that was forgotten before it began, nor what has been read
    // before when all is read once more.
    return cursor.furthest < floor
  }

  /// What the other knew once and has forgotten: to be deleted here.
  ///
  /// Call when both stores are captured.
  ///
  /// - Parameter take: Called with change sets to apply to this store.
  func findForgotten(_ take: (ChangeSet) throws -> Void) throws {
    let filter = filter?.translated(from: names ?? access.schema, to: access.schema)
    func takeExchanged(_ set: ChangeSet) throws {
      let set = filter?.changes(set) ?? set
      if !set.isEmpty { try take(set) }
    }
    try findRecords(takeExchanged)
    try findLinks(takeExchanged)
  }

  /// How far the other has read of what is exchanged now.
  private func acknowledged() throws -> (source: StoreID, position: UInt64) {
    let (mine, theirs) = (try access.ledger(), try source.ledger())
    guard isRead, try theirs.value(SyncKey.filter(mine.storeID)) == filter?.encoded else {
      return (theirs.storeID, 0)
    }
    let position = try theirs.cursor(for: mine.storeID).position
    if !isRestored { return (theirs.storeID, position) }
    let note = try mine.value(SyncKey.reader(theirs.storeID)).map(ReaderNote.init(decoding:))
    return (theirs.storeID, min(position, note?.position ?? 0))
  }

  private static let page = 500

  private func findRecords(_ take: (ChangeSet) throws -> Void) throws {
    guard let sidecar = access.store.capabilities.sidecar else { return }
    let (other, position) = try acknowledged()
    var next: Data?
    while true {
      let page = try sidecar.sidecarEntries(
        of: SyncMap.records.rawValue, from: next, to: nil, limit: Self.page)
      guard let last = page.last else { return }
      next = last.key + Data([0])
      let (mine, theirs) = (try access.ledger(), try source.ledger())
      let ids = try page.map { try SyncKey.identity(RecordID.self, in: $0.key) }
      try theirs.prefetch(records: ids)
      var unknown: [(id: RecordID, entry: RecordEntry)] = []
      // Of a record that another stands for, whether that one is there.
      for (id, item) in zip(ids, page) where try theirs.record(theirs.resolve(id)) == nil {
        let entry = try mine.entry(decoding: item.value)
        if entry.key != nil { unknown.append((id, entry)) }
      }
      try mine.prefetch(unknown.map { SyncKey.change($0.entry.sequence, record: $0.id) })
      try theirs.prefetch(unknown.map { SyncKey.quarantine($0.id) })
      var set = ChangeSet(source: other, after: 0, upTo: 0)
      for (id, entry) in unknown {
        let place = SyncKey.change(entry.sequence, record: id)
        guard try theirs.value(SyncKey.quarantine(id)) == nil,
          try mine.wasIn(other, entry.sequence, place, readUpTo: position)
        else { continue }
        let policy = access.policy(of: entry.entity)
        set.records.append(entry.forgotten(id: id, by: other, under: policy))
        let survivor = try theirs.resolve(id)
        // Which is about to hear that it has the values of this one.
        if survivor != id, try mine.record(survivor) == nil {
          set.records.append(entry.forgotten(id: survivor, by: other, under: policy))
        }
      }
      if !set.isEmpty { try take(set) }
    }
  }

  private func findLinks(_ take: (ChangeSet) throws -> Void) throws {
    guard let sidecar = access.store.capabilities.sidecar else { return }
    let (other, position) = try acknowledged()
    var next: Data?
    while true {
      let page = try sidecar.sidecarEntries(
        of: SyncMap.links.rawValue, from: next, to: nil, limit: Self.page)
      guard let last = page.last else { return }
      next = last.key + Data([0])
      let (mine, theirs) = (try access.ledger(), try source.ledger())
      let links = try page.map {
        (key: try SyncKey.linkKey(from: $0.key), entry: try LinkEntry(decoding: $0.value))
      }.filter(\.entry.state.isMember)
      try theirs.prefetch(records: links.flatMap { [$0.key.owner, $0.key.member] })
      let known = try links.map { try theirs.resolve($0.key) }
      try theirs.prefetch(known.map(SyncKey.link))
      var set = ChangeSet(source: other, after: 0, upTo: 0)
      for ((key, entry), known) in zip(links, known) where try theirs.link(known) == nil {
        // The links of a record that is not there go or come with it.
        guard try theirs.shows(known),
          try theirs.value(SyncKey.quarantine(key)) == nil,
          try mine.wasIn(
            other, entry.sequence, SyncKey.change(entry.sequence, link: key), readUpTo: position)
        else { continue }
        set.links.append(LinkChange(key: key, state: entry.state.forgotten(by: other)))
      }
      if !set.isEmpty { try take(set) }
    }
  }

  /// Gives the links of records that come back to life in the other a new place in the change order.
  ///
  /// Such a record was written here after the other had read its links, and the other has forgotten them with
  /// it: where they are, none would be sent again. Call when what was forgotten is deleted here.
  func sendLinksAgain() throws {
    guard isRead, let sidecar = access.store.capabilities.sidecar else { return }
    let filter = filter?.translated(from: names ?? access.schema, to: access.schema)
    var next: Data?
    while true {
      let page = try sidecar.sidecarEntries(
        of: SyncMap.links.rawValue, from: next, to: nil, limit: Self.page)
      guard let last = page.last else { return }
      try sendAgain(
        page.compactMap { item in
          let state = try LinkEntry(decoding: item.value).state
          return state.isMember ? try SyncKey.linkKey(from: item.key) : nil
        }.filter { filter?.exchanges($0) ?? true })
      next = last.key + Data([0])
    }
  }

  private func sendAgain(_ keys: [LinkKey]) throws {
    let (other, _) = try acknowledged()
    for _ in 0..<StoreAccess.attempts {
      let (mine, theirs) = (try access.ledger(), try source.ledger())
      let position = try theirs.cursor(for: mine.storeID).position
      let ends = keys.flatMap { [$0.owner, $0.member] }
      try theirs.prefetch(records: ends)
      let known = try keys.map(theirs.resolve)
      try theirs.prefetch(known.map(SyncKey.link))
      try mine.prefetch(records: ends)
      let revived = try zip(keys, known).filter { key, known in
        try theirs.link(known) == nil && !theirs.shows(known) && mine.shows(key)
      }.map(\.0)
      try mine.prefetch(revived.map(SyncKey.link))
      let head = mine.head.sequence
      for key in revived {
        guard let entry = try mine.link(key), entry.state.isMember,
          try mine.wasIn(
            other, entry.sequence, SyncKey.change(entry.sequence, link: key), readUpTo: position)
        else { continue }
        mine.head.sequence = head + 1
        try mine.setLink(key, entry.state)
      }
      if try access.commit(mine, isRebased: true) { return }
    }
    throw StoreAccess.contention(access.store)
  }
}

extension Ledger {
  /// Whether both ends of a link have rows here.
  func shows(_ key: LinkKey) throws -> Bool {
    try record(key.owner)?.key != nil && record(key.member)?.key != nil
  }

  /// Whether another store had what stands at a place of the change order here: it has read that far, or has sent it.
  func wasIn(
    _ other: StoreID, _ sequence: UInt64, _ place: SidecarKey, readUpTo position: UInt64
  ) throws -> Bool {
    if sequence <= position { return true }
    guard let origin = try value(place), origin.count == 16 else { return false }
    return try SyncKey.identity(StoreID.self, in: origin) == other
  }
}

extension RecordEntry {
  /// The state of a record that another store has deleted and forgotten: deleted right after the last
  /// write that it is known to have had.
  ///
  /// When it was deleted is not known any more. The earliest time that is possible loses no write that
  /// some store made and the deleter did not know.
  ///
  /// - Parameter policy: Of the record's entity here: that of the delete is forgotten, too.
  func forgotten(
    id: RecordID, by store: StoreID, under policy: DeleteConflictPolicy
  ) -> RecordState {
    let writes = [base].compactMap { $0 } + Array(self.writes.values)
    var seen = deletion?.seen ?? SeenWrites()
    if let old = deletion?.stamp { seen.insert(old) }
    for write in writes {
      seen.insert(write.stamp)
      seen.formUnion(write.seen)
    }
    seen.remove(store)
    let known = writes.map(\.stamp.clock) + [deletion?.stamp.clock].compactMap { $0 }
    let last = known.max() ?? .beforeSync
    return RecordState(
      id: id, entity: entity,
      deletion: Deletion(stamp: Stamp(clock: last.next, store: store), seen: seen, policy: policy))
  }
}

extension LinkState {
  /// The state of a link that another store has removed and forgotten.
  func forgotten(by store: StoreID) -> LinkState {
    LinkState(
      write: write.overwritten(at: Stamp(clock: write.stamp.clock.next, store: store)),
      isMember: false, memberPosition: memberPosition, ownerPosition: ownerPosition)
  }
}
