import CairnStore
import Foundation

/// Which readings a store believes: those up to now plus the allowed skew, and those further in the
/// future that an operator has accepted.
struct CredibleTime: Hashable, Sendable {
  /// The latest time to believe, in milliseconds since 1970.
  let limit: UInt64
  /// By store, the greatest of its readings that was accepted.
  private(set) var accepted: [StoreID: ClockReading] = [:]
  /// Single readings that were accepted, and none before them.
  private(set) var acceptedAlone: Set<Stamp> = []

  init(limit: UInt64) { self.limit = limit }

  func covers(_ stamp: Stamp) -> Bool {
    stamp.clock.milliseconds <= limit || accepted[stamp.store].map { $0 >= stamp.clock } ?? false
      || acceptedAlone.contains(stamp)
  }

  /// Whether a write may come in over what the store has in its place already.
  ///
  /// A store that replaces a value from the future stamps its own just after it, at any time (``Stamp/after(_:)``): a
  /// store that took in the one believes the other as well. A millisecond more is for counters that overflow.
  func covers(_ stamp: Stamp, over known: ClockReading?) -> Bool {
    if covers(stamp) { return true }
    let time = stamp.clock.milliseconds
    if let known, time <= known.milliseconds + 1 { return true }
    return accepted.values.contains { ($0.milliseconds...$0.milliseconds + 1).contains(time) }
  }

  /// Accepts this one reading.
  mutating func accept(exactly stamp: Stamp) { acceptedAlone.insert(stamp) }

  /// Accepts all readings of the stamp's store up to it.
  mutating func accept(_ stamp: Stamp) {
    accepted[stamp.store] = max(accepted[stamp.store] ?? stamp.clock, stamp.clock)
  }
}

extension RecordState {
  /// The stamps of everything in the state that a store which knows `entry` does not have.
  func stamps(newTo entry: RecordEntry?) -> [Stamp] {
    var stamps = registers.filter { name, register in
      entry?.write(of: name).map { $0.stamp < register.write.stamp } ?? true
    }.map(\.value.write.stamp)
    if let stamp = deletion?.stamp, entry?.deletion.map({ $0.stamp < stamp }) ?? true {
      stamps.append(stamp)
    }
    return stamps
  }

  /// The greatest reading that is news and not believed; nil when all is well.
  ///
  /// What a store has already counts for nothing: it took it when it believed it.
  func reading(beyond time: CredibleTime, newTo entry: RecordEntry?) -> ClockReading? {
    if latestReading.milliseconds <= time.limit { return nil }
    // A delete is written after all that its writer had, and what brings the record back after the delete.
    var deleted = entry?.deletion?.stamp.clock
    var late: [ClockReading] = []
    if let stamp = deletion?.stamp, deleted.map({ $0 < stamp.clock }) ?? true {
      if time.covers(stamp, over: entry?.latestReading) {
        deleted = stamp.clock
      } else {
        late.append(stamp.clock)
      }
    }
    for (name, register) in registers {
      let stamp = register.write.stamp
      let known = entry?.write(of: name)?.stamp
      if let known, known >= stamp { continue }
      let over = [known?.clock, deleted].compactMap { $0 }.max()
      if !time.covers(stamp, over: over) { late.append(stamp.clock) }
    }
    return late.max()
  }
}

extension RecordEntry {
  /// The greatest reading of all that is known of the record.
  fileprivate var latestReading: ClockReading? {
    let writes = [base].compactMap { $0 } + writes.values
    return (writes.map(\.stamp) + [deletion?.stamp].compactMap { $0 }).map(\.clock).max()
  }
}

extension LinkState {
  func stamps(newTo known: LinkState?) -> [Stamp] { news(to: known).map(\.stamp) }

  /// The stamps that are news, each with the one that it replaces.
  private func news(to known: LinkState?) -> [(stamp: Stamp, known: Stamp?)] {
    let pairs = [
      (write, known?.write), (memberPosition?.write, known?.memberPosition?.write),
      (ownerPosition?.write, known?.ownerPosition?.write),
    ]
    return pairs.compactMap { new, old in
      guard let new else { return nil }
      if let old, old.stamp >= new.stamp { return nil }
      return (new.stamp, old?.stamp)
    }
  }

  /// The same for a link.
  func reading(beyond time: CredibleTime, newTo known: LinkState?) -> ClockReading? {
    if latestReading.milliseconds <= time.limit { return nil }
    return news(to: known).filter { !time.covers($0.stamp, over: $0.known?.clock) }
      .map(\.stamp.clock).max()
  }
}

extension Ledger {
  /// - Parameter limit: The latest time to believe.
  func credibleTime(limit: UInt64) throws -> CredibleTime {
    var time = CredibleTime(limit: limit)
    // Bytes: stamps, one after the other
    if let data = try value(SyncKey.accepted) {
      var reader = ByteReader(data)
      while !reader.isAtEnd { time.accept(try reader.stamp()) }
    }
    if let data = try value(SyncKey.acceptedAlone) {
      var reader = ByteReader(data)
      while !reader.isAtEnd { time.accept(exactly: try reader.stamp()) }
    }
    return time
  }

  func setAccepted(_ time: CredibleTime) throws {
    var writer = ByteWriter()
    for (store, clock) in time.accepted.sorted(by: { $0.key < $1.key }) {
      writer.stamp(Stamp(clock: clock, store: store))
    }
    put(SyncKey.accepted, writer.data)
    // Those that time has caught up with need no acceptance any more.
    let alone = time.acceptedAlone.filter { $0.clock.milliseconds > time.limit }
    if alone.isEmpty, try value(SyncKey.acceptedAlone) == nil { return }
    var aloneWriter = ByteWriter()
    for stamp in alone.sorted() { aloneWriter.stamp(stamp) }
    put(SyncKey.acceptedAlone, alone.isEmpty ? nil : aloneWriter.data)
  }
}
