// What passes would delete and have not yet, measured against the limit.

/// What would be deleted of a store, by entity.
struct PendingDeletes {
  private struct Entity {
    var count = 0
    /// The last place of the source's change order at which any of it was deleted.
    var position: UInt64 = 0
  }
  private var entities: [String: Entity] = [:]

  mutating func add(_ entity: String, at position: UInt64) {
    var known = entities[entity, default: Entity()]
    known.count += 1
    known.position = max(known.position, position)
    entities[entity] = known
  }

  /// - Parameters:
  ///   - there: The ledger of the destination.
  ///   - source: The store, or the stream, that the deletes come from.
  /// - Returns: What a person has to approve; nil when it is within the limit, or approved.
  func plan(
    _ limit: DeletionLimit, of destination: StoreAccess, _ there: Ledger, from source: StoreID,
    replica: String, store: String
  ) throws -> DeletionPlan? {
    var exceeding: [PendingDeletion] = []
    var position: UInt64 = 0
    for (entity, found) in entities.sorted(by: { $0.key < $1.key })
    where found.count > limit.harmless {
      let total = try destination.objectCount(of: entity)
      guard limit.isExceeded(deleting: found.count, of: total) else { continue }
      exceeding.append(PendingDeletion(entity: entity, deleted: found.count, total: total))
      position = max(position, found.position)
    }
    if exceeding.isEmpty { return nil }
    let verdict = try there.value(SyncKey.verdict(source)).map(DeletionVerdict.init(decoding:))
    // What was deleted after the approval is not part of what was approved.
    let isCovered = verdict.map { position <= $0.position } ?? false
    if isCovered, verdict?.isApproved == true { return nil }
    return DeletionPlan(
      replica: replica, store: store, entities: exceeding, isRejected: isCovered, source: source,
      position: position)
  }
}
