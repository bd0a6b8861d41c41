import CairnStore
import Foundation

/// What a link waits for, of the references to records that have not arrived in a store.
///
/// ``StoreAccess/held(from:awaiting:)`` counts them for the status, and ``SyncEngine/parked(in:after:limit:)`` lists
/// them for a person.
struct AwaitedReferences {
  /// What is exchanged, in the store's names: references to other records wait for nothing; nil for all.
  var filter: EntityFilter?
  /// Whether a record that is unknown in the store has arrived before.
  var hasArrived: (RecordID) throws -> Bool = { _ in false }

  /// - Parameter ledger: The store's.
  func include(
    _ reference: WaitingReference, to target: RecordID, _ ledger: Ledger
  ) throws -> Bool {
    // What is known here and has no object was deleted, as was what has arrived and is unknown again: that is not
    // going to arrive.
    guard try ledger.record(target) == nil else { return false }
    // What stands for a record may be of an entity that is not exchanged: it has been there, and does not come.
    let isKept = filter != nil && reference.property == ImportPlanner.survivorProperty
    if try !isKept && hasArrived(target) { return false }
    guard let filter, let owner = try ledger.record(reference.owner) else { return true }
    return !filter.leadsOut(reference.property, of: owner.entity)
  }
}

extension StoreAccess {
  /// Visits the references that wait here, in the order of their keys, but for those to what is not going to come.
  ///
  /// - Parameters:
  ///   - start: The first key; nil for all.
  ///   - isEnough: Asked after some, whether to end there.
  func visitParked(
    from start: Data? = nil, until isEnough: () -> Bool = { false },
    _ visit: (_ target: RecordID, _ reference: WaitingReference, _ ledger: Ledger) throws -> Void
  ) throws {
    guard let sidecar = store.capabilities.sidecar else { return }
    var ledger = try self.ledger()
    try sidecar.visitEntries(of: .parked, from: start, until: isEnough) { key, gone in
      guard gone.isEmpty else { return }
      let (target, reference) = try SyncKey.parked(from: key)
      try visit(target, reference, ledger)
    } afterPage: {
      ledger = try self.ledger()
    }
  }
}
