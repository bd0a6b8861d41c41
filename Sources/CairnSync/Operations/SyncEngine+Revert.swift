import CairnStore
import Foundation

// Taking back what an author or a store wrote. Specification: sync.md 9, `revert`.

extension SyncEngine {
  /// What ``revert(_:plan:as:)`` would do; nothing is written but stamps for what was just saved, and an index of
  /// journals that a version without one wrote.
  ///
  /// - Throws: ``SyncError``; the plan tells of replicas that are not open.
  public func planRevert(_ request: RevertRequest) async throws -> RevertPlan {
    try await operating { [self] in
      try planning(request, [:]).plan
    }
  }

  /// Takes back what an author or a store wrote in a time, as a new change of the local store, which
  /// then travels to all replicas.
  ///
  /// Values that others have written since stay. Records that were inserted are deleted, unless others
  /// wrote to them or need them. Records that were deleted, and not inserted in the same time and touched by no other,
  /// come back with the values that are still known:
  /// from replicas that have not taken the delete, from what stores keep of deleted records, from the
  /// conflict journal, and from what history keeps of them. A value that was replaced comes back where it
  /// is known for certain: replaced values are kept by replicas that have not got the new one, and by the
  /// conflict journal; where it is not, the write stays, and the outcome says so. Links are removed or
  /// added again; the order of members is left as it is.
  ///
  /// All is done in one transaction, or nothing. The values that it replaces go into the conflict journal
  /// under the rule `reverted`, so that it can be taken back itself, by its author.
  ///
  /// - Parameters:
  ///   - plan: ``RevertPlan/id`` of the plan that was looked at; nil to do what is to be done now.
  ///   - author: The author in history.
  /// - Throws: ``SyncError``: `planChanged` when what is there asks for another plan by now;
  ///   `contention`; `failed` and others when the local store cannot be written.
  @discardableResult
  public func revert(
    _ request: RevertRequest, plan id: RevertPlan.ID? = nil,
    as author: String = SyncConfiguration.revertingAuthor
  ) async throws -> RevertOutcome {
    try await operating { [self] in
      let save = OperatorSave(access: local, coordinator: coordinator, author: author)
      var refused: [RecordID: String] = [:]
      var isFirst = true
      while true {
        do {
          var plan: RevertPlan?
          try save.run { ledger in
            let found = try planning(request, refused).plan
            if isFirst, let id, id != found.id {
              throw SyncError(
                .planChanged, "what would be taken back has changed since it was looked at",
                recovery: .person)
            }
            plan = found
            return try found.decision(ledger, local)
          }
          return RevertOutcome(done: plan?.steps ?? [], kept: plan?.kept ?? [], author: author)
        } catch let refusal as OperatorRefusal {
          // The rest goes on without what is refused; the outcome tells of that.
          let new = refusal.records.filter { refused[$0] == nil }
          if new.isEmpty { throw refusal.error }
          for record in new { refused[record] = refusal.error.message }
          isFirst = false
        }
      }
    }
  }

  private func planning(
    _ request: RevertRequest, _ refused: [RecordID: String]
  ) throws -> RevertPlanning {
    var group = try group()
    try group.catchUp()
    return try RevertPlanning(request, local, try local.ledger(), group, refused: refused)
  }
}
