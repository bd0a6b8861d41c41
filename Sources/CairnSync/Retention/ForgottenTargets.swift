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
    let position = try access.ledger().cursor(for: source.ledger().storeID).position
    try access.noteGone(
      source.forgotten(among: access.awaitedRecords(), readUpTo: position, filter: filter))
  }
}

extension StoreAccess {
  /// The records that references here wait for, as far as nothing is noted that they do not come, in order.
  ///
  /// - Parameters:
  ///   - last: Which they come after; nil for the first.
  ///   - limit: How many at most.
  func awaitedRecords(after last: RecordID? = nil, limit: Int = .max) throws -> [RecordID] {
    var found: [RecordID] = []
    try visitParked(from: last.map(SyncKey.bytes), until: { found.count == limit }) {
      target, _, ledger in
      guard found.count < limit, found.last != target, target != last,
        try ledger.record(target) == nil,
        // One in quarantine has arrived, and waits itself.
        try ledger.value(SyncKey.quarantine(target)) == nil
      else { return }
      found.append(target)
    }
    return found
  }

  /// Which of the records that references in a reader wait for are not going to come from here, because they were
  /// deleted there since, or here and are forgotten.
  ///
  /// - Parameters:
  ///   - position: How far the reader has read.
  ///   - filter: What the reader is given, in the names here; nil for all.
  func forgotten(
    among awaited: [RecordID], readUpTo position: UInt64, filter: EntityFilter?
  ) throws -> [RecordID] {
    let ledger = try self.ledger()
    try ledger.prefetch(records: awaited)
    return try awaited.filter { id in
      guard let entry = try ledger.record(id) else { return try ledger.isGone(id) }
      // What the filter keeps here may yet come from elsewhere.
      return (filter?.names.contains(entry.entity) ?? true) && entry.sequence <= position
    }
  }

  /// Notes that records which references here wait for are not going to come.
  ///
  /// One that comes after all is referred to at once: what waits still says by which property.
  ///
  /// - Returns: How many references wait for nothing from now on.
  @discardableResult
  func noteGone(_ gone: [RecordID]) throws -> Int {
    if gone.isEmpty { return 0 }
    for _ in 0..<Self.attempts {
      let ledger = try self.ledger()
      var count = 0
      for target in gone where try ledger.record(target) == nil {
        for reference in try ledger.waiting(for: target) {
          count += try ledger.noteGone(target, reference) ? 1 : 0
        }
      }
      if try count == 0 || commit(ledger) { return count }
    }
    throw Self.contention(store)
  }
}

extension Ledger {
  /// What stands beside a reference whose target is not going to come: it was deleted, and that is forgotten, or an
  /// operator has said so.
  private static let gone = Data([1])

  /// - Returns: Whether that is news.
  fileprivate func noteGone(_ target: RecordID, _ reference: WaitingReference) throws -> Bool {
    let key = SyncKey.parked(target, owner: reference.owner, property: reference.property)
    if try value(key) == Self.gone { return false }
    put(key, Self.gone)
    return true
  }

  /// Whether references wait here for a record that is not going to come.
  fileprivate func isGone(_ target: RecordID) throws -> Bool {
    try waiting(for: target).contains { reference in
      let key = SyncKey.parked(target, owner: reference.owner, property: reference.property)
      return try value(key) == Self.gone
    }
  }
}
