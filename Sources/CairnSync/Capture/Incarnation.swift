import CairnStore
import Foundation

// Stores that go back in time: restored from a backup, copied back, rolled back by a snapshot.

extension StoreAccess {
  /// The mark of the commit that a place of the change order lies in; 0 when there is none.
  func mark(at position: UInt64) throws -> UInt64 {
    guard position > 0, let sidecar = store as? any SidecarKeeping else { return 0 }
    let found = try sidecar.sidecarEntries(
      of: SyncMap.marks.rawValue, from: SyncKey.number(position), to: nil, limit: 1)
    guard let mark = found.first?.value else { return 0 }
    var reader = ByteReader(mark)
    return try reader.fixed()
  }

  /// Begins a new incarnation where the store lacks what another was served from it, or has something
  /// else in its place.
  ///
  /// From then on it writes under a new identity, which nobody has a cursor for: all it has is sent
  /// to all, all that others have comes back, also what came from here, and the merge rules bring it
  /// together. Nothing that either side has is lost.
  ///
  /// - Parameter reader: A store that was served from this one.
  /// - Returns: Whether the store had gone back in time.
  func renewIfRestored(asSeenBy reader: StoreAccess) throws -> Bool {
    for _ in 0..<Self.attempts {
      let ledger = try ledger()
      let cursor = try reader.ledger().cursor(for: ledger.storeID)
      let isContinued =
        try cursor.markedPosition <= ledger.head.sequence
        && (cursor.mark == 0 || mark(at: cursor.markedPosition) == cursor.mark)
      if isContinued { return false }
      ledger.head.incarnation = StoreID(high: environment.random(), low: environment.random())
      if try commit(ledger) { return true }
    }
    throw Self.contention(store)
  }
}
