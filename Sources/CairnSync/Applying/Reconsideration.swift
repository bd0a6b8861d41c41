import CairnContext
import CairnStore
import Foundation

/// Shows what a store has kept for a newer version of the model, once it has that version: values of
/// properties, records of entities and links of relationships that its model did not know, and the places of members in
/// what had no order.
///
/// Also looks at what other delete rules decided: what went along with a deleted record, and what kept one.
///
/// As if it came in now: what the store's rules refuse goes into quarantine, and is tried again.
struct Reconsideration {
  let access: StoreAccess
  let context: ManagedObjectContext
  /// Whom the link brings changes from, which counts what is refused as held.
  let source: StoreID

  /// - Returns: What came of it; nil when the model has not changed since the last time.
  func runIfNeeded() throws -> [ChangeImporter.Outcome]? {
    guard try access.ledger().value(SyncKey.reconsider) != nil else { return nil }
    let (records, links) = try found()
    var outcomes: [ChangeImporter.Outcome] = []
    var importer = ChangeImporter(access: access, context: context)
    importer.isModelChange = true
    let size = access.configuration.batchSize
    for start in stride(from: 0, to: records.count, by: size) {
      var set = ChangeSet(source: source, after: 0, upTo: 0)
      set.records = try states(of: Array(records[start...].prefix(size)))
      outcomes.append(try importer.apply(set, cursor: nil))
    }
    for start in stride(from: 0, to: links.count, by: size) {
      var set = ChangeSet(source: source, after: 0, upTo: 0)
      let ledger = try access.ledger()
      let page = links[start...].prefix(size)
      try ledger.prefetch(page.map(SyncKey.link))
      for key in page {
        if let state = try ledger.link(key)?.state {
          set.links.append(LinkChange(key: key, state: state))
        }
      }
      outcomes.append(try importer.apply(set, cursor: nil))
    }
    for _ in 0..<StoreAccess.attempts {
      let ledger = try access.ledger()
      ledger.put(SyncKey.reconsider, nil)
      ledger.put(SyncKey.unshownOrders, nil)
      if try access.commit(ledger) { return outcomes }
    }
    throw StoreAccess.contention(access.store)
  }

  /// The records and links of which the rows may show more than they do.
  private func found() throws -> (records: [RecordID], links: [LinkKey]) {
    guard let sidecar = access.store.capabilities.sidecar else { return ([], []) }
    var records: [RecordID] = []
    var links: [LinkKey] = []
    let schema = access.schema
    let unshown = try access.ledger().unshownOrders()
    let inUnshownOrder = schema.entities.filter { _, plan in
      plan.columns.contains { column in
        column.orderedInverse.map { unshown.contains(SyncSchema.name(of: $0)) } ?? false
      }
    }
    try sidecar.visitEntries(of: .records) { key, value in
      let entry = try RecordEntry(decoding: value)
      guard entry.survivor == nil, let plan = schema.entities[entry.entity] else { return }
      let isHidden = entry.key == nil && !entry.overlay.isEmpty
      let hasMore = entry.overlay.keys.contains { name in
        plan.names.place(of: name).map { plan.columns[$0].relationship == nil } ?? false
      }
      // What waits for a deleted record comes into the plan with it.
      if isHidden || hasMore || entry.deletion != nil || inUnshownOrder[entry.entity] != nil {
        records.append(try SyncKey.identity(RecordID.self, in: key))
      }
    }
    try sidecar.visitEntries(of: .links) { key, _ in
      let link = try SyncKey.linkKey(from: key)
      if schema.links[link.relationship] != nil { links.append(link) }
    }
    return (records, links)
  }

  private func states(of records: [RecordID]) throws -> [RecordState] {
    let ledger = try access.ledger()
    try ledger.prefetch(records: records)
    let entries = try records.compactMap { id in
      try ledger.record(id).map { (id: id, entry: $0) }
    }
    let objects = entries.map { ledger.objectID(for: $0.entry) }
    let rows = try access.store.snapshots(for: objects.compactMap { $0 })
    var reading = RowReading(ledger: ledger)
    try reading.prepare(rows.compactMap { $0 })
    var next = rows.makeIterator()
    return try zip(entries, objects).map { item, object in
      let row = object == nil ? nil : next.next() ?? nil
      return item.entry.state(id: item.id, row: try row.map { try reading.values(of: $0) })
    }
  }
}
