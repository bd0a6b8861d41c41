import CairnModel
import CairnStore
import Foundation

/// A store's bookkeeping during one commit of sync: reads what is stored, remembers what is to
/// change, and shows its own changes to later reads.
///
/// Not Sendable: made, used and dropped inside one step.
final class Ledger {
  let store: PersistentStore
  /// Who writes here: the store in its present incarnation.
  let storeID: StoreID
  /// The identity in the stamps of what is written here now.
  var writer: StoreID { storeID.writer(head.epoch) }

  /// The stamp of a write made at the given time; see ``HybridLogicalClock/tick(milliseconds:limit:)``.
  func tick(milliseconds: UInt64, limit: UInt64) -> Stamp {
    let last = head.clock.last
    let reading = head.clock.tick(milliseconds: milliseconds, limit: limit)
    if reading <= last { head.epoch += 1 }
    return Stamp(clock: reading, store: writer)
  }

  /// Takes note of a stamp that was given here and may be later than the clock: what is written from now
  /// on is earlier.
  func noteGiven(_ reading: ClockReading) {
    if reading > head.clock.last { head.epoch += 1 }
  }

  let schema: SyncSchema
  private let sidecar: any SidecarKeeping
  /// What migrations added to records that were there.
  var additions: SchemaAdditions
  /// What migrations have dropped that the bookkeeping still has.
  let dropped: MigrationTrace?
  private let storedAdditions: Data?
  /// The head that the commit requires.
  private var storedHead: Data?
  private var storedDigests: Data?
  private var base: SyncHead
  private let random: () -> UInt64
  var head: SyncHead
  /// When a program wrote the oldest change that the commit takes up, in milliseconds since 1970; nil where that is the
  /// moment of the commit.
  var oldestWrite: UInt64?
  /// The numbers of the change order that its commit gives; nil for none.
  var newNumbers: ClosedRange<UInt64>? {
    head.sequence > base.sequence ? base.sequence + 1...head.sequence : nil
  }
  /// Up to which transaction only sync has written, for certain.
  ///
  /// Apart from the head: that others have captured meanwhile, or passed over, does not contradict it.
  var passedOver: Int64 = .min
  /// Whether the commit depends on more than what was read here, so that no other connection may
  /// commit in between.
  var isBoundToHead = false

  private var entries = LedgerEntries()
  /// The prefixes by which maps were read, with the keys that were found.
  private var scanned: [SidecarKey: [Data]] = [:]
  /// Where those that leave a number of the change order go, by that number.
  private var moves: [UInt64: [UInt64]] = [:]
  /// The maps that were found empty.
  private var empty: Set<SyncMap> = []
  private var origin: (store: StoreID, bytes: Data)?
  /// What is new and was not asked for since: see ``add(_:)``.
  private var newRecords: [NewRecords] = []
  /// Changed keys of the maps that are read by prefix, by prefix.
  private var changedByPrefix: [SidecarKey: Set<Data>] = [:]

  /// - Parameters:
  ///   - cache: What the running step has read of the head.
  ///   - random: Gives the marks.
  init(
    store: PersistentStore, schema: SyncSchema, cache: HeadCache? = nil,
    random: @escaping () -> UInt64
  ) throws {
    guard let sidecar = store.capabilities.sidecar else {
      throw SyncError(
        .unsupportedStore,
        "a store of type \(store.type) keeps no sidecar, so it cannot be synchronised",
        recovery: .person)
    }
    self.store = store
    self.schema = schema
    self.sidecar = sidecar
    self.random = random
    func read() throws -> [Data?] {
      try sidecar.sidecarValues(
        for: [SyncKey.head, SyncKey.additions, SyncKey.digests, MigrationTrace.key])
    }
    let values = try cache?.values(reading: read) ?? read()
    storedHead = values[0]
    storedAdditions = values[1]
    storedDigests = values[2]
    dropped = values[3].map(MigrationTrace.init(decoding:))
    additions = try values[1].map(SchemaAdditions.init(decoding:)) ?? SchemaAdditions()
    base = try values[0].map(SyncHead.init(decoding:)) ?? SyncHead()
    head = base
    storeID = try head.incarnation ?? Self.identity(of: store)
  }

