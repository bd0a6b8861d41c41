import CairnContext
import CairnStore
import Foundation

// What arrived and is not visible: looking at it, trying it again, giving it up. Specification:
// sync.md 9, `quarantine`.

extension SyncEngine {
  /// A page of what waits in quarantine, in the local store and in the replicas that are open.
  ///
  /// - Parameters:
  ///   - reason: Only what waits for this; nil for all.
  ///   - names: The stores to look at, replicas or `local`; nil for all.
  ///   - after: ``QuarantinePage/next`` of the page before; nil for the first.
  ///   - limit: At most so many, 1 to 10,000.
  /// - Throws: ``SyncError`` with `noSuchReplica`; the page tells of replicas that are not open.
  public func quarantine(
    reason: QuarantineEntry.Reason? = nil, in names: [String]? = nil,
    after: QuarantineID? = nil, limit: Int = 100
  ) async throws -> QuarantinePage {
    try await operating { [self] in
      var group = try group(names)
      let members = group.members(names)
      let start = after.flatMap { after in members.firstIndex { $0.name == after.store } } ?? 0
      let count = max(1, min(limit, 10_000))
      var items: [QuarantinedItem] = []
      var next: QuarantineID?
      var damaged = 0
      let chosen = Set(members[start...].map(\.name))
      let known = group
      try group.read { member in
        guard chosen.contains(member.name), next == nil,
          let sidecar = member.access.store.capabilities.sidecar
        else { return }
        let reading = try QuarantineReading(member, in: known)
        var from = after.flatMap { $0.store == member.name ? $0.key + Data([0]) : nil }
        while true {
          let page = try sidecar.sidecarEntries(
            of: SyncMap.quarantine.rawValue, from: from, to: nil, limit: 500)
          for (_, value) in page {
            guard let entry = try? QuarantineEntry(decoding: value) else {
              damaged += 1
              continue
            }
            if let reason, entry.reason != reason { continue }
            if items.count == count {
              next = items.last?.id
              return
            }
            items.append(try reading.item(entry))
          }
          guard page.count == 500, let last = page.last else { return }
          from = last.key + Data([0])
        }
      }
      return QuarantinePage(items: items, next: next, damaged: damaged, away: group.away)
    }
  }

  /// One entry.
  ///
  /// - Throws: ``SyncError``: `notQuarantined`; `noSuchReplica`; `notSyncing` when the replica is not
  ///   open.
  public func quarantined(_ id: QuarantineID) async throws -> QuarantinedItem {
    try await operating { [self] in
      let group = try group([id.store])
      let reading = try QuarantineReading(try group.member(named: id.store), in: group)
      return try reading.item(try reading.stored(id))
    }
  }

  /// Tries now what waits, instead of with the next pass.
  ///
  /// What waits for time goes on waiting, unless time has caught up with it or it was accepted.
  ///
  /// - Parameters:
  ///   - ids: What to try; nil for all.
  ///   - names: The stores in which to try all, for nil.
  /// - Returns: What was tried and waits still, with the reason as of now, and how many do not.
  /// - Throws: ``SyncError``: `notQuarantined` for an ID, `noSuchReplica`, `contention`.
  public func retryQuarantined(
    _ ids: [QuarantineID]? = nil, in names: [String]? = nil
  ) async throws -> (released: Int, waiting: [QuarantinedItem]) {
    let result = try await operating { [self] in
      let stores = ids.map { Set($0.map(\.store)).sorted() } ?? names
      let group = try group(stores)
      var released = 0
      var waiting: [QuarantinedItem] = []
      for member in try stores?.map(group.member) ?? group.members {
        let own = ids?.filter { $0.store == member.name }
        var outcome = try QuarantineRetry(member: member, coordinator: coordinator).run(
          own.map { ids in
            let reading = try QuarantineReading(member, in: group)
            return try ids.map(reading.stored)
          })
        released += outcome.released
        let reading = try QuarantineReading(member, in: group)
        outcome.waiting.sort { $0.content.name < $1.content.name }
        waiting += try outcome.waiting.map(reading.item)
      }
      return Released(count: released, waiting: waiting)
    }
    poke()
    return (result.count, result.waiting)
  }

  private struct Released: Sendable {
    let count: Int
    let waiting: [QuarantinedItem]
  }

