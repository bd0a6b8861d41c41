import CairnStore
import Foundation

// Stores that go back in time: restored from a backup, copied back, rolled back by a snapshot.

extension StoreAccess {
  /// The mark of the commit that a place of the change order lies in; 0 when there is none.
  func mark(at position: UInt64) throws -> UInt64 {
    guard position > 0, let sidecar = store.capabilities.sidecar else { return 0 }
    let found = try sidecar.sidecarEntries(
      of: SyncMap.marks.rawValue, from: SyncKey.number(position), to: nil, limit: 1)
    guard let mark = found.first?.value else { return 0 }
    var reader = ByteReader(mark)
    return try reader.fixed()
  }

  /// Begins a new incarnation where the store lacks what another was served from it, or has something
  /// else in its place.
  ///
  /// From then on it writes under a new identity, which no reader has a cursor for: all it has is sent
  /// to all, all that others have comes back, also what came from here, and the merge rules bring it
  /// together. Nothing that either side has is lost.
  ///
  /// - Parameters:
  ///   - claim: Gives what a reader was served from this store under an identity.
  ///   - prepare: Called before that, while the store still writes under the identity that it had.
  /// - Returns: Whether the store had gone back in time.
  func renewIfRestored(
    asSeenBy claim: (StoreID) throws -> ReaderClaim, prepare: () throws -> Void = {}
  ) throws -> Bool {
    if try !hasGoneBack(asSeenBy: claim, ledger()) { return false }
    try prepare()
    for _ in 0..<Self.attempts {
      let ledger = try ledger()
      // Another daemon may have been faster.
      if try !hasGoneBack(asSeenBy: claim, ledger) { return true }
      // Earlier versions could give out numbers that the head did not have: to readers who came so far, the store
      // would have gone back in time under each new identity again.
      ledger.head.sequence = try max(ledger.head.sequence, lastNumber(after: ledger.head.sequence))
      try ledger.beginIncarnation(environment.random)
      if try commit(ledger) { return true }
    }
    throw Self.contention(store)
  }

  /// The last number at which something stands in the change order behind another; 0 where nothing does.
  private func lastNumber(after number: UInt64) throws -> UInt64 {
    guard let sidecar = store.capabilities.sidecar else { return 0 }
    let found = try sidecar.sidecarEntries(
      of: SyncMap.changes.rawValue, from: SyncKey.number(number + 1), to: nil, limit: 0)
    return try found.last.map { entry in
      var reader = ByteReader(entry.key)
      return try reader.fixed()
    } ?? 0
  }

  /// What this store, as a reader, says of what it was served under an identity.
  func claim(on source: StoreID) throws -> ReaderClaim {
    let ledger = try ledger()
    return ReaderClaim(cursor: try ledger.cursor(for: source)) {
      try [ledger.storeID] + ledger.formerIDs()
    }
  }

  /// - Throws: ``Exchange/hasGoneBack`` for a store that lacks what a reader was served from it, or has something else in
  ///   its place.
  func checkHasNotGoneBack(asSeenBy claim: (StoreID) throws -> ReaderClaim) throws {
    if try hasGoneBack(asSeenBy: claim, ledger()) { throw Exchange.hasGoneBack }
  }

  /// Whether the store, as a ledger shows it, is what a change set was made for.
  func isStill(_ expected: ExpectedDestination, _ ledger: Ledger) throws -> Bool {
    guard ledger.storeID == expected.id else { return false }
    return try expected.claim.map { claim in
      try !hasGoneBack(asSeenBy: { _ in claim }, ledger)
    } ?? true
  }

  /// Whether the store, as a ledger shows it, lacks what a reader was served from it, or has something else in its
  /// place.
  private func hasGoneBack(
    asSeenBy claim: (StoreID) throws -> ReaderClaim, _ ledger: Ledger
  ) throws -> Bool {
    let said = try claim(ledger.storeID)
    let cursor = said.cursor
    var last = ledger.head.sequence
    // Another daemon may have served the reader from here since.
    if cursor.markedPosition > last { last = try freshLedger().head.sequence }
    if cursor.markedPosition > last { return true }
    if try cursor.mark == 0 || mark(at: cursor.markedPosition) == cursor.mark { return false }
    return try !hasForgotten(said, ledger)
  }

  /// Whether the mark at a reader's cursor was purged, because the reader had said that it was past it: then
  /// the reader has gone back in time, and not this store.
  private func hasForgotten(_ claim: ReaderClaim, _ ledger: Ledger) throws -> Bool {
    let position = claim.cursor.markedPosition
    guard try position < ledger.retention().floor else { return false }
    return try claim.ids().contains { id in
      let note = try ledger.value(SyncKey.reader(id)).map(ReaderNote.init(decoding:))
      return note.map { $0.position > position } ?? false
    }
  }
}

/// How far a reader says that it was served from a store, by which the store learns that it has gone back in time.
struct ReaderClaim {
  let cursor: SyncCursor
  /// The reader, under all identities that it has had.
  let ids: () throws -> [StoreID]
}

extension Ledger {
  /// The identities that the store had before it went back in time, in their order.
  func formerIDs() throws -> [StoreID] {
    guard let data = try value(SyncKey.formerIDs) else { return [] }
    var reader = ByteReader(data)
    var found: [StoreID] = []
    while !reader.isAtEnd { found.append(try reader.identity(StoreID.self)) }
    return found
  }

  /// Gives the store another identity from this commit on.
  func beginIncarnation(_ random: () -> UInt64) throws {
    put(SyncKey.formerIDs, try formerIDsWithOwn())
    head.incarnation = StoreID(high: random(), low: random())
  }

  /// What ``formerIDs()`` reads once the store has another identity.
  private func formerIDsWithOwn() throws -> Data {
    var writer = ByteWriter()
    for id in try formerIDs() + [storeID] { writer.identity(id) }
    return writer.data
  }
}
