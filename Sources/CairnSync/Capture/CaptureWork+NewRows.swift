import CairnModel
import CairnStore
import Foundation

// Rows that one transaction has inserted, many at a time: they are taken up by the run, without looking at each.
extension CaptureWork {
  /// Fewer are not worth it.
  private static let least = 16

  /// Takes up the rows of a transaction that has done nothing but insert them.
  ///
  /// - Returns: False, with nothing done, where that needs a look at each.
  mutating func takeNew(
    _ changes: [HistoryChangeRecord], _ stamp: Stamp
  ) throws -> Bool {
    guard changes.count >= Self.least, let transaction,
      changes.allSatisfy({ $0.kind == .insert })
    else { return false }
    var runs: [NewRecords] = []
    var last: [ObjectIdentifier: Int64] = [:]
    var identities = RowIdentities(
      store: access.store.identifier ?? "", born: RowBirth(transaction))
    var rest = changes[...]
    while let entity = rest.first?.objectID.entity {
      let run = rest.prefix { $0.objectID.entity === entity }
      rest = rest[run.endIndex...]
      guard let name = entity.name, access.schema.entities[name]?.isAlone == true else {
        return false
      }
      let root = entity.rootEntity
      var records = NewRecords(
        entity: name, write: PropertyWrite(stamp: stamp), origin: nil,
        sequence: ledger.head.sequence)
      for change in run {
        guard let number = change.objectID.rowKey, let key = SyncKey.object(change.objectID),
          ledger.isAbsent(key)
        else { return false }
        records.members.append(.init(id: identities.recordID(ofRow: key), key: number))
      }
      guard records.sortByKey(after: last[ObjectIdentifier(root)] ?? ledger.lastNewKey(of: root))
      else { return false }
      last[ObjectIdentifier(root)] = records.members.last?.key
      runs.append(records)
    }
    for records in runs { ledger.add(records) }
    access.environment.noteRun(.captured, changes.count)
    return true
  }
}
