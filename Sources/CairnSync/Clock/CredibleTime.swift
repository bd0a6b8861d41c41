import CairnStore
import Foundation

/// Which readings a store believes: those up to now plus the allowed skew, and those further in the
/// future that an operator has accepted.
struct CredibleTime: Hashable, Sendable {
  /// The latest time to believe, in milliseconds since 1970.
  let limit: UInt64
  /// By store, the greatest of its readings that was accepted.
  var accepted: [StoreID: ClockReading] = [:]

  func covers(_ stamp: Stamp) -> Bool {
    stamp.clock.milliseconds <= limit || accepted[stamp.store].map { $0 >= stamp.clock } ?? false
  }

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
    return stamps(newTo: entry).filter { !time.covers($0) }.map(\.clock).max()
  }
}

extension LinkState {
  func stamps(newTo known: LinkState?) -> [Stamp] {
    let pairs = [
      (write, known?.write), (memberPosition?.write, known?.memberPosition?.write),
      (ownerPosition?.write, known?.ownerPosition?.write),
    ]
    return pairs.compactMap { new, old in
      guard let new else { return nil }
      if let old, old.stamp >= new.stamp { return nil }
      return new.stamp
    }
  }

  /// The same for a link.
  func reading(beyond time: CredibleTime, newTo known: LinkState?) -> ClockReading? {
    if latestReading.milliseconds <= time.limit { return nil }
    return stamps(newTo: known).filter { !time.covers($0) }.map(\.clock).max()
  }
}

extension StoreAccess {
  /// Believes what waits here because it was written in the future by this machine's clock, and all
  /// that the same stores wrote before.
  ///
  /// - Returns: How many records and links waited; the next pass makes them visible.
  func acceptHeld() throws -> Int {
    guard let sidecar = store as? any SidecarKeeping else { return 0 }
    for _ in 0..<Self.attempts {
      let ledger = try ledger()
      var time = try ledger.credibleTime(limit: latestCredibleTime)
      var count = 0
      try sidecar.visitEntries(of: .quarantine) { _, value in
        let entry = try QuarantineEntry(decoding: value)
        guard entry.reason == .clockSkew else { return }
        count += 1
        let stamps: [Stamp]
        switch entry.content {
        case .record(let state): stamps = state.stamps(newTo: nil)
        case .link(let link): stamps = link.state.stamps(newTo: nil)
        }
        for stamp in stamps where !time.covers(stamp) { time.accept(stamp) }
      }
      if count == 0 { return 0 }
      ledger.setAccepted(time)
      if try commit(ledger) { return count }
    }
    throw Self.contention(store)
  }
}

extension Ledger {
  /// - Parameter limit: The latest time to believe.
  func credibleTime(limit: UInt64) throws -> CredibleTime {
    var time = CredibleTime(limit: limit)
    guard let data = try value(SyncKey.accepted) else { return time }
    // Bytes: stamps, one after the other
    var reader = ByteReader(data)
    while !reader.isAtEnd { time.accept(try reader.stamp()) }
    return time
  }

  func setAccepted(_ time: CredibleTime) {
    var writer = ByteWriter()
    for (store, clock) in time.accepted.sorted(by: { $0.key < $1.key }) {
      writer.stamp(Stamp(clock: clock, store: store))
    }
    put(SyncKey.accepted, writer.data)
  }
}
