import CairnModel
import CairnStore
import Foundation

/// Finds which links of changed relationships were added or removed: history tells only that a
/// relationship changed, so its members are compared with the links on record.
struct LinkComparison {
  private struct Key: Hashable {
    let record: RecordID
    let relationship: String
  }
  private struct Task {
    let object: ManagedObjectID
    let side: SyncSchema.LinkSide
    let stamp: Stamp
    let sequence: UInt64
    /// Whether the record is new here, so that no link of it can be on record.
    let isNew: Bool
  }
  private var tasks: [Key: Task] = [:]

  var isEmpty: Bool { tasks.isEmpty }

  /// Remembers that a relationship was written; the last write counts.
  mutating func add(
    _ record: RecordID, _ object: ManagedObjectID, _ side: SyncSchema.LinkSide, stamp: Stamp,
    sequence: UInt64, isNew: Bool = false
  ) {
    let key = Key(record: record, relationship: SyncSchema.name(of: side.relationship))
    tasks[key] = Task(
      object: object, side: side, stamp: stamp, sequence: sequence,
      isNew: isNew || tasks[key]?.isNew == true)
  }

  mutating func forget(_ record: RecordID) {
    for key in tasks.keys where key.record == record { tasks[key] = nil }
  }

  /// Reads the members and writes the differences into the ledger.
  ///
  /// - Parameter orders: Learns whose lists have to be looked at.
  func run(_ ledger: Ledger, orders: inout OrderComparison) throws {
    let byRelationship = Dictionary(grouping: tasks) { $0.key.relationship }
    for (_, group) in byRelationship.sorted(by: { $0.key < $1.key }) {
      guard let relationship = group.first?.value.side.relationship else { continue }
      let ordered = group.sorted { $0.key.record < $1.key.record }
      let members = try ledger.store.members(
        of: relationship, owners: ordered.map(\.value.object))
      try ledger.prefetch(members.joined().compactMap(SyncKey.object))
      let keys = try zip(ordered, members).flatMap { item, members in
        try members.compactMap { try ledger.recordID(for: $0) }.map {
          SyncKey.link(item.value.side.key(near: item.key.record, far: $0))
        }
      }
      try ledger.prefetch(keys)
      for ((key, task), members) in zip(ordered, members) {
        try compare(key.record, task, members, ledger, &orders)
      }
    }
  }

  private func compare(
    _ record: RecordID, _ task: Task, _ members: [ManagedObjectID], _ ledger: Ledger,
    _ orders: inout OrderComparison
  ) throws {
    if let side = ledger.schema.orderedSide(task.side.relationship, of: task.object.entity) {
      orders.add(record, side, stamp: task.stamp, sequence: task.sequence)
    }
    // Members without a record ID are in a later transaction, which brings their links.
    let current = Set(
      try members.compactMap { try ledger.recordID(for: $0) }.map {
        task.side.key(near: record, far: $0)
      })
    for key in current {
      let known = try ledger.link(key)
      if known?.state.isMember == true { continue }
      try set(key, true, known, task, ledger)
      guard let inverse = task.side.relationship.inverseRelationship, inverse.isOrdered else {
        continue
      }
      let far = key.owner == record ? key.member : key.owner
      if let object = try ledger.record(far).flatMap({ ledger.objectID(for: $0) }),
        let side = ledger.schema.orderedSide(inverse, of: object.entity)
      {
        orders.add(far, side, stamp: task.stamp, sequence: task.sequence)
      }
    }
    if task.isNew { return }
    for key in try ledger.links(of: record, task.side) where !current.contains(key) {
      guard let known = try ledger.link(key), known.state.isMember else { continue }
      // The rows do not show a link whose other end is not here; no writer removed it.
      let far = key.owner == record ? key.member : key.owner
      guard try ledger.record(far)?.key != nil else { continue }
      try set(key, false, known, task, ledger)
    }
  }

  private func set(
    _ key: LinkKey, _ isMember: Bool, _ known: LinkEntry?, _ task: Task, _ ledger: Ledger
  ) throws {
    let write =
      known?.state.write.overwritten(at: task.stamp) ?? PropertyWrite(stamp: task.stamp)
    let state = LinkState(
      write: write, isMember: isMember, memberPosition: known?.state.memberPosition,
      ownerPosition: known?.state.ownerPosition)
    try ledger.setLink(key, state, sequence: task.sequence)
  }
}
