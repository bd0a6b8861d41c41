import CairnModel
import CairnStore

extension Ledger {
  /// Writes down what a plan says beside the rows.
  ///
  /// - Parameters:
  ///   - objects: The objects of the plan's records, those that it inserts included.
  ///   - added: What becomes of the plan's new rows.
  /// - Returns: How many conflicts are new to the journal.
  func write(
    _ plan: ImportPlan, objects: [RecordID: ManagedObjectID], added: [NewRecords] = [],
    time: UInt64, limit: UInt64
  ) throws -> Int {
    // Also where only rows come and go: another commit that was planned on the same must not pass.
    if plan.hasNews || !plan.rows.isEmpty { head.sequence += 1 }
    head.clock.receive(plan.reading, limit: limit)
    for var records in added {
      records.sequence = head.sequence
      add(records)
    }
    var inserted: Set<RecordID> = []
    reserve(plan.rows.count + 2 * plan.records.count)
    for action in plan.rows where action.kind != .update {
      guard let object = objects[action.id] else { continue }
      if action.kind == .insert { inserted.insert(action.id) }
      setRecordID(action.kind == .insert ? action.id : nil, for: object)
    }
    for record in plan.records {
      var entry = record.entry
      if inserted.contains(record.id) { entry.key = objects[record.id]?.key }
      if record.isNews {
        setRecord(record.id, entry, origin: record.origin)
      } else {
        setRecordQuietly(record.id, entry)
      }
    }
    for link in plan.linkStates { try setLink(link.key, link.state, origin: link.origin) }
    for key in plan.movedLinks { try leaveLink(key) }
    for item in plan.unparked {
      unpark(item.target, owner: item.reference.owner, property: item.reference.property)
    }
    try park(plan.parked)
    for item in plan.held {
      let key = SyncKey.quarantine(item.key)
      let encoded = item.entry.encoded
      if try value(key) != encoded { put(key, encoded) }
    }
    for key in plan.released { put(SyncKey.quarantine(key), nil) }
    return try journal(plan.conflicts, time: time)
  }
}
