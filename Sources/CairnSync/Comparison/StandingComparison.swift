import CairnStore
import Foundation

/// Tells by their writes alone which records and links one store has something newer of than another.
///
/// For links of one direction: what the source has and the destination does not is what the direction
/// leaves out, once the source has all that the destination has.
struct StandingComparison {
  let source: StoreAccess
  let destination: StoreAccess
  /// What is exchanged, in the names of the source; nil for all.
  let filter: EntityFilter?
  private let translation: SchemaTranslation?
  /// From the names of the destination to those of the source; nil for one version.
  let back: SchemaTranslation?
  /// How far the source has read the destination for certain, where its cursor does not say so.
  var limit: UInt64?

  init(source: StoreAccess, destination: StoreAccess, filter: EntityFilter? = nil) {
    self.source = source
    self.destination = destination
    self.filter = filter
    translation = .between(source, and: destination)
    back = .between(destination, and: source)
  }

  /// Those of some records and links that the source has something newer of, in the names of the source: also a
  /// delete that it has forgotten.
  func ahead(
    _ ids: some Collection<RecordID>, _ keys: some Collection<LinkKey> = []
  ) throws -> (records: Set<RecordID>, links: Set<LinkKey>) {
    let (mine, theirs) = (try source.ledger(), try destination.ledger())
    let ends = keys.flatMap { [$0.owner, $0.member] }
    try mine.prefetch(records: Array(ids) + ends)
    try theirs.prefetch(records: ids)
    try mine.prefetch(keys.map(SyncKey.link))
    try theirs.prefetch(keys.map { SyncKey.link(there($0)) })
    let records = try ids.filter { try isAhead($0, mine, theirs) }
    let links = try keys.filter { try isAhead($0, mine, theirs) }
    return (Set(records), Set(links))
  }

  private func isAhead(_ id: RecordID, _ mine: Ledger, _ theirs: Ledger) throws -> Bool {
    guard let entry = try mine.record(id) else { return try isForgotten(id, mine, theirs) }
    guard filter?.names.contains(entry.entity) ?? true else { return false }
    guard let other = try theirs.record(id) else { return entry.isPresent(in: source.schema) }
    let isHere = entry.isPresent(in: source.schema)
    let isThere = other.isPresent(in: destination.schema)
    guard isHere, isThere else { return isHere != isThere }
    let own = translation?.entry(entry) ?? entry
    return names(of: own, other).contains { name in
      guard let write = own.write(of: name) else { return false }
      return other.write(of: name).map { $0.stamp < write.stamp } ?? true
    }
  }

  /// The properties of which either knows a write, in the names of the destination.
  private func names(of mine: RecordEntry, _ theirs: RecordEntry) -> Set<String> {
    var names = Set(mine.writes.keys).union(theirs.writes.keys)
    if mine.base != nil {
      names.formUnion((destination.schema.entities[mine.entity]?.columns ?? []).map(\.name))
      names.formUnion(mine.overlay.keys)
    }
    return names
  }

  private func isAhead(_ key: LinkKey, _ mine: Ledger, _ theirs: Ledger) throws -> Bool {
    guard filter?.exchanges(key) ?? true else { return false }
    // A link of a record that is gone shows nowhere.
    for end in [key.owner, key.member] where try mine.record(end)?.key == nil { return false }
    guard let link = try mine.link(key)?.state else { return try isForgotten(key, mine, theirs) }
    let (other, own) = translation?.link(key, link) ?? (key, link)
    guard let theirs = try theirs.link(other)?.state else { return own.isMember }
    func isNewer(_ mine: Register?, _ theirs: Register?) -> Bool {
      guard let mine else { return false }
      return theirs.map { $0.write.stamp < mine.write.stamp } ?? true
    }
    return isNewer(own.membership, theirs.membership)
      || own.isMember
        && (isNewer(own.memberPosition, theirs.memberPosition)
          || isNewer(own.ownerPosition, theirs.ownerPosition))
  }
}

