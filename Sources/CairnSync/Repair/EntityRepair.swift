import CairnModel
import CairnStore

/// Gives rows back the entities of their records.
///
/// Each store's bookkeeping says of what entity a record was made, which no write changes: a row of another entity was
/// changed past history. Should two stores have made a record with different ones, as older versions did, the preferred
/// one counts.
struct EntityRepair {
  let local: StoreAccess
  let replica: StoreAccess
  let preference: RepairPreference

  func run(_ ids: [RecordID]) throws {
    if ids.isEmpty { return }
    for access in [local, replica] { try restoreRows(of: ids, access) }
    let (right, other) = preference == .local ? (local, replica) : (replica, local)
    let translation = SchemaTranslation.between(right, and: other)
    var apart: [RecordID: String] = [:]
    let (mine, theirs) = (try right.ledger(), try other.ledger())
    for id in ids {
      guard let entry = try mine.record(id), let there = try theirs.record(id) else { continue }
      let name = translation?.entity(entry.entity) ?? entry.entity
      if name != there.entity, other.schema.entities[name] != nil { apart[id] = name }
    }
    if apart.isEmpty { return }
    try other.captureNow { work, _ in
      for (id, name) in apart.sorted(by: { $0.key < $1.key }) {
        guard var entry = try work.ledger.record(id) else { continue }
        entry.entity = name
        work.ledger.setRecordQuietly(id, entry)
      }
    }
    try restoreRows(of: Array(apart.keys), other)
  }

  private func restoreRows(of ids: [RecordID], _ access: StoreAccess) throws {
    let ledger = try access.ledger()
    let objects = try ids.compactMap { id in
      try ledger.record(id).flatMap { ledger.objectID(for: $0) }
    }
    try access.store.capabilities.integrity?.restoreEntities(of: objects)
  }
}
