import CairnStore
import Foundation

// What the next pass would do. Specification: sync.md 9, `plan`.

extension SyncEngine {
  /// What the next pass of a link would do in each direction, if no program wrote meanwhile.
  ///
  /// Nothing is written, in no store: history that was not captured yet is read as the pass would. Each
  /// direction is planned on what both stores hold now; what a pull brings about in the local store and a
  /// push would carry on is not followed. Of up to 100,000 records the numbers are whole, see
  /// ``DirectionPlan/isComplete``.
  ///
  /// - Parameters:
  ///   - name: The replica of the link, which may be paused or wait for an approval.
  ///   - limit: How many records, conflicts and quarantined records to name, 0 to 10,000.
  /// - Throws: ``SyncError``: `noSuchReplica`; `notSyncing` when the replica is not open.
  public func plan(_ name: String, limit: Int = 20) async throws -> PassPlan {
    let link = try link(name)
    return try await operating { [self] in
      let group = try group([name])
      let replica = try group.member(named: name)
      let direction = link.configuration.direction
      let isMutual = direction.pushes && direction.pulls
      func plan(
        _ source: GroupStores.Member, _ destination: GroupStores.Member
      ) throws -> DirectionPlan {
        let coordinator = destination.link?.openReplica?.coordinator ?? self.coordinator
        return try PassPlanning(
          source: source, destination: destination, coordinator: coordinator,
          limit: max(0, min(limit, 10_000)), deletionLimit: configuration.deletionLimit,
          replica: name, filter: link.exchanged, localSchema: local.schema, isMutual: isMutual
        ).run()
      }
      return PassPlan(
        replica: name, pull: direction.pulls ? try plan(replica, group.local) : nil,
        push: direction.pushes ? try plan(group.local, replica) : nil)
    }
  }
}
