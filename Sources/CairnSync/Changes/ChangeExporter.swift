import CairnModel
import CairnStore
import Foundation

/// Reads from a store what changed after a cursor, as states by record ID.
///
/// The transactions of the source come whole: where something in the range changed again later,
/// the range is extended to there. Rows that a writer changes while they are read are captured and
/// read again; where it does not stop, a small part is read while the store holds writers up.
struct ChangeExporter {
  let access: StoreAccess
  /// The destination; what came from there is not sent back.
  let destination: StoreID
  /// How many records or links a set has, unless a transaction is larger.
  let batchSize: Int

  /// - Parameter batchSize: The configured one when left out.
  init(access: StoreAccess, destination: StoreID, batchSize: Int? = nil) {
    self.access = access
    self.destination = destination
    self.batchSize = batchSize ?? access.configuration.batchSize
  }

  /// How often a whole page is read before writers are held up.
  private static let freeAttempts = 2
  /// How many entries are read meanwhile, unless a transaction is larger.
  private static let heldEntries = 64

  /// The next change set after the cursor; nil when the destination has everything.
  func next(after cursor: SyncCursor) throws -> ChangeSet? {
    try access.environment.reach(.beforeExport)
    var missing: Set<RecordID> = []
    for attempt in 0..<StoreAccess.attempts {
      if try attempt > 0 || isFarBehind() { try HistoryCapture(access: access).run() }
      let reading =
        attempt < Self.freeAttempts
        ? try read(after: cursor, entries: batchSize)
        : try access.holdingWrites {
          try HistoryCapture(access: access).run()
          return try read(
            after: cursor, entries: min(Self.heldEntries, batchSize))
        }
      switch reading {
      case .set(let set):
        try access.environment.reach(.afterExport)
        return set
      case .nothing: return nil
      case .changed: break
      case .missing(let now):
        // All history has been captured in between: it does not tell where the rows went.
        let lasting = now.intersection(missing)
        if !lasting.isEmpty { try forget(lasting, try access.ledger()) }
        missing = now
      }
    }
    throw StoreAccess.contention(access.store)
  }

  /// Whether so much was written since the last capture that looking through it for each page would cost
  /// more the longer the copy takes.
  ///
  /// What is captured without need would keep a pass from ending while programs write.
  private func isFarBehind() throws -> Bool {
    let captured = try access.ledger().head.captured
    return try access.history().lastTransactionNumber() - captured
      > Int64(HistoryCapture.transactionsPerCommit)
  }

  /// What the store has of records now.
  func states(of ids: Set<RecordID>) throws -> ChangeSet {
    var ids = ids
    for attempt in 0..<StoreAccess.attempts {
      if attempt > 0 { try HistoryCapture(access: access).run() }
      let reading = try read(
        ChangeRange(of: ids), [], after: SyncCursor(), try access.ledger())
      switch reading {
      case .set(let set): return set
      case .nothing, .changed: break
      case .missing(let gone): if attempt > 0 { ids.subtract(gone) }
      }
    }
    throw StoreAccess.contention(access.store)
  }

  /// The number at which a first copy that starts now ends.
  func end() throws -> UInt64 { try access.ledger().head.sequence }

  private func read(after cursor: SyncCursor, entries page: Int) throws -> Reading {
    let ledger = try access.freshLedger()
    guard ledger.head.sequence > cursor.position else { return .nothing }
    let (range, looked) = try readRange(after: cursor, entries: page, ledger)
    return try read(range, looked, after: cursor, ledger)
  }

  /// A record of a range with what the bookkeeping says of it.
  private struct Looked {
    let id: RecordID
    let stored: Data
    let entry: RecordEntry
    let object: ManagedObjectID?
  }

  private func look(_ id: RecordID, _ stored: Data, _ ledger: Ledger) throws -> Looked {
    let entry = try ledger.entry(decoding: stored)
    return Looked(id: id, stored: stored, entry: entry, object: ledger.objectID(for: entry))
  }

  /// - Returns: Also those of the range's records that were looked at.
  private func readRange(
    after cursor: SyncCursor, entries page: Int, _ ledger: Ledger
  ) throws -> (ChangeRange, [Looked]) {
    var range = ChangeRange(after: cursor.position)
    guard let sidecar = access.store.capabilities.sidecar else { return (range, []) }
    func read(from lower: Data, to upper: UInt64?, limit: Int) throws -> [(key: Data, value: Data)]
    {
      try sidecar.sidecarEntries(
        of: SyncMap.changes.rawValue, from: lower, to: upper.map(SyncKey.number), limit: limit,
        except: SyncKey.bytes(destination))
    }
    while true {
      let first = try read(from: SyncKey.number(range.upTo + 1), to: nil, limit: page)
      try range.take(first)
      guard first.count == page, let last = first.last?.key else {
        // Everything up to the head as it was read before.
        range.reach(ledger.head.sequence)
        break
      }
      // Complete the last number of the page.
      try range.take(read(from: last + Data([0]), to: range.upTo + 1, limit: 0))
      if !range.isEmpty { break }
    }
    let looked = try bound(&range, ledger)
    // While the first copy runs, transactions may come in parts.
    if range.upTo <= cursor.streamingUntil { return (range, looked) }
    while range.needed > range.upTo {
      // Reading may bring further needs; only what has been read counts as read.
      let target = range.needed
      try range.take(read(from: SyncKey.number(range.upTo + 1), to: target + 1, limit: 0))
      range.reach(target)
    }
    return (range, looked)
  }

