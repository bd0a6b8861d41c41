// A replica's state in the words of the control protocol.

import CairnControl
import CairnSync
import Foundation

/// Says of one replica what is known of it, and no more.
struct ReplicaReport {
  let replica: LinkStatus
  /// As it is configured; nil for one that is just being removed.
  let section: ReplicaSection?
  /// Whether a command added it, so that a command can remove it, too.
  let isCommanded: Bool
  /// In milliseconds since 1970.
  let now: UInt64
  /// What has to be decided about its version.
  let decision: StatusProblem?

  /// From this on, a pass has something to do.
  private static let longPass: UInt64 = 5000

  var line: ReplicaStatus {
    var line = ReplicaStatus(
      name: replica.name, type: replica.configuration.type.lowercased(), location: place,
      direction: .init(rawValue: replica.configuration.direction.rawValue) ?? .both,
      required: section?.isRequired ?? false, state: state,
      lagTransactions: replica.lagTransactions,
      lagSeconds: replica.lagTransactions == nil ? nil : replica.lagSeconds,
      lastPass: replica.lastPass.map(WireDate.init(milliseconds:)),
      passes: replica.counters.passes, quarantined: replica.held.invalid + replica.held.ahead,
      problem: problem, since: WireDate(milliseconds: replica.phaseSince), waits: waits)
    switch replica.phase {
    case .waiting(let until, _): line.nextAttempt = WireDate(milliseconds: until)
    case .migrating(let progress):
      line.progress = StatusProgress(done: Int(progress * 100), total: 100)
    case .opening, .ready, .syncing, .paused, .awaitingApproval, .failed, .removed: break
    }
    if isTroubled { line.nextAttempt = .now }
    if line.state == .firstSync, let progress = replica.firstSyncProgress {
      line.progress = StatusProgress(done: Int(progress * 100), total: 100)
    }
    return line
  }

  private var place: String { section?.location ?? replica.configuration.url.storePlace }

  private var state: ReplicaStatus.State {
    switch replica.phase {
    case .migrating: return .migrating
    case .waiting: return .unavailable
    case .paused: return .paused
    case .failed, .awaitingApproval, .removed: return .stopped
    case .opening, .ready, .syncing: break
    }
    if replica.firstSyncProgress != nil, isOpen { return .firstSync }
    if isTroubled { return .unavailable }
    // Open, but the engine does not know how it stands before the first pass is complete.
    if replica.phase == .opening || replica.lastPass == nil { return .opening }
    let isBehind =
      (replica.lagTransactions ?? 0) > 0 || replica.held.count > 0 || replica.differences != nil
      || isPassLong
    return isBehind ? .behind : .inSync
  }

  private var isOpen: Bool { replica.phase == .ready || replica.phase == .syncing }

  /// The last attempt failed and the next is under way: the trouble lasts until one has succeeded, so
  /// that it does not vanish and come back each time one is made.
  private var isTroubled: Bool {
    switch replica.phase {
    case .opening: replica.lastError != nil
    case .ready, .syncing: replica.lastError != nil && replica.firstSyncProgress == nil
    case .migrating, .waiting, .awaitingApproval, .paused, .failed, .removed: false
    }
  }

  private var isPassLong: Bool {
    replica.phase == .syncing && now > replica.phaseSince + Self.longPass
  }

  private var problem: StatusProblem? {
    func problem(_ error: SyncError) -> StatusProblem {
      StatusProblem(code: error.code.rawValue, message: error.message)
    }
    switch replica.phase {
    case .waiting(_, let reason): return problem(reason)
    case .failed(let error):
      return error.code == .incompatibleModel ? decision ?? problem(error) : problem(error)
    case .awaitingApproval(let plan): return problem(plan.error)
    case .opening, .ready, .syncing, .migrating, .paused, .removed: break
    }
    if isTroubled, let error = replica.lastError { return problem(error) }
    guard isOpen, replica.held.count > 0 else { return nil }
    return StatusProblem(
      code: SyncError.Code.recordsHeld.rawValue, message: replica.held.text)
  }

  // MARK: What waits

  private var waits: [StatusWait] {
    var waits: [StatusWait] = []
    switch replica.phase {
    case .opening where !isTroubled:
      waits.append(
        StatusWait(
          kind: .opening, reason: "waits for \(place) to answer; nothing else waits for it"))
    case .syncing where isPassLong || replica.lastPass == nil:
      waits.append(
        StatusWait(
          kind: .pass,
          reason: replica.lastPass == nil
            ? "open; its first pass has not ended" : "a pass takes long"))
    case .awaitingApproval(let plan):
      waits.append(
        StatusWait(
          kind: .approval, count: plan.entities.reduce(0) { $0 + $1.deleted },
          reason: plan.message, command: "cairnctl approve \(replica.name)"))
    case .opening, .ready, .syncing, .migrating, .waiting, .paused, .failed, .removed: break
    }
    return waits + heldBack + differing + leftOut + expired
  }

  private var differing: [StatusWait] {
    guard let known = replica.differences else { return [] }
    let date = Readable.moment(WireDate(milliseconds: known.found))
    return [
      StatusWait(
        kind: .differences, count: known.count,
        reason: Readable.count(known.count, "difference was", "differences were")
          + " found on \(date), such as rows that a program wrote past history",
        command: "cairnctl repair \(replica.name) --dry-run")
    ]
  }

  private var leftOut: [StatusWait] {
    let count = replica.held.leftOut
    if count == 0 { return [] }
    return [
      StatusWait(
        kind: .leftOut, count: count, reason: replica.configuration.textOfLeftOut(count))
    ]
  }

  private var expired: [StatusWait] {
    guard let since = replica.expiredSince else { return [] }
    let date = WireDate.text(WireDate(milliseconds: since).date)?.prefix { $0 != "T" } ?? "?"
    return [
      StatusWait(
        kind: .expired,
        reason: "was here last on \(date), longer ago than the retention: nothing is kept for it; "
          + "it comes back by comparison, or is "
          + (isCommanded ? "removed" : "taken out of the configuration")
          + "; what it brought to others may outlive a delete",
        command: isCommanded ? "cairnctl store remove \(replica.name)" : "cairnctl reload")
    ]
  }

  private var heldBack: [StatusWait] {
    let held = replica.held
    func wait(
      _ kind: StatusWait.Kind, _ count: Int, _ one: String, _ many: String, _ command: String
    ) -> StatusWait? {
      guard count > 0 else { return nil }
      return StatusWait(
        kind: kind, count: count, reason: Readable.count(count, one, many),
        command: command)
    }
    var waits = [
      wait(
        .quarantine, held.invalid, "record in quarantine", "records in quarantine",
        "cairnctl quarantine"),
      wait(
        .held, held.ahead, "record was written in the future",
        "records were written in the future", "cairnctl held"),
      wait(
        .parked, held.parked, "reference waits for a record that has not arrived",
        "references wait for records that have not arrived", "cairnctl parked"),
    ].compactMap { $0 }
    if let reason = held.reason, !waits.isEmpty { waits[0].reason += ", first \(reason)" }
    return waits
  }
}
