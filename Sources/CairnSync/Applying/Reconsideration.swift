import CairnContext
import CairnStore
import Foundation

/// Shows what a store has kept for a newer version of the model, once it has that version: values of
/// properties, records of entities and links of relationships that its model did not know.
struct Reconsideration {
  let access: StoreAccess
  let context: ManagedObjectContext

  /// - Returns: What came of it; nil when the model has not changed since the last time.
  func runIfNeeded() throws -> [ChangeImporter.Outcome]? {
    guard try access.ledger().value(SyncKey.reconsider) != nil else { return nil }
    let found = try records().sorted()
    var outcomes: [ChangeImporter.Outcome] = []
    for start in stride(from: 0, to: found.count, by: access.configuration.batchSize) {
      let part = found[start...].prefix(access.configuration.batchSize)
      let set = ChangeSet(source: try access.ledger().storeID, after: 0, upTo: 0)
      outcomes.append(
        try ChangeImporter(access: access, context: context)
          .apply(set, cursor: nil, reconsidering: Set(part)))
    }
    for _ in 0..<StoreAccess.attempts {
      let ledger = try access.ledger()
      ledger.put(SyncKey.reconsider, nil)
      if try access.commit(ledger) { return outcomes }
    }
    throw StoreAccess.contention(access.store)
  }

  /// The records of which the rows may show more than they do.
  private func records() throws -> Set<RecordID> {
    guard let sidecar = access.store as? any SidecarKeeping else { return [] }
    var found: Set<RecordID> = []
    let schema = access.schema
    try sidecar.visitEntries(of: .records) { key, value in
      let entry = try RecordEntry(decoding: value)
      guard entry.survivor == nil, let plan = schema.entities[entry.entity] else { return }
      let isHidden = entry.key == nil && !entry.overlay.isEmpty
      let hasMore = entry.overlay.keys.contains { name in
        plan.names.place(of: name).map { plan.columns[$0].relationship == nil } ?? false
      }
      if isHidden || hasMore { found.insert(try SyncKey.identity(RecordID.self, in: key)) }
    }
    try sidecar.visitEntries(of: .links) { key, _ in
      let link = try SyncKey.linkKey(from: key)
      if schema.links[link.relationship] != nil { found.formUnion([link.owner, link.member]) }
    }
    return found
  }
}
