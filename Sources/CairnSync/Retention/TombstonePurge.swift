import CairnStore
import Foundation

/// Takes out of a ledger what a part of the change order tells and no reader has to know any more.
struct TombstonePurge {
  let access: StoreAccess
  let ledger: Ledger
  /// The last number of the change order that may go.
  let limit: UInt64
  private(set) var records = 0
  private(set) var links = 0
  private(set) var markers = 0
  private(set) var postponed = 0

  var count: Int { records + links + markers }

  init(access: StoreAccess, ledger: Ledger, limit: UInt64) {
    self.access = access
    self.ledger = ledger
    self.limit = limit
  }

  /// - Parameter keys: Of `sync_changes`.
  /// - Returns: The numbers of records that would go but for something that waits with them.
  mutating func remove(_ keys: [Data]) throws -> [UInt64] {
    var gone: [(id: RecordID, sequence: UInt64)] = []
    var postponed: [UInt64] = []
    for key in keys {
      let (sequence, what) = try SyncKey.change(from: key)
      switch what {
      case .moved:
        ledger.put(SyncKey.moved(sequence), nil)
        markers += 1
      case .link(let link): try removeLink(link)
      case .record(let id): gone.append((id, sequence))
      }
    }
    try ledger.prefetch(records: gone.map(\.id))
    for (id, sequence) in gone {
      if try !removeRecord(id) { postponed.append(sequence) }
    }
    self.postponed += postponed.count
    return postponed
  }

  /// - Returns: False for one that is over, but has to stay for a while.
  private mutating func removeRecord(_ id: RecordID) throws -> Bool {
    guard let entry = try ledger.record(id) else { return true }
    let plan = access.schema.entities[entry.entity]
    guard RetentionRule.isOver(entry, id: id, plan?.policy) else { return true }
    // Without its entry it would be one that has not arrived; and what waits in quarantine would meet
    // nothing that it has to be merged with.
    if try !ledger.waiting(for: id).isEmpty || ledger.value(SyncKey.quarantine(id)) != nil {
      return false
    }
    let keys = try Set((plan?.linkSides ?? []).flatMap { try ledger.links(of: id, $0) })
    let entries = try keys.map { (key: $0, entry: try ledger.link($0)) }
    if entries.contains(where: { ($0.entry?.sequence ?? 0) > limit }) { return false }
    for (key, link) in entries { remove(key, link) }
    ledger.forget(id, sequence: entry.sequence)
    records += 1
    return true
  }

  private mutating func removeLink(_ key: LinkKey) throws {
    guard let entry = try ledger.link(key), !entry.state.isMember, entry.sequence <= limit else {
      return
    }
    remove(key, entry)
  }

  private mutating func remove(_ key: LinkKey, _ entry: LinkEntry?) {
    ledger.forget(key, sequence: entry?.sequence ?? 0)
    links += 1
  }
}

extension Ledger {
  /// Forgets a link that every reader knows to be gone.
  func forget(_ key: LinkKey, sequence: UInt64) {
    put(SyncKey.link(key), nil)
    put(SyncKey.backlink(key), nil)
    put(SyncKey.change(sequence, link: key), nil)
  }
}
