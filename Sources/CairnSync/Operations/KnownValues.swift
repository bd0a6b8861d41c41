import CairnStore
import Foundation

/// What the stores of a group still know of records: the latest value of each property, wherever it
/// is kept.
///
/// Of a deleted record: what a store that has not taken the delete shows, what a store keeps beside its
/// tombstone, and what the journals remember.
struct KnownValues {
  /// One value and where it was found.
  struct Value {
    let register: Register
    let place: StoreReference
  }
  private(set) var byRecord: [RecordID: [String: Value]] = [:]

  func values(of id: RecordID) -> [String: WireValue] {
    byRecord[id, default: [:]].mapValues(\.register.value)
  }

  init(of records: Set<RecordID>, in group: inout GroupStores) throws {
    var found: [RecordID: [String: Value]] = [:]
    func take(_ id: RecordID, _ name: String, _ register: Register, _ place: StoreReference) {
      let old = found[id]?[name]?.register.write.stamp
      if let old, old >= register.write.stamp { return }
      found[id, default: [:]][name] = Value(register: register, place: place)
    }
    try group.read { member in
      let reading = RecordReading(member)
      for (id, state) in try reading.states(of: records) {
        for (name, register) in state.registers { take(id, name, register, member.reference) }
      }
    }
    var journal = try JournalReading(group.members, of: records)
    while let item = try journal.next() {
      guard let conflict = item.entry?.conflict, conflict.member == nil,
        let name = conflict.property, let place = item.journals.first
      else { continue }
      switch conflict.rule {
      case .deleteWon, .discarded, .reverted:
        take(
          conflict.record, name,
          Register(
            value: conflict.losingValue, write: PropertyWrite(stamp: conflict.losingStamp)), place)
      default: break
      }
    }
    byRecord = found
  }
}

/// Reads records as one store of a group has them, in the names of the local store.
struct RecordReading {
  let member: GroupStores.Member
  init(_ member: GroupStores.Member) { self.member = member }

  /// The states of those that the store knows.
  func states(of ids: Set<RecordID>) throws -> [RecordID: RecordState] {
    let access = member.access
    let ledger = try access.ledger()
    try ledger.prefetch(records: ids)
    var entries: [(id: RecordID, entry: RecordEntry)] = []
    for id in ids.sorted() {
      if let entry = try ledger.record(id) { entries.append((id, entry)) }
    }
    let objects = entries.map { ledger.objectID(for: $0.entry) }
    let snapshots = try access.store.snapshots(for: objects.compactMap { $0 })
    var reading = RowReading(ledger: ledger)
    try reading.prepare(snapshots.compactMap { $0 })
    var rows = snapshots[...]
    var states: [RecordID: RecordState] = [:]
    for (item, object) in zip(entries, objects) {
      let row = object == nil ? nil : rows.popFirst() ?? nil
      let state = item.entry.state(id: item.id, row: try row.map { try reading.values(of: $0) })
      states[item.id] = member.translation?.state(state) ?? state
    }
    return states
  }
}
