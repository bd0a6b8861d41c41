// What passes would delete and have not yet, measured against the limit.

/// What would be deleted of a store, by entity.
struct PendingDeletes {
  private struct Entity {
    var count = 0
    var extent = DeletionExtent()
  }
  private var entities: [String: Entity] = [:]

  /// Adds a record that was deleted.
  mutating func add(_ entity: String, deletedBy stamp: Stamp) {
    entities[entity, default: Entity()].count += 1
    entities[entity]?.extent.stamps.insert(stamp)
  }

  /// Adds a record that the source has deleted and forgotten.
  ///
  /// - Parameter position: The place before which it has forgotten all deletes.
  mutating func add(_ entity: String, forgottenBefore position: UInt64) {
    entities[entity, default: Entity()].count += 1
    entities[entity]?.extent.forgotten = position
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
    var extent = DeletionExtent()
    for (entity, found) in entities.sorted(by: { $0.key < $1.key })
    where found.count > limit.harmless {
      let total = try destination.objectCount(of: entity)
      guard limit.isExceeded(deleting: found.count, of: total) else { continue }
      exceeding.append(PendingDeletion(entity: entity, deleted: found.count, total: total))
      extent.formUnion(found.extent)
    }
    if exceeding.isEmpty { return nil }
    let verdict = try there.value(SyncKey.verdict(source)).map(DeletionVerdict.init(decoding:))
    // What was deleted after the approval is not part of what was approved.
    let isCovered = verdict.map { $0.extent.covers(extent) } ?? false
    if isCovered, verdict?.isApproved == true { return nil }
    return DeletionPlan(
      replica: replica, store: store, entities: exceeding, isRejected: isCovered, source: source,
      extent: extent)
  }
}
