import CairnStore
import Foundation

/// The step of a pass that tries once more what has arrived in a store and waits: in quarantine, or for another record.
struct HeldRetry {
  let side: StoreSide
  /// Whom the link brings changes from, which counts what is refused as held.
  let source: StoreID
  private var access: StoreAccess { side.access }

  /// Records wait for a change of theirs or of their neighbours, or for time; trying them all is
  /// cheap, because there are few.
  func run() throws -> PassReport {
    var report = PassReport(event: .retried)
    guard let sidecar = access.store.capabilities.sidecar, try hasHeld(access, sidecar) else {
      return report
    }
    let revealed = try side.importing { importer in
      try Reconsideration(access: access, context: importer.context, source: source).runIfNeeded()
    }
    for outcome in revealed ?? [] { report.take(outcome) }
    let entries = try due(access, sidecar)
    for (source, entries) in Dictionary(grouping: entries, by: \.source) {
      let set = ChangeSet(
        source: source, after: 0, upTo: 0, records: entries.compactMap(\.state),
        links: entries.compactMap(\.link))
      report.take(try side.importing { try $0.apply(set, cursor: nil) })
    }
    let waiting = try claimants(access, sidecar)
    if !waiting.isEmpty {
      let set = ChangeSet(source: try access.ledger().storeID, after: 0, upTo: 0)
      report.take(
        try side.importing { try $0.apply(set, cursor: nil, reconsidering: waiting) })
    }
    // They were reported when they were put there.
    report.held = []
    return report
  }

  /// Whether anything waits at all; mostly nothing does.
  private func hasHeld(_ access: StoreAccess, _ sidecar: any SidecarKeeping) throws -> Bool {
    if try access.ledger().value(SyncKey.reconsider) != nil { return true }
    return try [SyncMap.quarantine, .parked].contains { map in
      try !sidecar.sidecarEntries(of: map.rawValue, from: nil, to: nil, limit: 1).isEmpty
    }
  }

  /// What is to be tried now: all that time has caught up with, and of what validation refuses a part
  /// that is another each time, so that what stays refused keeps nothing waiting.
  private func due(
    _ access: StoreAccess, _ sidecar: any SidecarKeeping
  ) throws -> [QuarantineEntry] {
    let ledger = try access.ledger()
    let time = try ledger.credibleTime(limit: access.latestCredibleTime)
    var arrived: [QuarantineEntry] = []
    var refused: [QuarantineEntry] = []
    try sidecar.visitEntries(of: .quarantine) { _, value in
      let entry = try QuarantineEntry(decoding: value)
      if entry.reason == .validation {
        refused.append(entry)
      } else if try !entry.isAhead(of: time, in: ledger) {
        arrived.append(entry)
      }
    }
    let part = 256
    if refused.count > part {
      let start = Int(access.environment.random() % UInt64(refused.count))
      refused = Array((refused[start...] + refused[..<start]).prefix(part))
    }
    return arrived + refused
  }

  /// Records whose reference waits although its target is here: another record has the target for itself, and may
  /// have let go of it by an application's hand, which sees nothing of who waits; or an operator brought the
  /// target back.
  private func claimants(
    _ access: StoreAccess, _ sidecar: any SidecarKeeping
  ) throws -> Set<RecordID> {
    var found: Set<RecordID> = []
    var ledger = try access.ledger()
    try sidecar.visitEntries(of: .parked) { key, _ in
      let (target, reference) = try SyncKey.parked(from: key)
      guard try ledger.record(try ledger.resolve(target))?.key != nil,
        let claimant = try ledger.record(reference.owner), claimant.survivor == nil,
        let plan = access.schema.entities[claimant.entity]
      else { return }
      // Without an object it goes along with the target, or is deleted itself.
      let isAlive =
        claimant.key != nil
        || claimant.state(id: reference.owner, row: nil).isAlive(under: plan.policy)
      if isAlive { found.insert(reference.owner) }
    } afterPage: {
      ledger = try access.ledger()
    }
    return found
  }
}
