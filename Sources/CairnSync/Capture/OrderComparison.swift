import CairnModel
import CairnStore
import Foundation

/// Gives the members of ordered relationships that were written their places: the order in the rows
/// is compared with the places on record, and as few members as possible get new ones.
struct OrderComparison {
  private struct Key: Hashable {
    let record: RecordID
    let relationship: String
  }
  private struct Task {
    let side: SyncSchema.OrderedSide
    let stamp: Stamp
    let sequence: UInt64
  }
  private var tasks: [Key: Task] = [:]
  /// The latest stamp that a place was given.
  private(set) var latest = ClockReading(bits: 0)
  /// Records whose owners' lists are to be looked at, because they may have come into one.
  private var members: [RecordID: (object: ManagedObjectID, stamp: Stamp, sequence: UInt64)] = [:]

  /// Remembers that the list of a record was written; the last write counts.
  mutating func add(
    _ record: RecordID, _ side: SyncSchema.OrderedSide, stamp: Stamp, sequence: UInt64
  ) {
    let key = Key(record: record, relationship: SyncSchema.name(of: side.relationship))
    if let old = tasks[key], old.stamp > stamp { return }
    tasks[key] = Task(side: side, stamp: stamp, sequence: sequence)
  }

  /// Remembers that a reference to an owner of a list was written.
  mutating func addMember(
    _ record: RecordID, _ object: ManagedObjectID, stamp: Stamp, sequence: UInt64
  ) {
    members[record] = (object, stamp, sequence)
  }

  mutating func forget(_ record: RecordID) {
    for key in tasks.keys where key.record == record { tasks[key] = nil }
    members[record] = nil
  }

  /// Reads the lists and writes new places into the ledger.
  mutating func run(_ ledger: Ledger) throws {
    try findOwners(ledger)
    let unshown = tasks.isEmpty ? [] : try ledger.unshownOrders()
    let byRelationship = Dictionary(grouping: tasks) { $0.key.relationship }
    for (name, group) in byRelationship.sorted(by: { $0.key < $1.key }) {
      guard let side = group.first?.value.side else { continue }
      let lists = group.sorted { $0.key.record < $1.key.record }
      try ledger.prefetch(records: lists.map(\.key.record))
      let present = try lists.compactMap { item in
        try ledger.record(item.key.record).flatMap { ledger.objectID(for: $0) }
          .map { (item: item, object: $0) }
      }
      let members = try ledger.store.members(
        of: side.relationship, owners: present.map(\.object))
      try ledger.prefetch(members.joined().compactMap(SyncKey.object))
      for (owner, members) in zip(present, members) {
        // What a migration leaves is no writer's order.
        if unshown.contains(name), members.isInOrderOfKeys { continue }
        // Members without a record ID are in a later transaction, which looks at the list again.
        let ids = try members.compactMap { try ledger.recordID(for: $0) }
        try compare(owner.item.key.record, owner.item.value, ids, ledger)
      }
    }
  }

  private mutating func findOwners(_ ledger: Ledger) throws {
    let waiting = members.sorted { $0.key < $1.key }
    let rows = try ledger.store.snapshots(for: waiting.map(\.value.object))
    for (item, row) in zip(waiting, rows) {
      guard let row, let plan = row.objectID.entity.name.flatMap({ ledger.schema.entities[$0] })
      else { continue }
      for column in plan.columns {
        guard let inverse = column.orderedInverse, case .object(let owner) = row[column.slot],
          let id = try ledger.recordID(for: owner),
          let side = ledger.schema.orderedSide(inverse, of: owner.entity)
        else { continue }
        add(id, side, stamp: item.value.stamp, sequence: item.value.sequence)
      }
    }
  }

  private mutating func compare(
    _ owner: RecordID, _ task: Task, _ ids: [RecordID], _ ledger: Ledger
  ) throws {
    let places = MemberPlaces(side: task.side, owner: owner)
    try ledger.prefetch(ids.map(places.key))
    let old = try ids.map { try places.register(of: $0, ledger) }
    let keys = zip(ids, old).map { (record: $0, key: $1.flatMap(MemberPlaces.position)) }
    for (index, key) in PositionKey.assign(keys) {
      let before = old[index]
      let write =
        before?.write.overwritten(at: task.stamp) ?? PropertyWrite(stamp: task.stamp)
      latest = max(latest, write.stamp.clock)
      try places.set(
        Register(value: .data(key.data), write: write), of: ids[index], ledger,
        sequence: task.sequence)
    }
  }
}

extension [ManagedObjectID] {
  /// Whether the rows come in the order of their keys, as those of a list do to which no program has given an order.
  fileprivate var isInOrderOfKeys: Bool {
    zip(self, dropFirst()).allSatisfy { ($0.rowKey ?? 0) < ($1.rowKey ?? 0) }
  }
}
