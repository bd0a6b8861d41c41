import CairnStore
import Foundation

// Passes that would delete much. Specification: sync.md 9, `approve`.

extension SyncEngine {
  /// What links wait to be approved, by the name of the replica; also in ``LinkStatus/phase``.
  public func awaitingApproval() throws -> [DeletionPlan] {
    try links(nil).compactMap { $0.life.deletions }
  }

  /// Lets exactly what a link waits for pass, at once.
  ///
  /// The approval is kept in the store in which the records are deleted: it holds also when the daemon
  /// is restarted before the pass is complete. When more of the same entities is deleted before the pass
  /// begins, the link asks again. What waits for an approval is not kept: after a restart the first pass
  /// finds it again, and asks again.
  ///
  /// - Parameters:
  ///   - name: The replica of the link.
  ///   - plan: ``DeletionPlan/id`` of what was looked at; nil for the link's latest plan.
  /// - Throws: ``SyncError``: `nothingToApprove`; `planChanged` when it waits for another plan by now;
  ///   `noSuchReplica`; `notSyncing` when the replica is not open; `contention`.
  @discardableResult
  public func approve(_ name: String, plan: DeletionPlan.ID? = nil) async throws -> DeletionPlan {
    let approved = try await decide(name, plan, isApproved: true)
    try link(name).retry()
    return approved
  }

  /// Keeps a link stopped that waits for an approval; it can be approved later.
  ///
  /// Kept as an approval is. The link goes on by itself once what would be deleted is within the limit,
  /// and asks again when it grows.
  ///
  /// - Throws: As ``approve(_:plan:)``.
  @discardableResult
  public func reject(_ name: String, plan: DeletionPlan.ID? = nil) async throws -> DeletionPlan {
    let rejected = try await decide(name, plan, isApproved: false)
    try link(name).retry()
    return rejected
  }

  private func decide(
    _ name: String, _ id: DeletionPlan.ID?, isApproved: Bool
  ) async throws -> DeletionPlan {
    let link = try link(name)
    guard let plan = link.life.deletions else {
      throw SyncError(
        .nothingToApprove, "\(name) waits for no approval (it is \(link.life.phase.word))",
        recovery: .person)
    }
    if let id, id != plan.id {
      throw SyncError(
        .planChanged, "\(name) has changed since it was looked at: \(plan.message)",
        recovery: .person)
    }
    try await operating { [self] in
      let group = try group([name])
      let access =
        plan.store == StoreReference.localName ? local : try group.member(named: name).access
      for _ in 0..<StoreAccess.attempts {
        let ledger = try access.ledger()
        let verdict = DeletionVerdict(extent: plan.extent, isApproved: isApproved)
        ledger.put(SyncKey.verdict(plan.source), verdict.encoded)
        if try access.commit(ledger) { return }
      }
      throw StoreAccess.contention(access.store)
    }
    return plan
  }
}
