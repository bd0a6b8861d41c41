import CairnStore
import Foundation

/// Tells references that wait for records which are not going to arrive, because they were deleted and the store has
/// forgotten that, from those that do.
///
/// A store that forgets a delete has no reference to the record left, but another store may: it wrote one before the
/// delete arrived there, or sync only reads from it and never sends it the delete.
struct ForgottenTargets {
  /// The store in which references wait.
  let access: StoreAccess
  /// A store that it reads from.
  let source: StoreAccess

  /// Whether an unknown record has arrived from the source before: it was deleted here since.
  func haveArrived() throws -> (RecordID) throws -> Bool {
    let (mine, theirs) = (try access.ledger(), try source.ledger())
    let position = try mine.cursor(for: theirs.storeID).position
    return { id in
      guard let entry = try theirs.record(id), entry.sequence <= position else { return false }
      return try mine.value(SyncKey.quarantine(id)) == nil
    }
  }

  /// Notes in the store which of its references wait for what is not going to come, for links to other stores, which
  /// have the reference from here and know nothing of the record.
  ///
  /// - Parameter filter: What of its records the source gives, in its names; nil for all.
  func note(filter: EntityFilter?) throws {
    for _ in 0..<StoreAccess.attempts {
      let (ledger, theirs) = (try access.ledger(), try source.ledger())
      let hasArrived = try haveArrived()
      try access.store.capabilities.sidecar?.visitEntries(of: .parked) { key, value in
        let (target, reference) = try SyncKey.parked(from: key)
        guard value.isEmpty, try ledger.record(target) == nil else { return }
        // What the filter keeps at the source may yet come from elsewhere.
        let isGiven = try theirs.record(target).map { filter?.names.contains($0.entity) ?? true }
        if try isGiven.map({ try $0 && hasArrived(target) }) ?? theirs.isGone(target) {
          ledger.noteGone(target, reference)
        }
      }
      if try access.commit(ledger) { return }
    }
    throw StoreAccess.contention(access.store)
  }
}

extension Ledger {
  /// What stands beside a reference whose target was here, and was deleted and forgotten since.
  private static let gone = Data([1])

  fileprivate func noteGone(_ target: RecordID, _ reference: WaitingReference) {
    put(
      SyncKey.parked(target, owner: reference.owner, property: reference.property), Self.gone)
  }

  /// Whether references wait here for a record that is not going to come.
  fileprivate func isGone(_ target: RecordID) throws -> Bool {
    try waiting(for: target).contains { reference in
      let key = SyncKey.parked(target, owner: reference.owner, property: reference.property)
      return try value(key) == Self.gone
    }
  }
}
