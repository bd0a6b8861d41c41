import CairnStore

// Passes that would delete much in the local store by change sets that come in.

extension DeletionGuard {
  /// Looks through all that a source has for the local store before any of it is taken.
  ///
  /// - Throws: ``ApprovalNeeded``.
  func check(
    from source: any ChangeSource, _ stream: StoreID, to destination: StoreAccess,
    after cursor: SyncCursor
  ) throws {
    guard limit.harmless < .max, cursor.position >= checkedStreams[stream] ?? 0 else { return }
    let incoming = IncomingDeletions(destination: destination, limit: limit)
    let (plan, end) = try incoming.run(source, stream, after: cursor, replica: replica)
    if let plan { throw ApprovalNeeded(plan: plan) }
    checkedStreams[stream] = end
  }
}

/// Finds out what of a store would be deleted by change sets that have not been taken yet.
struct IncomingDeletions {
  let destination: StoreAccess
  let limit: DeletionLimit

  /// - Returns: What is to be approved, if anything, and up to which place of the stream was looked.
  func run(
    _ source: any ChangeSource, _ stream: StoreID, after cursor: SyncCursor, replica: String
  ) throws -> (plan: DeletionPlan?, end: UInt64) {
    let there = try destination.freshLedger()
    var cursor = cursor
    var pending = PendingDeletes()
    while let changes = try source.changes(after: cursor, of: stream, for: there.storeID) {
      for record in changes.set.records {
        guard let (stamp, entity) = try deleted(record, there) else { continue }
        pending.add(entity, deletedBy: stamp)
      }
      cursor = changes.end
    }
    let plan = try pending.plan(
      limit, of: destination, there, from: stream, replica: replica,
      store: StoreReference.localName)
    return (plan, cursor.position)
  }

  /// The delete and the entity of a record that is there and would be deleted.
  private func deleted(
    _ state: RecordState, _ there: Ledger
  ) throws -> (stamp: Stamp, entity: String)? {
    guard state.survivor == nil, let deletion = state.deletion,
      let known = try there.record(state.id), known.key != nil
    else { return nil }
    let policy = destination.policy(of: known.entity)
    let joined = known.deletion?.joined(with: deletion) ?? deletion
    let meant =
      state.registers.map(\.value.write.meant)
      + ([known.base].compactMap { $0 } + Array(known.writes.values)).map(\.meant)
    let isOutlived = meant.contains { joined.isOutlived(by: $0, under: policy) }
    return isOutlived ? nil : (deletion.stamp, known.entity)
  }
}
