import CairnModel
import CairnStore
import Foundation

/// Reads from a store what changed after a cursor, as states by record ID.
///
/// The transactions of the source come whole: where something in the range changed again later,
/// the range is extended to there. Rows that a writer changes while they are read are captured and
/// read again.
struct ChangeExporter {
  let access: StoreAccess
  /// The destination; what came from there is not sent back.
  let destination: StoreID

  /// The next change set after the cursor; nil when the destination has everything.
  func next(after cursor: SyncCursor) throws -> ChangeSet? {
    try access.environment.reach(.beforeExport)
    var missing: Set<RecordID> = []
    for _ in 0..<StoreAccess.attempts {
      let ledger = try access.ledger()
      guard ledger.head.sequence > cursor.position else { return nil }
      let range = try readRange(after: cursor, ledger)
      switch try read(range, after: cursor, ledger) {
      case .set(let set):
        try access.environment.reach(.afterExport)
        return set
      case .changed: break
      case .missing(let now):
        // All history has been captured in between: it does not tell where the rows went.
        let lasting = now.intersection(missing)
        if !lasting.isEmpty { try forget(lasting, ledger) }
        missing = now
      }
      try HistoryCapture(access: access).run()
    }
    throw StoreAccess.contention(access.store)
  }

  /// The number at which a first copy that starts now ends.
  func end() throws -> UInt64 { try access.ledger().head.sequence }

  private struct Range {
    var upTo: UInt64
    var records: Set<RecordID> = []
    var links: Set<LinkKey> = []
  }

  private func readRange(after cursor: SyncCursor, _ ledger: Ledger) throws -> Range {
    guard let sidecar = access.store as? any SidecarKeeping else {
      return Range(upTo: cursor.position)
    }
    var range = Range(upTo: cursor.position)
    var needed = cursor.position
    let page = access.configuration.batchSize
    func take(_ entries: [(key: Data, value: Data)]) throws {
      for (key, value) in entries {
        let (sequence, what) = try SyncKey.change(from: key)
        range.upTo = max(range.upTo, sequence)
        if what == .moved {
          var number = ByteReader(value)
          needed = max(needed, try number.sequence())
          continue
        }
        if value.count == 16, try SyncKey.identity(StoreID.self, in: value) == destination {
          continue
        }
        switch what {
        case .record(let id): range.records.insert(id)
        case .link(let key): range.links.insert(key)
        case .moved: break
        }
      }
    }
    let changes = SyncMap.changes.rawValue
    while true {
      let first = try sidecar.sidecarEntries(
        of: changes, from: SyncKey.number(range.upTo + 1), to: nil, limit: page)
      try take(first)
      if first.count < page {
        // Everything up to the head as it was read before.
        range.upTo = max(range.upTo, ledger.head.sequence)
        return range
      }
      // Complete the last number of the page.
      let last = first[first.count - 1].key
      try take(
        sidecar.sidecarEntries(
          of: changes, from: last + Data([0]), to: SyncKey.number(range.upTo + 1), limit: 0))
      if range.records.count + range.links.count > 0 { break }
    }
    // While the first copy runs, transactions may come in parts.
    if range.upTo <= cursor.streamingUntil { return range }
    while needed > range.upTo {
      // Reading may bring further needs; only what has been read counts as read.
      let target = needed
      try take(
        sidecar.sidecarEntries(
          of: changes, from: SyncKey.number(range.upTo + 1), to: SyncKey.number(target + 1),
          limit: 0))
      range.upTo = max(range.upTo, target)
    }
    return range
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
    _ = try access.commit(ledger)
  }

  /// What came of reading a range.
  private enum Reading {
    case set(ChangeSet)
    /// Somebody changed what was being read.
    case changed
    /// There are no rows where these records should be.
    case missing(Set<RecordID>)
  }

  private func read(
    _ range: Range, after cursor: SyncCursor, _ ledger: Ledger
  ) throws -> Reading {
    var set = ChangeSet(
      source: ledger.storeID, after: cursor.position, upTo: range.upTo)
    let ids = range.records.sorted()
    let keys = ids.map(SyncKey.record) + range.links.map(SyncKey.link)
    try ledger.prefetch(keys)
    let entries = try ids.compactMap { id in try ledger.record(id).map { (id: id, entry: $0) } }
    let live = entries.compactMap { item in
      ledger.objectID(for: item.entry).map { (id: item.id, entry: item.entry, object: $0) }
    }
    let rows = try access.store.snapshots(for: live.map(\.object))
    let reading = RowReading(ledger: ledger)
    try reading.prefetchReferences(of: rows.compactMap { $0 })
    var strangers: [ManagedObjectID] = []
    let missing = zip(live, rows).filter { $0.1 == nil }.map(\.0.id)
    if !missing.isEmpty { return .missing(Set(missing)) }
    for (item, row) in zip(live, rows) {
      guard let row else { continue }
      let values = try reading.values(of: row) { strangers.append($0) }
      set.records.append(item.entry.state(id: item.id, row: values))
    }
    for item in entries where item.entry.key == nil {
      set.records.append(item.entry.state(id: item.id, row: nil))
    }
    for key in range.links.sorted() {
      if let entry = try ledger.link(key) {
        set.links.append(LinkChange(key: key, state: entry.state))
      }
    }
    // A reference to a row that exists but is not captured: its insert comes next.
    if !strangers.isEmpty, try access.store.snapshots(for: strangers).contains(where: { $0 != nil })
    {
      return .changed
    }
    return try isStillCurrent(keys, Set(live.map(\.object)), ledger) ? .set(set) : .changed
  }

  /// Whether the entries and rows that were read belong together.
  private func isStillCurrent(
    _ keys: [SidecarKey], _ objects: Set<ManagedObjectID>, _ ledger: Ledger
  ) throws -> Bool {
    let fresh = try access.ledger()
    if fresh.head.sequence != ledger.head.sequence {
      try fresh.prefetch(keys)
      for key in keys where try fresh.value(key) != ledger.value(key) { return false }
    }
    let later = try access.uncaptured(
      after: ledger.head.captured, limit: 0, includesChanges: true)
    return !later.transactions.contains { transaction in
      transaction.changes.contains { objects.contains($0.objectID) }
    }
  }
}