  private static func identity(of store: PersistentStore) throws -> StoreID {
    guard let text = store.identifier, let id = StoreID(text) else {
      throw SyncError(
        .unsupportedStore, "the store's identifier is not a UUID", recovery: .person)
    }
    return id
  }

  // MARK: Entries

  func value(_ key: SidecarKey) throws -> Data? {
    unpackNewRecords(for: key)
    if let value = entries.value(key) { return value }
    let value = try sidecar.sidecarValues(for: [key]).first ?? nil
    entries.note(key, stored: value)
    return value
  }

  /// Reads many entries at once, so that ``value(_:)`` finds them.
  func prefetch(_ keys: [SidecarKey]) throws {
    var missing: [SidecarKey] = []
    for key in SyncKey.sorted(keys.filter { !entries.isKnown($0) }) where key != missing.last {
      missing.append(key)
    }
    guard !missing.isEmpty else { return }
    let values = try sidecar.sidecarValues(for: missing)
    entries.reserve(missing.count)
    for (key, value) in zip(missing, values) { entries.note(key, stored: value) }
  }

  /// What is stored under many keys, which the ledger takes no note of: for reading alone.
  func stored(_ keys: [SidecarKey]) throws -> [Data?] {
    if zip(keys, keys.dropFirst()).allSatisfy(<) { return try sidecar.sidecarValues(for: keys) }
    let order = SyncKey.sorted(Array(keys.indices)) { keys[$0] }
    var values = [Data?](repeating: nil, count: keys.count)
    let found = try sidecar.sidecarValues(for: order.map { keys[$0] })
    for (place, value) in zip(order, found) { values[place] = value }
    return values
  }

  /// Makes room for entries that are going to be changed.
  func reserve(_ count: Int) { entries.reserve(count) }

  /// - Parameters:
  ///   - decoded: What the value says, for an entry of a record, so that it is not decoded again.
  ///   - isAbsent: Whether there is no entry yet, so that it need not be looked up.
  func put(
    _ key: SidecarKey, _ value: Data?, decoded: RecordEntry? = nil, isAbsent: Bool = false
  ) {
    unpackNewRecords(for: key)
    entries.put(key, value, decoded: decoded, isAbsent: isAbsent)
    if let prefix = Self.scanPrefix(of: key) {
      changedByPrefix[prefix, default: []].insert(key.key)
    }
  }

  // MARK: New records

  /// Adds records that the store lacks, and is not given otherwise in this commit.
  ///
  /// They are kept as they came for as long as nothing else of records is asked for or put, and written by the run;
  /// no entry of theirs is looked up.
  func add(_ records: NewRecords) {
    if !records.members.isEmpty { newRecords.append(records) }
  }

  /// Whether the store was found not to have an entry; says nothing of what the commit puts there.
  func isAbsent(_ key: SidecarKey) -> Bool { entries.isAbsent(key) }

  /// The greatest key of a row among the new records of a root entity; nil without any.
  func lastNewKey(of root: EntityDescription) -> Int64? {
    newRecords.lazy.filter { self.root(of: $0) === root }.compactMap { $0.members.last?.key }.max()
  }

  private func root(of records: NewRecords) -> EntityDescription? {
    schema.entities[records.entity]?.entity.rootEntity
  }

  private func unpackNewRecords(for key: SidecarKey) {
    if newRecords.isEmpty || !Self.mapsOfRecords.contains(key.map) { return }
    let all = newRecords
    newRecords = []
    for records in all {
      guard let plan = schema.entities[records.entity] else { continue }
      for member in records.members {
        var entry = records.entry(member)
        entry.sequence = 0
        setRecordID(
          member.id,
          for: ManagedObjectID(
            entity: plan.entity, storeIdentity: store.identity, key: .row(member.key)))
        setRecord(member.id, entry, origin: records.origin, sequence: records.sequence)
      }
    }
  }

  private static let mapsOfRecords = [SyncMap.ids, .records, .changes].map(\.rawValue)

