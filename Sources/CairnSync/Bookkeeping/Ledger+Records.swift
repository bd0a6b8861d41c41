import CairnStore
import CairnModel
import Foundation

/// The ledger in sync's own words: records, links, the change order, parked references.
extension Ledger {
  func record(_ id: RecordID) throws -> RecordEntry? {
    try value(SyncKey.record(id)).map(entry)
  }

  /// An entry from its bytes, with the writes of what migrations added since.
  func entry(decoding data: Data) throws -> RecordEntry {
    var entry = try RecordEntry(decoding: data)
    additions.complete(&entry)
    return entry
  }

  /// The record that stands for this one now, after uniqueness collisions.
  func resolve(_ id: RecordID) throws -> RecordID {
    var current = id
    // Survivors have smaller IDs, so this ends.
    while let survivor = try record(current)?.survivor, survivor < current { current = survivor }
    return current
  }

  /// The link of the records that stand for those of a link now.
  func resolve(_ key: LinkKey) throws -> LinkKey {
    let (owner, member) = (try resolve(key.owner), try resolve(key.member))
    if schema.links[key.relationship]?.isSymmetric == true {
      return LinkKey(
        relationship: key.relationship, owner: min(owner, member), member: max(owner, member))
    }
    return LinkKey(relationship: key.relationship, owner: owner, member: member)
  }

  func recordID(for object: ManagedObjectID) throws -> RecordID? {
    guard let key = SyncKey.object(object) else { return nil }
    return try recordID(at: key)
  }

  /// - Parameter key: That of an object.
  func recordID(at key: SidecarKey) throws -> RecordID? {
    try value(key).map { try SyncKey.identity(RecordID.self, in: $0) }
  }

  func setRecordID(_ id: RecordID?, for object: ManagedObjectID) {
    guard let key = SyncKey.object(object) else { return }
    put(key, id.map { SyncKey.bytes($0) })
  }

  /// The object of a record in this store; nil when it has none.
  func objectID(for entry: RecordEntry) -> ManagedObjectID? {
    guard let key = entry.key, let plan = schema.entities[entry.entity] else { return nil }
    return ManagedObjectID(entity: plan.entity, storeIdentity: store.identity, key: key)
  }

  func prefetch(records ids: some Sequence<RecordID>) throws {
    try prefetch(ids.map(SyncKey.record))
  }

  /// Writes the entry and moves the record to a place of the change order, by default the current.
  ///
  /// - Parameter origin: The store whose state of the record this one now equals.
  func setRecord(
    _ id: RecordID, _ entry: RecordEntry, origin: StoreID? = nil, sequence: UInt64? = nil
  ) {
    var entry = entry
    let isNew = entry.sequence == 0
    let sequence = max(sequence ?? head.sequence, entry.sequence)
    let key = SyncKey.change(sequence, record: id)
    let old = entry.sequence
    move(from: old, to: sequence, old: SyncKey.change(old, record: id), new: key, origin)
    entry.sequence = sequence
    put(SyncKey.record(id), entry.encoded, decoded: entry, isAbsent: isNew)
  }

  /// Writes what concerns this store alone, such as which references are parked.
  func setRecordQuietly(_ id: RecordID, _ entry: RecordEntry) {
    var entry = entry
    additions.settle(&entry)
    put(SyncKey.record(id), entry.encoded, decoded: entry)
  }

  /// Forgets a record: one that never left this store, or one whose values a migration has dropped.
  func forget(_ id: RecordID, sequence: UInt64) {
    put(SyncKey.record(id), nil)
    put(SyncKey.change(sequence, record: id), nil)
  }

  private func move(
    from old: UInt64, to new: UInt64, old oldKey: @autoclosure () -> SidecarKey,
    new newKey: SidecarKey,
    _ origin: StoreID?
  ) {
    if old != 0, old != new {
      put(oldKey(), nil)
      noteMove(from: old, to: new)
    }
    put(newKey, origin.map(bytes(of:)) ?? Data())
  }

  // MARK: Links

  func link(_ key: LinkKey) throws -> LinkEntry? {
    try value(SyncKey.link(key)).map(LinkEntry.init(decoding:))
  }

