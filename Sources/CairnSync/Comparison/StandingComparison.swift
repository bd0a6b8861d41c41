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

  init(source: StoreAccess, destination: StoreAccess, filter: EntityFilter? = nil) {
    self.source = source
    self.destination = destination
    self.filter = filter
    translation = .between(source, and: destination)
  }

  /// Those of some records and links that the source has something newer of, in the names of the source.
  func ahead(
    _ ids: some Collection<RecordID>, _ keys: some Collection<LinkKey> = []
  ) throws -> (records: Set<RecordID>, links: Set<LinkKey>) {
    let (mine, theirs) = (try source.ledger(), try destination.ledger())
    let ends = keys.flatMap { [$0.owner, $0.member] }
    try mine.prefetch(records: Array(ids) + ends)
    try theirs.prefetch(records: ids)
    try mine.prefetch(keys.map(SyncKey.link))
    try theirs.prefetch(keys.map { SyncKey.link(translation?.link($0) ?? $0) })
    let records = try ids.filter { try isAhead($0, mine, theirs) }
    let links = try keys.filter { try isAhead($0, mine, theirs) }
    return (Set(records), Set(links))
  }

  private func isAhead(_ id: RecordID, _ mine: Ledger, _ theirs: Ledger) throws -> Bool {
    guard let entry = try mine.record(id), filter?.names.contains(entry.entity) ?? true else {
      return false
    }
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
    guard let link = try mine.link(key)?.state, filter?.exchanges(key) ?? true else { return false }
    // A link of a record that is gone shows nowhere.
    for end in [key.owner, key.member] where try mine.record(end)?.key == nil { return false }
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

extension RecordEntry {
  /// Whether the store has the record: as an object, or kept for a newer version of the model.
  func isPresent(in schema: SyncSchema) -> Bool {
    if key != nil { return true }
    return schema.entities[entity] == nil && deletion == nil && survivor == nil && !overlay.isEmpty
  }
}
