import CairnStore
import Foundation

// Why a value is what it is. Specification: sync.md 9, `explain`.

extension SyncEngine {
  /// Which store, author, transaction and rule gave a value, what it superseded, and how all stores that
  /// are open have it now.
  ///
  /// Works for attributes, to-one relationships, to-many relationships (a value for each member, or for
  /// each link, also the removed ones), places in ordered relationships, and deletes. Values that a
  /// newer version of the model has are explained as far as they are kept. Authors are known as long as
  /// the history of the store that wrote is kept, and only where that store is open in this group.
  ///
  /// - Parameters:
  ///   - record: A record, also one that was deleted or united with another.
  ///   - property: Nil for all that the record itself has; of a place, the relationship and `#position`.
  /// - Throws: ``SyncError``: `noSuchRecord` when no store that is open knows the record;
  ///   `noSuchProperty`.
  public func explain(
    _ record: RecordID, property: String? = nil
  ) async throws -> Explanation {
    try await operating { [self] in
      var group = try group()
      // What was just written has no stamp before.
      try group.catchUp()
      var knowing: GroupStores.Member?
      try group.read { member in
        if knowing == nil, try member.access.ledger().record(record) != nil { knowing = member }
      }
      guard let base = knowing else {
        let unread = group.away.map(\.name).joined(separator: ", ")
        throw SyncError(
          .noSuchRecord,
          "no store that is open knows the record \(record)"
            + (unread.isEmpty ? "" : ". Not open: \(unread)"), recovery: .person)
      }
      var reading = try ExplanationReading(base, in: group)
      let survivor = try reading.ledger.resolve(record)
      let state = try RecordReading(base).states(of: [survivor])[survivor]
      guard let state else {
        throw SyncError(
          .noSuchRecord, "the record \(record) was united with \(survivor), which is not here",
          recovery: .person)
      }
      let (subjects, hasMore) = try reading.subjects(of: survivor, state, property: property)
      try reading.prepare(subjects, of: survivor)
      return Explanation(
        record: record, survivor: survivor, entity: state.entity,
        deletion: try state.deletion.map { try reading.explain($0, of: survivor) },
        isDeleted: try reading.ledger.record(survivor)?.key == nil,
        standings: try reading.standings(of: survivor),
        values: try subjects.compactMap { try reading.explain($0) }, hasMore: hasMore,
        away: group.away)
    }
  }
}
