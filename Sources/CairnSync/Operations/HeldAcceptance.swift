import CairnStore
import Foundation

/// What an operator accepts of what waits because it was written in the future by this machine's clock.
public enum HeldSelection: Sendable, Hashable {
  case all
  /// What this store wrote, and all that it wrote before.
  case store(StoreID)
  /// What waits of this record and of its links, and nothing else of the stores that wrote it.
  case record(RecordID)

  func includes(_ content: QuarantineEntry.Content) -> Bool {
    guard case .record(let id) = self else { return true }
    switch content {
    case .record(let state): return state.id == id
    case .link(let link): return link.key.owner == id || link.key.member == id
    }
  }

  func includes(_ stamp: Stamp) -> Bool {
    if case .store(let id) = self { return stamp.store == id || stamp.store.isEpoch(of: id) }
    return true
  }
}

extension StoreAccess {
  /// What waits here for time, and the stamps that are not believed.
  func held(_ selection: HeldSelection) throws -> (count: Int, stamps: Set<Stamp>) {
    guard let sidecar = store.capabilities.sidecar else { return (0, []) }
    let ledger = try ledger()
    let time = try ledger.credibleTime(limit: latestCredibleTime)
    var count = 0
    var found: Set<Stamp> = []
    try sidecar.visitEntries(of: .quarantine) { _, value in
      let entry = try QuarantineEntry(decoding: value)
      guard entry.reason == .clockSkew, selection.includes(entry.content) else { return }
      let stamps: [Stamp]
      switch entry.content {
      case .record(let state): stamps = state.stamps(newTo: nil)
      case .link(let link): stamps = link.state.stamps(newTo: nil)
      }
      let late = stamps.filter { !time.covers($0) && selection.includes($0) }
      if late.isEmpty { return }
      count += 1
      found.formUnion(late)
    }
    return (count, found)
  }

  /// Believes stamps from now on; all that their stores wrote before as well, unless only these are
  /// meant.
  func accept(_ stamps: Set<Stamp>, isExact: Bool) throws {
    if stamps.isEmpty { return }
    for _ in 0..<Self.attempts {
      let ledger = try ledger()
      var time = try ledger.credibleTime(limit: latestCredibleTime)
      for stamp in stamps where !time.covers(stamp) {
        if isExact { time.accept(exactly: stamp) } else { time.accept(stamp) }
      }
      try ledger.setAccepted(time)
      if try commit(ledger) { return }
    }
    throw Self.contention(store)
  }
}

extension SyncEngine {
  /// Believes what waits because it was written in the future by this machine's clock.
  ///
  /// What is accepted is believed in the local store and in all replicas that are open, so that it is
  /// not held again on its way. Neither is a write that replaces it later, in any store. Other writes of the stores
  /// that were ahead wait again if they are as far ahead. See ``quarantine(reason:in:after:limit:)`` for what waits, who wrote it and
  /// how far ahead.
  ///
  /// - Parameter names: Where to look for it, replicas or `local`; nil means everywhere.
  /// - Returns: How many records and links waited. They are merged at once, see ``wait(for:timeout:)``.
  /// - Throws: ``SyncError``; a replica that is not open is left alone.
  @discardableResult
  public func accept(_ selection: HeldSelection, in names: [String]? = nil) async throws -> Int {
    let count = try await operating { [self] in
      var group = try group()
      // Errors of names before anything is written.
      _ = try self.group(names)
      var count = 0
      var stamps: Set<Stamp> = []
      for member in group.members(names) {
        let held = try member.access.held(selection)
        count += held.count
        stamps.formUnion(held.stamps)
      }
      var isExact = false
      if case .record = selection { isExact = true }
      try group.read { try $0.access.accept(stamps, isExact: isExact) }
      return count
    }
    poke()
    return count
  }

  /// Believes all that waits because it was written in the future; see ``accept(_:in:)``.
  @discardableResult
  public func acceptHeld(names: [String]? = nil) async throws -> Int {
    try await accept(.all, in: names)
  }
}
