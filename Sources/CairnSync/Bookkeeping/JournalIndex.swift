import CairnStore
import Foundation

/// A store's conflict journal by record.
///
/// Each commit that adds to the journal adds to the index. A version without the index does not, and leaves out
/// of the head that there is one, whatever it commits: then the index is made again before it is trusted.
struct JournalIndex {
  /// What the head says of it.
  enum State: UInt8, Sendable {
    /// Nothing, as of versions without the index.
    case missing = 0
    /// The journal has nothing that the index lacks.
    case whole = 1
    /// All that is added since is indexed; what was there before is being read.
    case growing = 2
  }

  let access: StoreAccess
  /// For how many records the journal is looked up one by one; for more it is read from its beginning.
  private static let most = 20_000

  /// The entries of records in the order of their keys; nil where the whole journal has to be read.
  func entries(of records: Set<RecordID>) throws -> [(key: Data, value: Data)]? {
    guard records.count <= Self.most, let sidecar = access.store.capabilities.sidecar,
      try access.ledger().head.journalIndex == .whole
    else { return nil }
    var keys: [Data] = []
    for id in records.sorted() {
      let prefix = SyncKey.bytes(id)
      keys += try sidecar.sidecarEntries(
        of: SyncMap.journalIndex.rawValue, from: prefix, to: SyncKey.end(of: prefix), limit: 0
      ).map { Self.entry(in: $0.key) }
    }
    keys.sort { $0.lexicographicallyPrecedes($1) }
    let values = try sidecar.sidecarValues(for: keys.map(SyncMap.journal.key))
    return zip(keys, values).compactMap { key, value in value.map { (key, $0) } }
  }

  /// The key in the journal that a key of the index leads to.
  private static func entry(in key: Data) -> Data { Data(key.dropFirst(16)) }

  /// Indexes what a version without the index has written, in short commits.
  func complete() throws {
    guard let sidecar = access.store.capabilities.sidecar else { return }
    for _ in 0..<StoreAccess.attempts {
      let ledger = try access.ledger()
      if ledger.head.journalIndex == .whole { return }
      ledger.head.journalIndex = .growing
      guard try access.commit(ledger) else { continue }
      try index(sidecar)
      try removeLeftovers(sidecar)
      if try end() { return }
    }
    throw StoreAccess.contention(access.store)
  }

  /// - Returns: False when a version without the index has written meanwhile.
  private func end() throws -> Bool {
    for _ in 0..<StoreAccess.attempts {
      let ledger = try access.ledger()
      if ledger.head.journalIndex != .growing { return ledger.head.journalIndex == .whole }
      ledger.head.journalIndex = .whole
      if try access.commit(ledger) { return true }
    }
    throw StoreAccess.contention(access.store)
  }

  private func index(_ sidecar: any SidecarKeeping) throws {
    var found: [SidecarKey] = []
    func commit() throws {
      try put(found, Data())
      found = []
    }
    try sidecar.visitEntries(of: .journal) { key, value in
      // What cannot be read is of no record.
      guard let entry = try? JournalEntry(decoding: value) else { return }
      found.append(SyncKey.journalIndex(entry.conflict.record, key))
    } afterPage: {
      try commit()
    }
    try commit()
  }

  /// Entries that a version without the index has purged.
  private func removeLeftovers(_ sidecar: any SidecarKeeping) throws {
    var page: [SidecarKey] = []
    func commit() throws {
      let values = try sidecar.sidecarValues(
        for: page.map { SyncMap.journal.key(Self.entry(in: $0.key)) })
      try put(zip(page, values).filter { $0.1 == nil }.map(\.0), nil)
      page = []
    }
    try sidecar.visitEntries(of: .journalIndex) { key, _ in
      page.append(SyncMap.journalIndex.key(key))
    } afterPage: {
      try commit()
    }
    try commit()
  }

  private func put(_ keys: [SidecarKey], _ value: Data?) throws {
    for _ in 0..<StoreAccess.attempts {
      let ledger = try access.ledger()
      try ledger.prefetch(keys)
      for key in keys where try ledger.value(key) != value { ledger.put(key, value) }
      if try access.commit(ledger, isRebased: true) { return }
    }
    throw StoreAccess.contention(access.store)
  }
}
