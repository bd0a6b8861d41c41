import CairnModel
import CairnStore
import Foundation

/// Which records or links are summed up together: those of one entity's tree, or of one relationship, whose
/// (owners') IDs begin with the same 32 bits, which is the same minute or so.
///
/// What lies in one lies together in the map, so that a bucket that differs is read without the rest.
struct DigestBucket: Hashable, Sendable, Comparable {
  let prefix: UInt32
  /// The root entity's name, or a zero byte and the relationship's.
  let list: String

  init(record id: RecordID, root: String) {
    prefix = UInt32(id.high >> 32)
    list = root
  }

  init(link key: LinkKey) {
    prefix = UInt32(key.owner.high >> 32)
    list = "\0" + key.relationship
  }

  /// The root entity; nil for links.
  var root: String? { list.hasPrefix("\0") ? nil : list }
  /// Nil for records.
  var relationship: String? { list.hasPrefix("\0") ? String(list.dropFirst()) : nil }

  // Bytes: prefix 4 · list
  var key: SidecarKey { SyncMap.digests.key(prefixBytes + Data(list.utf8)) }

  init(decoding key: Data) throws {
    guard key.count > 4, let list = String(validating: key.dropFirst(4), as: UTF8.self) else {
      throw ByteReader.damaged
    }
    prefix = key.prefix(4).reduce(0) { $0 << 8 | UInt32($1) }
    self.list = list
  }

  private var prefixBytes: Data { withUnsafeBytes(of: prefix.bigEndian) { Data($0) } }

  /// Where its entries lie in `sync_records` or `sync_links`.
  var range: (map: SyncMap, from: Data, to: Data?) {
    guard let relationship else { return (.records, prefixBytes, SyncKey.end(of: prefixBytes)) }
    let start = Data(relationship.utf8) + Data([0]) + prefixBytes
    return (.links, start, SyncKey.end(of: start))
  }

  static func < (a: Self, b: Self) -> Bool { (a.prefix, a.list) < (b.prefix, b.list) }
}

extension SyncSchema {
  /// What a record counts for in its bucket; nil for one that has no object and will have none.
  func digest(of entry: RecordEntry, id: RecordID) -> (bucket: DigestBucket, sum: DigestSum)? {
    let plan = entities[entry.entity]
    if entry.key == nil {
      // Of an entity that only a newer model has.
      guard plan == nil, entry.survivor == nil,
        entry.state(id: id, row: nil).isAlive(under: .lastWriter)
      else { return nil }
    }
    let root = plan?.entity.rootEntity.name ?? entry.entity
    return (
      DigestBucket(record: id, root: root),
      Self.digest(id, entry.entity, writes(of: entry, plan), entry.key)
    )
  }

  /// The digests of new records, which have their writes in common.
  func visitDigests(of records: NewRecords, _ body: (RecordID, DigestBucket, DigestSum) -> Void) {
    guard let first = records.members.first, let plan = entities[records.entity] else { return }
    let writes = writes(of: records.entry(first), plan)
    let root = plan.entity.rootEntity.name ?? records.entity
    for member in records.members {
      let sum = Self.digest(member.id, records.entity, writes, .row(member.key))
      body(member.id, DigestBucket(record: member.id, root: root), sum)
    }
  }

  private static func digest(
    _ id: RecordID, _ entity: String, _ writes: DigestSum, _ key: ObjectKey?
  ) -> DigestSum {
    var hash = DigestHash()
    hash.add(id)
    hash.add(entity)
    hash.add(writes)
    var number: UInt64 = 0
    if case .row(let key) = key { number = UInt64(bitPattern: key) }
    return DigestSum(hash, key: number)
  }

  /// What the writes of an entry count for.
  private func writes(of entry: RecordEntry, _ plan: EntityPlan?) -> DigestSum {
    var parts = DigestSum()
    func add(_ stamp: Stamp?, _ start: DigestHash) {
      guard let stamp else { return }
      var part = start
      part.add(stamp)
      parts += DigestSum(part)
    }
    if let plan {
      let base = entry.base?.stamp
      for (index, start) in plan.digests.enumerated() {
        let own = entry.writes.isEmpty ? nil : entry.writes[plan.names.names[index]]?.stamp
        add(own ?? base, start)
      }
    }
    for name in entry.overlay.keys where plan?.names.place(of: name) == nil {
      var start = DigestHash()
      start.add(name)
      add(entry.write(of: name)?.stamp, start)
    }
    return parts
  }
}

extension LinkState {
  /// What a link counts for in its bucket; nil for one that was removed.
  func digest(_ key: LinkKey) -> (bucket: DigestBucket, sum: DigestSum)? {
    guard isMember else { return nil }
    var hash = DigestHash()
    hash.add(key.owner)
    hash.add(key.member)
    hash.add(stamp)
    for position in [memberPosition, ownerPosition] {
      hash.add(position == nil ? 0 : 1)
      if let position { hash.add(position.write.stamp) }
    }
    return (DigestBucket(link: key), DigestSum(hash))
  }
}
