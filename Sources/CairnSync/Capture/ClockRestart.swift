import CairnStore
import Foundation

/// What to do when the machine's clock has fallen back behind a store's own stamps: it was wrong for a
/// while, and what was stamped meanwhile lies in the future.
///
/// The store's clock begins anew, and what no other store has seen is stamped anew. What others may
/// have seen stays as it is: given an earlier stamp, it would lose against itself. The new stamps have
/// another identity than the old ones (``StoreID/writer(_:)``), and what is written from now on, which may
/// be earlier, has a third.
///
/// While it lay in the future it had won over writes of other stores that are later than its new stamps.
/// Those have been read, so the store reads all others once more from the start.
struct ClockRestart {
  let access: StoreAccess

  /// - Returns: How far in the future the clock was, in milliseconds; nil when it was right.
  func runIfNeeded() throws -> UInt64? {
    let now = access.environment.now()
    let limit = access.latestCredibleTime
    for _ in 0..<StoreAccess.attempts {
      let ledger = try access.ledger()
      guard ledger.head.clock.isAhead(of: limit) else { return nil }
      let ahead = ledger.head.clock.last.milliseconds - now
      let offered = try access.lastOffered()
      let seen = max(ClockReading(milliseconds: limit), offered)
      let wrong = try stamps(ledger).filter { $0.key.clock > seen }
      // Later than what any reader has seen, and than what the writers had seen; both may be a little later
      // than now.
      let start = max(
        ClockReading(milliseconds: now), offered, wrong.values.max() ?? ClockReading(bits: 0))
      if start.milliseconds <= limit + access.configuration.allowedClockSkew {
        ledger.head.epoch += 1
        try restamp(FreshStamps(Set(wrong.keys), of: ledger.writer, after: start), ledger)
      }
      ledger.head.epoch += 1
      ledger.head.clock = HybridLogicalClock(last: ClockReading(milliseconds: now))
      if try access.commit(ledger) { return ahead }
    }
    throw StoreAccess.contention(access.store)
  }

  /// The stamps that this store gave to what it still has, each with the latest reading of other stores
  /// that its writer had seen.
  private func stamps(_ ledger: Ledger) throws -> [Stamp: ClockReading] {
    let own = ledger.storeID
    var found: [Stamp: ClockReading] = [:]
    func take(_ stamp: Stamp, _ seen: SeenWrites) {
      guard stamp.store.isEpoch(of: own) else { return }
      let others = seen.readings.filter { !$0.key.isEpoch(of: own) }.values
      found[stamp] = others.reduce(found[stamp] ?? ClockReading(bits: 0)) { max($0, $1) }
    }
    func take(_ write: PropertyWrite) {
      take(write.stamp, write.seen)
      if let meant = write.lastMeant { take(meant, SeenWrites()) }
    }
    try visit(
      ledger,
      record: { _, entry in
        for write in [entry.base].compactMap({ $0 }) + entry.writes.values { take(write) }
        if let deletion = entry.deletion { take(deletion.stamp, deletion.seen) }
      },
      link: { _, entry in
        let positions = [entry.state.memberPosition, entry.state.ownerPosition]
        for write in [entry.state.write] + positions.compactMap({ $0?.write }) { take(write) }
      })
    return found
  }

  private func restamp(_ fresh: FreshStamps, _ ledger: Ledger) throws {
    if fresh.isEmpty { return }
    ledger.head.sequence += 1
    try ledger.readOthersAgain()
    try visit(
      ledger,
      record: { id, entry in
        let new = entry.restamped(fresh)
        if new != entry { ledger.setRecord(id, new) }
      },
      link: { key, entry in
        let new = entry.state.restamped(fresh)
        if new != entry.state { try ledger.setLink(key, new) }
      })
  }

  private func visit(
    _ ledger: Ledger, record: (RecordID, RecordEntry) throws -> Void,
    link: (LinkKey, LinkEntry) throws -> Void
  ) throws {
    guard let sidecar = access.store.capabilities.sidecar else { return }
    try sidecar.visitEntries(of: .records) { key, value in
      try record(SyncKey.identity(RecordID.self, in: key), ledger.entry(decoding: value))
    }
    try sidecar.visitEntries(of: .links) { key, value in
      try link(SyncKey.linkKey(from: key), LinkEntry(decoding: value))
    }
  }
}

/// New stamps for old ones, in their order.
struct FreshStamps {
  private var readings: [Stamp: ClockReading] = [:]
  private let store: StoreID

  /// - Parameter store: The identity of the new ones.
  init(_ old: Set<Stamp>, of store: StoreID, after start: ClockReading) {
    self.store = store
    var last = start
    for stamp in old.sorted() {
      last = last.next
      readings[stamp] = last
    }
  }

  var isEmpty: Bool { readings.isEmpty }

  func callAsFunction(_ stamp: Stamp) -> Stamp {
    readings[stamp].map { Stamp(clock: $0, store: store) } ?? stamp
  }

  func callAsFunction(_ write: PropertyWrite) -> PropertyWrite {
    PropertyWrite(
      stamp: self(write.stamp), seen: seen(write.seen, by: write.stamp),
      lastMeant: write.lastMeant.map { self($0) })
  }

  func callAsFunction(_ deletion: Deletion) -> Deletion {
    Deletion(
      stamp: self(deletion.stamp), seen: seen(deletion.seen, by: deletion.stamp),
      policy: deletion.policy)
  }

  /// What the old stamp said by itself, that its writer had seen all it wrote before, the new one does
  /// not.
  private func seen(_ seen: SeenWrites, by stamp: Stamp) -> SeenWrites {
    if readings[stamp] == nil { return seen }
    var seen = seen
    seen.insert(stamp)
    return seen
  }

  func callAsFunction(_ register: Register) -> Register {
    Register(value: register.value, write: self(register.write))
  }
}

extension RecordEntry {
  /// A write that has brought a deleted record back stays later than the delete, which others have seen.
  fileprivate func restamped(_ fresh: FreshStamps) -> RecordEntry {
    var entry = self
    entry.deletion = deletion.map { fresh($0) }
    let deletions = (old: deletion?.stamp, new: entry.deletion?.stamp)
    func renew(_ write: PropertyWrite) -> PropertyWrite {
      let new = fresh(write)
      guard let old = deletions.old, let deleted = deletions.new, write.stamp > old,
        new.stamp < deleted
      else { return new }
      return write
    }
    entry.base = base.map(renew)
    entry.writes = writes.mapValues(renew)
    return entry
  }
}

extension LinkState {
  fileprivate func restamped(_ fresh: FreshStamps) -> LinkState {
    LinkState(
      write: fresh(write), isMember: isMember, memberPosition: memberPosition.map { fresh($0) },
      ownerPosition: ownerPosition.map { fresh($0) })
  }
}

extension StoreAccess {
  /// The greatest reading of this store that another may have seen.
  fileprivate func lastOffered() throws -> ClockReading {
    try readers().values.map(\.reading).max() ?? ClockReading(bits: 0)
  }
}
