import CairnStore

/// Puts into the journal what a repair is about to replace, first of all: an operator who took the wrong side finds the
/// value there.
///
/// In the local store's journal, which outlives the replica.
struct RepairJournal {
  let local: StoreAccess

  func note(_ actions: [RepairReport.Action]) throws {
    let replaced = actions.filter { $0.kind == .written && $0.difference.kind == .value }
    if replaced.isEmpty { return }
    for _ in 0..<StoreAccess.attempts {
      let ledger = try local.ledger()
      try ledger.prefetch(records: replaced.compactMap(\.difference.record))
      _ = try ledger.journal(
        try replaced.compactMap { try conflict($0, ledger) }, time: local.environment.now())
      if try local.commit(ledger, isRebased: true) { return }
    }
    throw StoreAccess.contention(local.store)
  }

  private func conflict(_ action: RepairReport.Action, _ ledger: Ledger) throws -> Conflict? {
    let difference = action.difference
    guard let id = difference.record, let name = difference.property,
      let values = difference.values, let write = try ledger.record(id)?.write(of: name)
    else { return nil }
    let isLocalTaken = action.preferred == .local
    guard let lost = isLocalTaken ? values.replica : values.local, lost != .null else { return nil }
    let taken = isLocalTaken ? values.local : values.replica
    return Conflict(
      record: id, entity: difference.entity, property: name, losingValue: lost,
      losingStamp: write.stamp, winningValue: taken ?? .null, winningStamp: write.stamp,
      rule: .contradiction)
  }
}
