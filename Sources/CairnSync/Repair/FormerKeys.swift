import CairnStore
import Foundation

/// The keys that rows had which a repair makes anew: what refers to them leads to them again.
///
/// The store keeps them from the commit in which it forgets the rows until these are back, so that a repair that dies in
/// between leaves them to the next one.
struct FormerKeys {
  private(set) var byRecord: [RecordID: Int64] = [:]

  /// Those that a store has kept.
  init(keptIn store: PersistentStore) throws {
    guard let sidecar = store.capabilities.sidecar else { return }
    let prefix = SyncKey.formerKeys
    let entries = try sidecar.sidecarEntries(
      of: SyncMap.meta.rawValue, from: prefix, to: SyncKey.end(of: prefix), limit: 0)
    for entry in entries {
      var reader = ByteReader(entry.value)
      let key: UInt64 = try reader.fixed()
      byRecord[try SyncKey.identity(RecordID.self, in: entry.key.dropFirst(prefix.count))] =
        Int64(bitPattern: key)
    }
  }

  static func keep(_ key: Int64, of id: RecordID, in ledger: Ledger) {
    var writer = ByteWriter()
    writer.fixed(UInt64(bitPattern: key))
    ledger.put(SyncKey.formerKey(id), writer.data)
  }

  /// Forgets them, once the rows have been given.
  func remove(from access: StoreAccess) throws {
    for _ in 0..<StoreAccess.attempts {
      let ledger = try access.ledger()
      for id in byRecord.keys { ledger.put(SyncKey.formerKey(id), nil) }
      if try access.commit(ledger) { return }
    }
    throw StoreAccess.contention(access.store)
  }
}
