import CairnModel
import CairnStore
import Foundation

/// Finds out what properties were before writes that are taken back.
struct FormerValues {
  private var states: [(member: GroupStores.Member, byRecord: [RecordID: RecordState])] = []
  private var journal: [RecordID: [Conflict]] = [:]

  init(of records: Set<RecordID>, in group: inout GroupStores) throws {
    var found: [(member: GroupStores.Member, byRecord: [RecordID: RecordState])] = []
    try group.read { found.append(($0, try RecordReading($0).states(of: records))) }
    states = found
    var reading = try JournalReading(group.members, of: records)
    while let item = try reading.next() {
      guard let conflict = item.entry?.conflict, conflict.member == nil else { continue }
      journal[conflict.record, default: []].append(conflict)
    }
  }

  /// The value that a property had before a write; nil when no store knows.
  ///
  /// Only a value that no other write can have come after counts.
  func value(
    of id: RecordID, _ property: String, before register: Register, _ touch: OriginWrites.Touch
  ) -> WireValue? {
    let own = register.write.stamp
    let entries = journal[id]?.filter { $0.property == property } ?? []
    // Without the write, the greatest of those that lost to it would be there.
    let lost = entries.filter { $0.winningStamp == own && $0.rule != .reverted }
    if let loser = lost.max(by: { $0.losingStamp < $1.losingStamp }) { return loser.losingValue }
    // What taking back wrote replaced what it says.
    let slack: UInt64 = 60_000
    let reverted = entries.filter {
      let (noted, written) = ($0.winningStamp.clock.milliseconds, own.clock.milliseconds)
      return $0.rule == .reverted && $0.winningStamp.store == own.store
        && noted <= written + slack && written <= noted + slack
    }
    if let entry = reverted.last { return entry.losingValue }
    guard let since = touch.tracedSince else { return nil }
    var best: Register?
    for (_, byRecord) in states {
      guard let found = byRecord[id]?.registers[property], found.write.stamp < own,
        isFormer(found.write.stamp, register.write, touch, since)
      else { continue }
      if best.map({ $0.write.stamp < found.write.stamp }) ?? true { best = found }
    }
    return best?.value
  }

  private func isFormer(
    _ stamp: Stamp, _ write: PropertyWrite, _ touch: OriginWrites.Touch, _ since: UInt64
  ) -> Bool {
    let time = stamp.clock.milliseconds
    // One of the writes that are taken back.
    let isOwn = stamp.store.isEpoch(of: touch.store)
    if isOwn, time >= touch.first { return false }
    // Later writes that the writer had seen.
    let seen = write.seen.readings.contains { Stamp(clock: $0.value, store: $0.key) > stamp }
    if seen { return false }
    // Later writes of the same store by others, or in a time of which its history does not tell.
    if let others = touch.othersBefore, others > time { return false }
    return time >= since || (!isOwn && since == 0)
  }
}
