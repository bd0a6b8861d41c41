import CairnStore
import Foundation

/// Stops a pass before it deletes more than is configured, unless a person has approved it.
///
/// Looks once at all that waits to be moved, then only at what is new. Used on the queue of the link's
/// context, one for each pass.
final class DeletionGuard {
  let replica: String
  let limit: DeletionLimit
  /// By destination, up to which place of the source's change order was looked at.
  private var checked: [ObjectIdentifier: UInt64] = [:]
  /// By stream of a replica that is given change sets, up to which place was looked at.
  var checkedStreams: [StoreID: UInt64] = [:]

  init(replica: String, limit: DeletionLimit) {
    self.replica = replica
    self.limit = limit
  }

  /// Call when changes have been read, before they are moved.
  ///
  /// - Parameters:
  ///   - isLocal: Whether the destination is the local store.
  ///   - filter: What is exchanged, in the destination's names; nil for all.
  /// - Throws: ``ApprovalNeeded``.
  func check(
    from source: StoreAccess, to destination: StoreAccess, isLocal: Bool, after cursor: SyncCursor,
    filter: EntityFilter?
  ) throws {
    guard limit.harmless < .max else { return }
    let head = try source.freshLedger().head.sequence
    let key = ObjectIdentifier(destination.store)
    let done = checked[key] ?? 0
    guard head > max(done, cursor.position) else { return }
    let survey = DeletionSurvey(
      source: source, destination: destination, limit: limit, after: cursor.position,
      filter: filter)
    let name = isLocal ? StoreReference.localName : replica
    if let plan = try survey.run(replica: replica, store: name) { throw ApprovalNeeded(plan: plan) }
    checked[key] = head
  }

  /// Call before a store that comes back deletes what the other has deleted and forgotten.
  ///
  /// - Parameter isLocal: Whether it is the local store that comes back.
  /// - Throws: ``ApprovalNeeded``.
  func check(_ reader: ReturningReader, isLocal: Bool) throws {
    guard limit.harmless < .max else { return }
    let survey = DeletionSurvey(
      source: reader.source, destination: reader.access, limit: limit, after: 0)
    let name = isLocal ? StoreReference.localName : replica
    if let plan = try survey.run(reader, replica: replica, store: name) {
      throw ApprovalNeeded(plan: plan)
    }
  }
}

/// Finds out what of a destination would be deleted by what waits in a source.
struct DeletionSurvey {
  let source: StoreAccess
  let destination: StoreAccess
  let limit: DeletionLimit
  let after: UInt64
  /// What is exchanged, in the destination's names; nil for all.
  var filter: EntityFilter?
  private static let page = 1000

  /// - Returns: Nil when it is within the limit, or approved.
  func run(replica: String, store: String) throws -> DeletionPlan? {
    if limit.harmless == .max { return nil }
    let there = try destination.freshLedger()
    if try there.isEmpty(.records) { return nil }
    guard try mayExceed(there) else { return nil }
    var pending = PendingDeletes()
    try visitChanges(there) { ids in
      for (stamp, entity) in try deleted(ids) { pending.add(entity, deletedBy: stamp) }
    }
    return try pending.plan(
      limit, of: destination, there, from: source.ledger().storeID, replica: replica, store: store)
  }

  /// What the destination, which comes back, would delete because the source has forgotten it.
  ///
  /// - Returns: Nil when it is within the limit, or approved.
  func run(_ reader: ReturningReader, replica: String, store: String) throws -> DeletionPlan? {
    let (here, there) = (try source.freshLedger(), try destination.freshLedger())
    // All that is forgotten was deleted before this place, however many there are.
    let floor = try here.retention().floor
    var pending = PendingDeletes()
    try reader.findForgotten { set in
      for record in set.records { pending.add(record.entity, forgottenBefore: floor) }
    }
    return try pending.plan(
      limit, of: destination, there, from: here.storeID, replica: replica, store: store)
  }

  /// Whether so many records changed that the limit could be reached: the usual pass ends here.
  private func mayExceed(_ there: Ledger) throws -> Bool {
    guard let sidecar = source.store.capabilities.sidecar else { return false }
    let least = limit.harmless + 1
    let changes = try sidecar.sidecarEntries(
      of: SyncMap.changes.rawValue, from: SyncKey.number(after + 1), to: nil, limit: least,
      except: SyncKey.bytes(there.storeID))
    return changes.count == least
  }

  /// Visits the records that changed and did not come from the destination, a page at a time.
  private func visitChanges(_ there: Ledger, _ visit: ([RecordID]) throws -> Void) throws {
    guard let sidecar = source.store.capabilities.sidecar else { return }
    var next = SyncKey.number(after + 1)
    while true {
      let page = try sidecar.sidecarEntries(
        of: SyncMap.changes.rawValue, from: next, to: nil, limit: Self.page,
        except: SyncKey.bytes(there.storeID))
      var ids: [RecordID] = []
      for (key, _) in page {
        guard case .record(let id) = try SyncKey.change(from: key).what else { continue }
        ids.append(id)
      }
      try visit(ids)
      guard page.count == Self.page, let last = page.last else { return }
      next = last.key + Data([0])
    }
  }

  /// Those that are deleted in the source and would be in the destination.
  ///
  /// Reads with ledgers of their own, which keep what they have read.
  private func deleted(_ ids: [RecordID]) throws -> [(stamp: Stamp, entity: String)] {
    let here = try source.ledger()
    try here.prefetch(records: ids)
    var gone: [(id: RecordID, entry: RecordEntry, deletion: Deletion)] = []
    for id in ids {
      // Nearly all have one.
      guard let data = try here.value(SyncKey.record(id)), try !RecordEntry.hasRow(data) else {
        continue
      }
      let entry = try here.entry(decoding: data)
      guard entry.survivor == nil, let deletion = entry.deletion else { continue }
      gone.append((id, entry, deletion))
    }
    if gone.isEmpty { return [] }
    let there = try destination.ledger()
    try there.prefetch(records: gone.map { $0.id })
    var found: [(stamp: Stamp, entity: String)] = []
    for item in gone {
      guard let other = try there.record(item.id), other.key != nil,
        filter?.names.contains(other.entity) ?? true,
        !survives(item.deletion, item.entry, other)
      else { continue }
      found.append((item.deletion.stamp, other.entity))
    }
    return found
  }

  /// Whether writes of either side bring the record back.
  private func survives(_ deletion: Deletion, _ entry: RecordEntry, _ other: RecordEntry) -> Bool {
    let policy = destination.policy(of: other.entity)
    let joined = other.deletion?.joined(with: deletion) ?? deletion
    let meant = [entry, other].flatMap { [$0.base].compactMap { $0 } + Array($0.writes.values) }
      .map(\.meant)
    return meant.contains { joined.isOutlived(by: $0, under: policy) }
  }
}

extension StoreAccess {
  /// How many objects a store has of an entity, those of its subentities aside.
  func objectCount(of entity: String) throws -> Int {
    guard let plan = schema.entities[entity], store.holds(plan.entity) else { return 0 }
    let request = StoreFetchRequest(
      entity: plan.entity, includesSubentities: false, result: .count)
    if case .count(let count) = try store.fetch(request) { return count }
    return 0
  }
}
