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
    var found: [String: (count: Int, position: UInt64)] = [:]
    while let changes = try source.changes(after: cursor, of: stream, for: there.storeID) {
      for record in changes.set.records {
        guard let entity = try deleted(record, there) else { continue }
        found[entity] = ((found[entity]?.count ?? 0) + 1, changes.end.position)
      }
      cursor = changes.end
    }
    var exceeding: [PendingDeletion] = []
    var position: UInt64 = 0
    for (entity, pending) in found.sorted(by: { $0.key < $1.key })
    where pending.count > limit.harmless {
      let total = try destination.objectCount(of: entity)
      guard limit.isExceeded(deleting: pending.count, of: total) else { continue }
      exceeding.append(PendingDeletion(entity: entity, deleted: pending.count, total: total))
      position = max(position, pending.position)
    }
    if exceeding.isEmpty { return (nil, cursor.position) }
    let verdict = try there.value(SyncKey.verdict(stream)).map(DeletionVerdict.init(decoding:))
    let isCovered = verdict.map { position <= $0.position } ?? false
    if isCovered, verdict?.isApproved == true { return (nil, cursor.position) }
    let plan = DeletionPlan(
      replica: replica, store: StoreReference.localName, entities: exceeding,
      isRejected: isCovered, source: stream, position: position)
    return (plan, cursor.position)
  }

  /// The entity of a record that is there and would be deleted.
  private func deleted(_ state: RecordState, _ there: Ledger) throws -> String? {
    guard state.survivor == nil, let deletion = state.deletion,
      let known = try there.record(state.id), known.key != nil
    else { return nil }
    let policy =
      destination.schema.entities[known.entity]?.policy ?? destination.configuration.deleteConflicts
    let joined = known.deletion?.joined(with: deletion) ?? deletion
    let meant =
      state.registers.map(\.value.write.meant)
      + ([known.base].compactMap { $0 } + Array(known.writes.values)).map(\.meant)
    let survives =
      switch policy {
      case .deleteWins: false
      case .lastWriter: meant.contains { $0 > joined.stamp }
      case .writeWins: meant.contains { !joined.hasSeen($0) }
      }
    return survives ? nil : known.entity
  }
}