  /// Leaves out what would be too much to have in memory at a time.
  private func bound(_ range: inout ChangeRange, _ ledger: Ledger) throws -> [Looked] {
    let values = try ledger.stored(range.records.map { SyncKey.record($0.id) })
    var looked: [Looked] = []
    looked.reserveCapacity(range.records.count)
    var sizes: [Int] = []
    sizes.reserveCapacity(range.records.count)
    var live: [(place: Int, object: ManagedObjectID)] = []
    live.reserveCapacity(range.records.count)
    for (record, value) in zip(range.records, values) {
      sizes.append(value?.count ?? 0)
      guard let item = try value.map({ try look(record.id, $0, ledger) }) else { continue }
      looked.append(item)
      if let object = item.object { live.append((sizes.count - 1, object)) }
    }
    let objects = live.map(\.object)
    let bound = access.configuration.batchBytes
    if try access.totalSize(of: objects) + sizes.reduce(0, +) <= bound { return looked }
    let rows = try access.sizes(of: objects)
    for (item, size) in zip(live, rows) { sizes[item.place] += size }
    let end = range.end(within: bound, sizes: sizes)
    if end >= range.upTo { return looked }
    range.cut(after: end)
    let left = Set(range.records.map(\.id))
    return looked.filter { left.contains($0.id) }
  }

  /// Forgets records whose rows vanished without a trace in history, as when a program without
  /// history deleted them.
  ///
  /// A delete is not made up from that: other stores keep the record, and a comparison shows it.
  private func forget(_ ids: Set<RecordID>, _ ledger: Ledger) throws {
    for id in ids.sorted() {
      guard let entry = try ledger.record(id) else { continue }
      if let object = ledger.objectID(for: entry) { ledger.setRecordID(nil, for: object) }
      ledger.forget(id, sequence: entry.sequence)
    }
    _ = try access.commit(ledger, isRebased: true)
  }

  /// What came of reading a range.
  private enum Reading {
    case set(ChangeSet)
    /// The destination has everything.
    case nothing
    /// Another writer changed what was being read.
    case changed
    /// There are no rows where these records should be.
    case missing(Set<RecordID>)
  }

  private func read(
    _ range: ChangeRange, _ looked: [Looked], after cursor: SyncCursor, _ ledger: Ledger
  ) throws -> Reading {
    var set = ChangeSet(
      source: ledger.storeID, after: cursor.position, upTo: range.upTo)
    let linkKeys = Set(range.links.map(\.key)).sorted()
    try ledger.prefetch(linkKeys.map(SyncKey.link))
    let entries = try all(of: range, looked, ledger)
    let live = entries.indices.filter { entries[$0].object != nil }
    let rows = try access.store.snapshots(for: entries.compactMap(\.object))
    var reading = RowReading(ledger: ledger)
    try reading.prepare(rows.compactMap { $0 })
    var strangers: [ManagedObjectID] = []
    let missing = zip(live, rows).filter { $0.1 == nil }.map { entries[$0.0].id }
    if !missing.isEmpty { return .missing(Set(missing)) }
    set.records.reserveCapacity(entries.count)
    for (place, row) in zip(live, rows) {
      guard let row else { continue }
      let values = try reading.values(of: row) { strangers.append($0) }
      set.unreadable += reading.strayNames(of: row.objectID).count
      set.records.append(entries[place].entry.state(id: entries[place].id, row: values))
    }
    for item in entries where item.entry.key == nil {
      set.records.append(item.entry.state(id: item.id, row: nil))
    }
    for key in linkKeys {
      if let entry = try ledger.link(key) {
        set.links.append(LinkChange(key: key, state: entry.state))
      }
    }
    // A reference to a row that exists but is not captured: its insert comes next.
    if !strangers.isEmpty, try access.store.snapshots(for: strangers).contains(where: { $0 != nil })
    {
      return .changed
    }
    return try isStillCurrent(entries, linkKeys, ledger) ? .set(set) : .changed
  }

  /// All records of a range by their IDs: what moved on while it was read stands in it twice.
  private func all(
    of range: ChangeRange, _ looked: [Looked], _ ledger: Ledger
  ) throws -> [Looked] {
    var found = looked
    if looked.count < range.records.count {
      let known = Set(looked.map(\.id))
      let rest = range.records.map(\.id).filter { !known.contains($0) }
      for (id, value) in zip(rest, try ledger.stored(rest.map(SyncKey.record))) {
        if let value { found.append(try look(id, value, ledger)) }
      }
    }
    found.sort { $0.id < $1.id }
    var last: RecordID?
    found.removeAll { item in
      defer { last = item.id }
      return item.id == last
    }
    return found
  }

  /// Whether the entries and rows that were read belong together.
  private func isStillCurrent(
    _ looked: [Looked], _ links: [LinkKey], _ ledger: Ledger
  ) throws -> Bool {
    let fresh = try access.freshLedger()
    if fresh.head.sequence != ledger.head.sequence {
      let values = try fresh.stored(looked.map { SyncKey.record($0.id) })
      for (item, value) in zip(looked, values) where value != item.stored { return false }
      try fresh.prefetch(links.map(SyncKey.link))
      for key in links where try fresh.link(key) != ledger.link(key) { return false }
    }
    let later = try access.uncaptured(
      after: ledger.head.captured, limit: 0, includesChanges: true)
    if later.isLost { return false }
    if later.transactions.isEmpty { return true }
    let objects = Set(looked.compactMap(\.object))
    return !later.transactions.contains { transaction in
      transaction.changes.contains { objects.contains($0.objectID) }
    }
  }
}
