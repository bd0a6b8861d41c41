import CairnStore
import Foundation

/// What a store that comes back after more than the retention keeps although the other does not know it, because the
/// link brings the other nothing.
///
/// The other has read past some of it when the link still went that way, or has sent it itself, and has deleted and
/// forgotten it since. Where it stands it would not be sent when the link goes that way again, and the two would stay
/// apart: it gets a new place in the change order.
struct KeptRecords {
  /// The store that was away.
  let access: StoreAccess
  /// The store that serves it.
  let source: StoreAccess

  private static let page = 500

  /// Call once what was forgotten is deleted here.
  func sendAgain() throws {
    guard let sidecar = access.store.capabilities.sidecar else { return }
    let position = try source.ledger().cursor(for: access.ledger().storeID).position
    // Of records only what the other has read: what it has sent was deleted here, unless it was written since.
    if position > 0 {
      try pages(of: .records, in: sidecar) { page in
        let ids = try page.map { try SyncKey.identity(RecordID.self, in: $0.key) }
        try move(position, records: ids)
      }
    }
    try pages(of: .links, in: sidecar) { page in
      try move(position, links: try page.map { try SyncKey.linkKey(from: $0.key) })
    }
  }

  private func pages(
    of map: SyncMap, in sidecar: any SidecarKeeping,
    _ visit: ([(key: Data, value: Data)]) throws -> Void
  ) throws {
    var next: Data?
    while true {
      let page = try sidecar.sidecarEntries(
        of: map.rawValue, from: next, to: nil, limit: Self.page)
      guard let last = page.last else { return }
      next = last.key + Data([0])
      try visit(page.map { (key: $0.key, value: $0.value) })
    }
  }

  private func move(
    _ position: UInt64, records: [RecordID] = [], links: [LinkKey] = []
  ) throws {
    for _ in 0..<StoreAccess.attempts {
      let (mine, theirs) = (try access.ledger(), try source.ledger())
      let head = mine.head.sequence
      try theirs.prefetch(records: records)
      try mine.prefetch(records: records)
      for id in records where try theirs.record(theirs.resolve(id)) == nil {
        guard let entry = try mine.record(id), entry.key != nil, entry.sequence <= position,
          try theirs.value(SyncKey.quarantine(id)) == nil
        else { continue }
        mine.head.sequence = head + 1
        mine.setRecord(id, entry)
      }
      for key in links where try theirs.link(theirs.resolve(key)) == nil {
        guard let entry = try mine.link(key), entry.state.isMember,
          // Of a record that was written since, its links came from there all the same.
          try mine.wasIn(
            theirs.storeID, entry.sequence, SyncKey.change(entry.sequence, link: key),
            readUpTo: position),
          try theirs.value(SyncKey.quarantine(key)) == nil, try mine.shows(key)
        else { continue }
        mine.head.sequence = head + 1
        try mine.setLink(key, entry.state)
      }
      if try access.commit(mine, isRebased: true) { return }
    }
    throw StoreAccess.contention(access.store)
  }
}
