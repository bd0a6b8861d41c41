import CairnStore

/// What a store has deleted and forgotten is made known there again before it reads from the beginning what it had
/// read already: it would be news.
///
/// Tombstones go when they are older than the retention and every live reader has them; a store that is read from
/// and takes nothing back is no reader.
extension SyncPass {
  /// - Parameters:
  ///   - store: The one that has forgotten.
  ///   - source: The one that it is about to read from the beginning.
  ///   - limit: How far it has read for certain, where its cursor does not say so.
  func rememberDeletes(
    of store: StoreAccess, stillIn source: StoreAccess, upTo limit: UInt64? = nil
  ) throws {
    let ledger = try store.ledger()
    if try ledger.retention().scanned == 0 { return }
    let remembered = try ledger.value(SyncKey.filter(source.ledger().storeID))
    let filter = remembered.flatMap { EntityFilter($0, local.schema) }
    // What it has read of is not known any more.
    if remembered != nil, filter == nil { return }
    var comparison = StandingComparison(
      source: store, destination: source,
      filter: filter?.translated(from: local.schema, to: store.schema))
    comparison.limit = limit
    let back = comparison.back
    try comparison.visitUnknown { ids, keys in
      let gone = try comparison.ahead(ids, keys)
      let theirs = try source.ledger()
      let lost = try store.ledger().lostNames()
      // As if it had written them just now: they have come from nowhere.
      var set = ChangeSet(source: ledger.storeID, after: 0, upTo: 0)
      for id in gone.records.sorted() {
        guard let entry = try theirs.record(id),
          !lost.contains(back?.entity(entry.entity) ?? entry.entity)
        else { continue }
        let policy = source.policy(of: entry.entity)
        set.records.append(
          (back?.entry(entry) ?? entry).forgotten(id: id, by: ledger.storeID, under: policy))
      }
      for key in gone.links.sorted() where !lost.contains(key.relationship) {
        guard let state = try theirs.link(comparison.there(key))?.state else { continue }
        set.links.append(LinkChange(key: key, state: state.forgotten(by: ledger.storeID)))
      }
      if set.isEmpty { return }
      _ = try importing(to: store) { try $0.apply(set, cursor: nil) }
    } afterPage: {
      try checkGoingOn()
    }
  }

  /// Takes note of what a store is to read of another; before it reads more than so far, of what it has deleted.
  func take(from source: StoreAccess, to store: StoreAccess) throws {
    let id = try source.ledger().storeID
    if let old = try store.ledger().value(SyncKey.filter(id)), old != filter?.encoded {
      try rememberDeletes(of: store, stillIn: source)
    }
    // All of it is about to be read once more.
    if let position = try store.ledger().cursor(for: id).readBefore {
      try rememberDeletes(of: store, stillIn: source, upTo: position)
    }
    try store.take(filter, from: id)
  }
}
