import CairnModel
import CairnStore

/// Takes up a transaction that has inserted more rows than memory should hold, a part a commit.
///
/// For the first capture of a store only: no other store has read any of it, and a first copy may come in parts
/// (`sync.md` 5). A capture that dies goes on with the rows that have no record.
struct LargeInsertion {
  let access: StoreAccess
  let transaction: HistoryTransactionRecord
  /// How many rows a commit takes up.
  let rowsPerCommit: Int

  /// Whether a transaction is one of these.
  ///
  /// - Parameter most: How many rows one commit takes up.
  static func isOne(_ transaction: HistoryTransactionRecord, _ most: Int) -> Bool {
    transaction.changes.count > most && transaction.changes.allSatisfy { $0.kind == .insert }
  }

  /// - Returns: False where another program has captured meanwhile.
  func capture(after captured: Int64) throws -> Bool {
    var rest = transaction.changes[...]
    while !rest.isEmpty {
      guard try captureOnePart(rest.prefix(rowsPerCommit), after: captured) else { return false }
      rest = rest.dropFirst(rowsPerCommit)
    }
    return true
  }

  private func captureOnePart(
    _ changes: ArraySlice<HistoryChangeRecord>, after captured: Int64
  ) throws -> Bool {
    for _ in 0..<StoreAccess.attempts {
      let ledger = try access.freshLedger()
      guard ledger.head.captured == captured, ledger.head.bootstrap == .history else {
        return false
      }
      let keyed = changes.compactMap { change in
        SyncKey.object(change.objectID).map { (change: change, key: $0) }
      }
      let unknown = zip(keyed, try ledger.stored(keyed.map(\.key))).filter { $1 == nil }
        .map(\.0.change)
      if unknown.isEmpty { return true }
      var work = CaptureWork(access: access, ledger: ledger)
      // As many rows travel together as of those that history does not tell of.
      let parts = stride(from: 0, to: unknown.count, by: BootstrapScan.rowsPerNumber).map {
        transaction.having(Array(unknown[$0...].prefix(BootstrapScan.rowsPerNumber)))
      }
      try work.prefetch(parts)
      for part in parts { try work.take(part) }
      try work.finish()
      guard try ledger.isCurrent() else { continue }
      try access.environment.reach(.beforeCaptureCommit)
      if try access.commit(ledger, isRebased: true) {
        try access.environment.reach(.afterCaptureCommit)
        return true
      }
    }
    throw StoreAccess.contention(access.store)
  }
}

extension HistoryTransactionRecord {
  /// The same transaction with a part of its changes.
  fileprivate func having(_ changes: [HistoryChangeRecord]) -> HistoryTransactionRecord {
    HistoryTransactionRecord(
      number: number, date: date, author: author, contextName: contextName, bundleID: bundleID,
      processID: processID, changes: changes)
  }
}