  /// Writes the state and moves the link to a place of the change order, by default the current.
  func setLink(
    _ key: LinkKey, _ state: LinkState, origin: StoreID? = nil, sequence: UInt64? = nil
  ) throws {
    let old = try link(key)?.sequence ?? 0
    let sequence = max(sequence ?? head.sequence, old)
    move(
      from: old, to: sequence, old: SyncKey.change(old, link: key),
      new: SyncKey.change(sequence, link: key), origin)
    var entry = LinkEntry(state: state)
    entry.sequence = sequence
    put(SyncKey.link(key), entry.encoded)
    put(SyncKey.backlink(key), Data())
  }

  /// Forgets a link whose state has gone over to another one in this commit: readers of the place where it
  /// stood take that along.
  func leaveLink(_ key: LinkKey) throws {
    guard let old = try link(key)?.sequence else { return }
    forget(key, sequence: old)
    if old != head.sequence { noteMove(from: old, to: head.sequence) }
  }

  /// All links of a record on one side, whatever their state.
  func links(of id: RecordID, _ side: SyncSchema.LinkSide) throws -> [LinkKey] {
    try links(of: LinkEnd(side, of: id))
  }

  func links(of end: LinkEnd) throws -> [LinkKey] {
    let prefix = SyncKey.linkPrefix(end.relationship, end.record)
    var found: [LinkKey] = []
    if end.role != .member {
      for key in try keys(in: .links, prefix: prefix) {
        let member = try SyncKey.identity(RecordID.self, in: key.suffix(16))
        found.append(LinkKey(relationship: end.relationship, owner: end.record, member: member))
      }
    }
    if end.role != .owner {
      for key in try keys(in: .backlinks, prefix: prefix) {
        let owner = try SyncKey.identity(RecordID.self, in: key.suffix(16))
        let link = LinkKey(relationship: end.relationship, owner: owner, member: end.record)
        if !found.contains(link) { found.append(link) }
      }
    }
    return found
  }

  // MARK: Parked references

  /// Notes that references wait; what is known of one that waits already, stays.
  func park(_ items: [ImportPlan.Parking]) throws {
    let keys = items.map { item in
      SyncKey.parked(
        item.target, owner: item.reference.owner, property: item.reference.property)
    }
    try prefetch(keys)
    for key in keys where try value(key) == nil { put(key, Data()) }
  }

  func unpark(_ target: RecordID, owner: RecordID, property: String) {
    put(SyncKey.parked(target, owner: owner, property: property), nil)
  }

  /// Whether no reference waits for anything, the usual case.
  func nothingIsParked() throws -> Bool { try isEmpty(.parked) }

  /// The records that wait for one.
  func waiting(for target: RecordID) throws -> [WaitingReference] {
    try keys(in: .parked, prefix: SyncKey.bytes(target)).map {
      try SyncKey.parked(from: $0).reference
    }
  }

  // MARK: History

  /// Passes over history up to a number, in which sync alone has written.
  ///
  /// - Parameter own: The transactions of sync among it, and perhaps later ones.
  func passOver(_ own: Set<Int64>, upTo number: Int64) {
    passedOver = max(passedOver, number)
    for transaction in own where transaction <= number { put(SyncKey.own(transaction), nil) }
  }

  // MARK: Cursors

  func cursor(for source: StoreID) throws -> SyncCursor {
    try value(SyncKey.cursor(source)).map(SyncCursor.init(decoding:)) ?? SyncCursor()
  }

  func setCursor(_ cursor: SyncCursor, for source: StoreID) {
    put(SyncKey.cursor(source), cursor.encoded)
  }

  func journal(_ conflicts: [Conflict], time: UInt64) throws -> Int {
    try journal(conflicts.map { JournalEntry(conflict: $0, time: time) })
  }

  /// Takes out of the journal what did not come to pass.
  func forget(_ entry: JournalEntry) {
    put(SyncMap.journal.key(entry.key), nil)
    put(SyncKey.journalIndex(entry.conflict.record, entry.key), nil)
  }

  @discardableResult
  func journal(_ entries: [JournalEntry]) throws -> Int {
    var added = 0
    for entry in entries {
      let key = SyncMap.journal.key(entry.key)
      guard let stored = try value(key) else {
        put(key, entry.encoded)
        put(SyncKey.journalIndex(entry.conflict.record, entry.key), Data())
        added += 1
        continue
      }
      let known = try? JournalEntry(decoding: stored)
      if let known, entry.saysMore(than: known) { put(key, entry.noted(at: known.time).encoded) }
    }
    return added
  }
}