  /// Gives up what waits: the store in which it waits keeps its state, as it says in
  /// ``QuarantinedItem/discardEffect``, and its values replace the quarantined ones in all stores.
  ///
  /// The stores stay in step that way. The source's write stays known: the store's values count as
  /// written by a writer who had seen it, so that it does not come back, and everything that is lost is in
  /// the conflict journal under the rule `discarded`, from where ``restore(_:as:)`` brings it back: in that of the
  /// store, and in that of the local store, which stays when a replica is thrown away. Where the store does not have
  /// the record, the record is deleted in all stores. What waits for the time when
  /// it was written cannot be discarded: what replaces it would have to be later still.
  ///
  /// - Parameter revision: ``QuarantinedItem/revision`` of the item as it was looked at: the consent.
  /// - Returns: What was lost.
  /// - Throws: ``SyncError``: `notQuarantined`, also when it was discarded before; `planChanged` when
  ///   it is another one by now; `notAllowed`; `noSuchReplica`, `notSyncing`, `contention`.
  @discardableResult
  public func discard(_ id: QuarantineID, revision: String) async throws -> [Conflict] {
    let lost = try await operating { [self] () throws -> [Conflict] in
      let group = try group([id.store])
      let member = try group.member(named: id.store)
      var noted: [JournalEntry] = []
      for _ in 0..<StoreAccess.attempts {
        try HistoryCapture(access: member.access).run()
        let reading = try QuarantineReading(member, in: group)
        let entry = try reading.stored(id)
        let item = try reading.item(entry)
        if item.revision != revision {
          throw SyncError(
            .planChanged, "\(id) has changed since it was looked at; look again",
            recovery: .person)
        }
        if case .impossible(let why) = item.discardEffect {
          throw SyncError(.notAllowed, "\(id) cannot be discarded: \(why)", recovery: .person)
        }
        guard let held = entry.state else { return [] }
        let lost = try reading.discard(held, insteadOf: entry)
        if member.link != nil {
          // What the local store does not take now is in the replica's journal at least.
          noted = (try? note(lost, of: member, in: group.local.access, insteadOf: noted)) ?? noted
          try member.access.environment.reach(.afterDiscardNote)
        }
        guard try member.access.commit(reading.ledger) else { continue }
        // A pass may have been faster.
        if let again = try QuarantineReading(member, in: group).found(id) {
          _ = try QuarantineRetry(member: member, coordinator: coordinator).run([again])
        }
        return lost
      }
      throw StoreAccess.contention(member.access.store)
    }
    poke()
    if id.store != StoreReference.localName { poke(replica: id.store) }
    return lost
  }
}

extension SyncEngine {
  /// Keeps what a replica is about to give up in the local store's journal, too.
  ///
  /// Where a value loses to one whose writer had not seen it, each store that gets both notes that. What an operator
  /// discards counts as seen by what replaces it: the replica alone would have it in its journal, which goes with its
  /// file. The local store has it first: a daemon that ends in between has given up nothing, and the journal tells of
  /// a value that still waits; the other way round it would tell of less than was given up.
  ///
  /// - Parameter former: What was noted for an attempt that others came in between.
  /// - Returns: What is in the journal now.
  private func note(
    _ lost: [Conflict], of member: GroupStores.Member, in local: StoreAccess,
    insteadOf former: [JournalEntry]
  ) throws -> [JournalEntry] {
    let entries = lost.map { conflict in
      let entry = JournalEntry(conflict: conflict, time: local.environment.now())
      return member.translation.map(entry.translated) ?? entry
    }
    for _ in 0..<StoreAccess.attempts {
      let ledger = try local.ledger()
      for entry in former { ledger.forget(entry) }
      try ledger.journal(entries)
      if try local.commit(ledger, isRebased: true) { return entries }
    }
    return former
  }
}

extension GroupStores {
  /// - Throws: ``SyncError`` with `notSyncing` for a replica that is not open.
  func member(named name: String) throws -> Member {
    if let member = members.first(where: { $0.name == name }) { return member }
    let reason = away.first { $0.name == name }?.reason ?? "it is not open"
    throw SyncError(
      .notSyncing, "\(name) cannot be read: \(reason)", recovery: .wait, replicas: [name])
  }
}

extension QuarantineReading {
  fileprivate func found(_ id: QuarantineID) throws -> QuarantineEntry? {
    try ledger.value(SyncMap.quarantine.key(id.key)).map(QuarantineEntry.init(decoding:))
  }

  /// The entry as it is stored.
  func stored(_ id: QuarantineID) throws -> QuarantineEntry {
    if let entry = try found(id) { return entry }
    throw SyncError(
      .notQuarantined, "nothing waits as \(id); it may have become visible", recovery: .person)
  }

  /// Writes the store's state over a quarantined one in the ledger, which is to be committed.
  ///
  /// It waits in quarantine in place of the other, for the next import to see what follows from it for
  /// other records: what goes along with one that is deleted by this.
  ///
  /// - Returns: What is lost.
  func discard(_ held: RecordState, insteadOf stored: QuarantineEntry) throws -> [Conflict] {
    let access = member.access
    let id = held.id
    let stamp = ledger.tick(
      milliseconds: access.environment.now(), limit: access.latestCredibleTime)
    let mine = try mine(id)
    let (state, lost) = try discarding(held, over: mine).decide(at: stamp)
    ledger.noteGiven(state.latestReading)
    var entry = try ledger.record(id) ?? RecordEntry(entity: state.entity, key: nil)
    entry.takeWrites(from: state)
    let columns = access.schema.entities[entry.entity]?.names ?? .none
    for (name, register) in state.registers where entry.key == nil || columns.place(of: name) == nil
    {
      entry.overlay[name] = register.value
    }
    ledger.head.sequence += 1
    ledger.setRecord(id, entry)
    let waiting = QuarantineEntry(
      reason: stored.reason, message: stored.message, source: stored.source, since: stored.since,
      content: .record(state), insteadOf: stored)
    ledger.put(SyncKey.quarantine(id), waiting.encoded)
    _ = try ledger.journal(lost, time: access.environment.now())
    return lost
  }
}
