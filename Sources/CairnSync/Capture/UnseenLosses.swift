import CairnModel
import CairnStore

/// Values that a row could not show and a program wrote over: a reference to a record that is not here, or what a
/// newer version of the model had brought before the row had a place for it.
///
/// Their writer and the program did not see each other. The journal has them once all of a commit is taken up,
/// with what the rows show then.
struct UnseenLosses {
  private var found: [(object: ManagedObjectID, conflict: Conflict)] = []

  mutating func add(
    _ object: ManagedObjectID, _ id: RecordID, _ entity: String, _ property: String,
    _ value: WireValue, of earlier: PropertyWrite, to later: PropertyWrite
  ) {
    guard later.isConcurrent(with: earlier) else { return }
    let conflict = Conflict(
      record: id, entity: entity, property: property, losingValue: value,
      losingStamp: earlier.stamp, winningValue: .null, winningStamp: later.stamp,
      rule: .lastWriter)
    found.append((object, conflict))
  }

  func run(_ access: StoreAccess, _ ledger: Ledger) throws {
    if found.isEmpty { return }
    let rows = try access.store.snapshots(for: found.map(\.object))
    let conflicts = try zip(found, rows).compactMap { item, row -> Conflict? in
      let values = try row.map { try RowReading(ledger: ledger).values(of: $0) }
      let winner = item.conflict.property.flatMap { values?[$0] } ?? .null
      return winner.isSame(as: item.conflict.losingValue) ? nil : item.conflict.won(by: winner)
    }
    _ = try ledger.journal(conflicts, time: access.environment.now())
  }
}