  /// The bytes of a store's identity: one batch has one origin.
  func bytes(of store: StoreID) -> Data {
    if let origin, origin.store == store { return origin.bytes }
    let bytes = SyncKey.bytes(store)
    origin = (store, bytes)
    return bytes
  }

  /// Something has left a number of the change order.
  func noteMove(from old: UInt64, to new: UInt64) { moves[old, default: []].append(new) }

  /// The keys of a map that begin with `prefix`, which is one that ``scanPrefix(of:)`` names.
  func keys(in map: SyncMap, prefix: Data) throws -> [Data] {
    let stored = try sidecar.sidecarEntries(
      of: map.rawValue, from: prefix, to: SyncKey.end(of: prefix), limit: 0)
    let found = stored.map(\.key)
    if scanned[map.key(prefix)] == nil { scanned[map.key(prefix)] = found }
    var keys = Set(found)
    for (key, value) in stored { entries.note(map.key(key), stored: value) }
    for key in changedByPrefix[map.key(prefix)] ?? [] {
      if entries.change(map.key(key)) ?? nil == nil { keys.remove(key) } else { keys.insert(key) }
    }
    return keys.sorted { $0.lexicographicallyPrecedes($1) }
  }

  /// Whether a map had no entry at the last commit.
  func isEmpty(_ map: SyncMap) throws -> Bool {
    let isEmpty = try sidecar.sidecarEntries(of: map.rawValue, from: nil, to: nil, limit: 1)
      .isEmpty
    if isEmpty { empty.insert(map) }
    return isEmpty
  }

  private static func scanPrefix(of key: SidecarKey) -> SidecarKey? {
    guard let map = SyncMap.readByPrefix.first(where: { $0.rawValue == key.map }) else {
      return nil
    }
    return SyncKey.prefix(of: key.key, in: map).map(map.key)
  }

  // MARK: Commit

  /// Everything to write, guarded by the head as it was read.
  func operations() throws -> [SidecarOperation] {
    var operations: [SidecarOperation] = [
      .require(SyncKey.head, storedHead), .putAtTransaction(map: SyncMap.own.rawValue, Data()),
    ]
    if head.sequence > base.sequence {
      operations.append(.put(SyncKey.mark(head.sequence), SyncKey.number(random())))
    }
    operations += try marksOfMoves()
    var committed = head
    committed.captured = max(head.captured, passedOver)
    let newHead = committed.encoded
    if newHead != storedHead { operations.append(.put(SyncKey.head, newHead)) }
    for records in newRecords {
      operations += records.operations(root: root(of: records)?.name ?? "")
    }
    let changes = entries.sortedChanges()
    operations.reserveCapacity(operations.count + changes.count)
    for place in changes {
      let entry = entries[place]
      operations.append(entry.new.map { .put(entry.key, $0) } ?? .remove(entry.key))
    }
    if entries.change(SyncKey.digests) == nil {
      operations += digestOperations(try counted(changes), newRecords, stored: storedDigests)
    }
    return operations
  }

  /// Digests that were counted anew, to be committed instead of a change of those that are there.
  var rebuiltDigests: RebuiltDigests?

  /// Whether the store was never written by sync.
  var isNew: Bool { storedHead == nil }

  /// One change that digests count.
  struct CountedChange {
    let key: SidecarKey
    let old: Data?
    let new: Data?
    /// What `new` says, where it was decoded when it was written.
    let record: RecordEntry?
  }

  /// Those of the changes that digests count.
  private func counted(_ changes: [Int]) throws -> [CountedChange] {
    let (records, links) = (SyncMap.records.rawValue, SyncMap.links.rawValue)
    let counted = changes.filter {
      let map = entries[$0].key.map
      return map == records || map == links
    }
    // What is stored under keys that were changed unread.
    let unread = counted.filter { !entries[$0].isRead }.map { entries[$0].key }
    if !unread.isEmpty {
      for (key, value) in zip(unread, try sidecar.sidecarValues(for: unread)) {
        entries.note(key, stored: value)
      }
    }
    return counted.map { place in
      let entry = entries[place]
      return CountedChange(
        key: entry.key, old: entry.stored, new: entry.new, record: entries.record(at: place))
    }
  }

