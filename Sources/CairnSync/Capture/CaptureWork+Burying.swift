import CairnModel
import CairnStore

extension CaptureWork {
  /// Makes the entry that of a deleted record.
  ///
  /// The row is gone and its values with it. What stays is what the deleter had seen, and the values that history
  /// keeps: no other store may have them, should a write elsewhere bring the record back.
  func bury(
    _ id: RecordID, _ entry: inout RecordEntry, _ stamp: Stamp,
    keeping values: [String: AttributeValue]
  ) throws {
    var seen = entry.deletion?.seen ?? SeenWrites()
    if let old = entry.deletion { seen.insert(old.stamp) }
    let writes = [entry.base].compactMap { $0 } + Array(entry.writes.values)
    for write in writes {
      seen.insert(write.stamp)
      seen.formUnion(write.seen)
    }
    seen.remove(stamp.store)
    for (name, value) in entry.overlay {
      if let target = value.reference { ledger.unpark(target, owner: id, property: name) }
    }
    // The deleter has seen all there was.
    let known = writes.map(\.stamp) + [entry.deletion?.stamp].compactMap { $0 }
    let later = known.reduce(stamp) { $0.after($1) }
    entry.deletion = Deletion(stamp: later, seen: seen, policy: access.policy(of: entry.entity))
    let buried = entry
    entry.key = nil
    entry.base = nil
    entry.writes = [:]
    entry.overlay = [:]
    guard let plan = access.schema.entities[entry.entity] else { return }
    for (name, stored) in values where buried.overlay[name] == nil {
      guard plan.names.place(of: name) != nil, let write = buried.write(of: name),
        let value = WireValue(stored: stored)
      else { continue }
      entry.overlay[name] = value
      entry.writes[name] = write
    }
  }
}