// What the source has deleted, and no longer knows that it did: its tombstones are purged when they are older
// than the retention.
extension StandingComparison {
  /// Whether the destination has a record that the source has read and has not.
  private func isForgotten(_ id: RecordID, _ mine: Ledger, _ theirs: Ledger) throws -> Bool {
    guard let other = try theirs.record(id), other.isPresent(in: destination.schema),
      filter?.names.contains(back?.entity(other.entity) ?? other.entity) ?? true,
      // One that arrived and waits was not deleted.
      try mine.value(SyncKey.quarantine(id)) == nil
    else { return false }
    return try hasRead(other.sequence, mine, theirs)
  }

  private func hasRead(_ sequence: UInt64, _ mine: Ledger, _ theirs: Ledger) throws -> Bool {
    let cursor = try mine.cursor(for: theirs.storeID)
    guard let limit else { return sequence <= cursor.position }
    return sequence <= min(limit, cursor.readBefore ?? cursor.position)
  }

  /// A link in the names of the destination.
  func there(_ key: LinkKey) -> LinkKey { translation?.link(key) ?? key }

  private func isForgotten(_ key: LinkKey, _ mine: Ledger, _ theirs: Ledger) throws -> Bool {
    guard let other = try theirs.link(there(key)), other.state.isMember,
      try mine.value(SyncKey.quarantine(key)) == nil
    else { return false }
    return try hasRead(other.sequence, mine, theirs)
  }

  /// Visits the records and links of the destination that the source has no entry of, in the names of the
  /// source, a page at a time.
  func visitUnknown(
    _ body: ([RecordID], [LinkKey]) throws -> Void, afterPage: () throws -> Void
  ) throws {
    guard let sidecar = destination.store.capabilities.sidecar else { return }
    let everything: [(map: SyncMap, from: Data, to: Data?)] = [
      (.records, Data(), nil), (.links, Data(), nil),
    ]
    for range in try bucketsApart()?.map(\.range) ?? everything {
      var next = range.from
      while true {
        let page = try sidecar.sidecarEntries(
          of: range.map.rawValue, from: next, to: range.to, limit: StoreComparison.page)
        let mine = try source.ledger()
        if range.map == .records {
          let ids = try page.map { try SyncKey.identity(RecordID.self, in: $0.key) }
          let known = try mine.stored(ids.map(SyncKey.record))
          try body(zip(ids, known).compactMap { $1 == nil ? $0 : nil }, [])
        } else {
          let keys = try page.map { item in
            let key = try SyncKey.linkKey(from: item.key)
            return back?.link(key) ?? key
          }
          let known = try mine.stored(keys.map(SyncKey.link))
          try body([], zip(keys, known).compactMap { $1 == nil ? $0 : nil })
        }
        try afterPage()
        guard page.count == StoreComparison.page, let last = page.last else { break }
        next = last.key + Data([0])
      }
    }
  }

  /// Where the two differ, by their digests; nil where these do not tell.
  private func bucketsApart() throws -> [DigestBucket]? {
    guard source.schema.namesDigest == destination.schema.namesDigest else { return nil }
    var sums: [[DigestBucket: DigestSum]] = []
    for access in [source, destination] {
      let ledger = try access.ledger()
      guard let stored = try ledger.value(SyncKey.digests),
        let state = try? DigestState(decoding: stored),
        state.names == ledger.head.names, state.extent == .all,
        let kept = try? DigestComparison.digests(of: access)
      else { return nil }
      sums.append(kept)
    }
    return Set(sums[0].keys).union(sums[1].keys).filter { bucket in
      !(sums[0][bucket] ?? DigestSum()).matches(sums[1][bucket] ?? DigestSum())
    }.sorted()
  }
}

extension RecordEntry {
  /// Whether the store has the record: as an object, or kept for a newer version of the model.
  func isPresent(in schema: SyncSchema) -> Bool {
    if key != nil { return true }
    return schema.entities[entity] == nil && deletion == nil && survivor == nil && !overlay.isEmpty
  }
}