  var isUnchanged: Bool {
    entries.changes == 0 && newRecords.isEmpty && storedHead == head.encoded
      && rebuiltDigests == nil
  }

  /// What tells readers of the change order that transactions were torn apart; see ``ChangeMoves``.
  private func marksOfMoves() throws -> [SidecarOperation] {
    if moves.isEmpty { return [] }
    let number = { (key: Data) in
      var reader = ByteReader(key)
      return try reader.fixed()
    }
    let changes = SyncMap.changes
    let placed =
      try entries.changed.filter { $0.key.map == changes.rawValue && $0.value != nil }
      .keys.map { try number($0.key) } + newRecords.map(\.sequence)
    var stored: [UInt64: ChangeMoves.Place] = [:]
    for old in moves.keys where old <= base.sequence {
      let entries = try sidecar.sidecarEntries(
        of: changes.rawValue, from: SyncKey.number(old), to: SyncKey.number(old + 1),
        limit: (moves[old]?.count ?? 0) + 2)
      let mark = entries.first { $0.key.dropFirst(8).first == SyncKey.movedKind }
      stored[old] = ChangeMoves.Place(
        members: entries.count - (mark == nil ? 0 : 1),
        debt: try mark.map { try MovedMark(at: old, $0.value).debt })
    }
    return ChangeMoves(moves, placed: Set(placed), stored: stored).marks.map {
      .put(SyncKey.moved($0.key), $0.value.encoded)
    }
  }

  /// Moves what is to be written behind what others have committed since the ledger was made.
  ///
  /// - Returns: False when something that was read here has changed: then it has to be planned anew.
  func rebase() throws -> Bool {
    let values = try sidecar.sidecarValues(
      for: [SyncKey.head, SyncKey.additions, SyncKey.digests])
    if rebuiltDigests != nil { return false }
    if values[0] == storedHead {
      storedDigests = values[2]
      return true
    }
    if isBoundToHead { return false }
    let theirs = try values[0].map(SyncHead.init(decoding:)) ?? SyncHead()
    guard values[1] == storedAdditions, let head = head.rebased(from: base, onto: theirs),
      try isAsRead(), try !hasReadAhead()
    else { return false }
    let shift = SequenceShift(after: base.sequence, by: theirs.sequence - base.sequence)
    entries.replaceChanges(try shift.entries(entries.changed))
    for index in newRecords.indices {
      newRecords[index].sequence = shift(newRecords[index].sequence)
    }
    moves = Dictionary(
      uniqueKeysWithValues: moves.map { (shift($0.key), $0.value.map { shift($0) }) })
    (self.head, base, storedHead, storedDigests) = (head, theirs, values[0], values[2])
    return true
  }

  /// Whether no other connection has committed since the ledger was made, so that rows which were read meanwhile are
  /// those that the entries tell of, whatever was read first.
  func isCurrent() throws -> Bool {
    try sidecar.sidecarValues(for: [SyncKey.head]).first == .some(storedHead)
  }

  /// Whether something that was read has a number which was not given out yet when the head was read: what is to be
  /// written has such numbers, too, and they could not be told apart.
  private func hasReadAhead() throws -> Bool {
    try entries.read.contains { key, value in
      guard let value else { return false }
      return switch SyncMap(rawValue: key.map) {
      case .records: try RecordEntry(decoding: value).sequence > base.sequence
      case .links: try LinkEntry(decoding: value).sequence > base.sequence
      default: false
      }
    }
  }

  /// Whether the store has what the ledger has read, and no more.
  private func isAsRead() throws -> Bool {
    let read = SyncKey.sorted(entries.read, by: \.key)
    let values = try sidecar.sidecarValues(for: read.map(\.key))
    for (entry, value) in zip(read, values) where entry.value != value { return false }
    for (prefix, keys) in scanned {
      let found = try sidecar.sidecarEntries(
        of: prefix.map, from: prefix.key, to: SyncKey.end(of: prefix.key), limit: 0)
      if found.map(\.key) != keys { return false }
    }
    return try empty.allSatisfy {
      try sidecar.sidecarEntries(of: $0.rawValue, from: nil, to: nil, limit: 1).isEmpty
    }
  }
}
