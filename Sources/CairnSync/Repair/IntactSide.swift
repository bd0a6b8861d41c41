import CairnModel
import CairnStore

/// Which of two stores has a record as it was saved, where their checksums tell.
///
/// A row that another program or a disk has changed past history is not as it was saved. The daemon takes nothing of
/// such a row to other stores unless a person says so.
struct IntactSide {
  private let changedHere: Set<RecordID>
  private let changedThere: Set<RecordID>

  init(local: StoreAccess, replica: StoreAccess) throws {
    changedHere = try Self.changed(in: local)
    changedThere = try Self.changed(in: replica)
  }

  private static func changed(in access: StoreAccess) throws -> Set<RecordID> {
    let rows = try access.store.capabilities.integrity?.changedRows() ?? []
    if rows.isEmpty { return [] }
    let ledger = try access.ledger()
    try ledger.prefetch(rows.compactMap { SyncKey.object($0) })
    return Set(try rows.compactMap { try ledger.recordID(for: $0) })
  }

  /// Nil where both are as they were saved, or neither; and for what is no value.
  func side(of difference: StoreDifference) -> RepairPreference? {
    guard difference.kind == .value, let id = difference.record else { return nil }
    switch (changedHere.contains(id), changedThere.contains(id)) {
    case (true, false): return .replica
    case (false, true): return .local
    default: return nil
    }
  }
}
