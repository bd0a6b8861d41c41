import CairnStore
import Foundation

// References to records that have not arrived: looking at them, and no longer waiting for them. Specification: sync.md
// 4, "Dangling references", and 5, "In step means in step".

extension SyncEngine {
  /// A page of the references that wait, in the local store and in the replicas that are open.
  ///
  /// These are the ones that ``HeldRecords/parked`` counts for a link.
  ///
  /// - Parameters:
  ///   - names: The stores to look at, replicas or `local`; nil for all.
  ///   - after: ``ParkedPage/next`` of the page before; nil for the first.
  ///   - limit: At most so many, 1 to 10,000.
  /// - Throws: ``SyncError`` with `noSuchReplica`, or what reading the local store brings;
  ///   ``ParkedPage/away`` tells of replicas that are not open.
  public func parked(
    in names: [String]? = nil, after: ParkedReference.ID? = nil, limit: Int = 100
  ) async throws -> ParkedPage {
    try await operating { [self] in
      var group = try group()
      _ = try self.group(names)
      let members = group.members(names)
      let start = after.flatMap { after in members.firstIndex { $0.name == after.store } } ?? 0
      let chosen = Set(members[start...].map(\.name))
      let count = max(1, min(limit, 10_000))
      var found: [ParkedReference] = []
      let known = group
      try group.read { member in
        // One more than is asked for tells whether there is another page.
        guard chosen.contains(member.name), found.count <= count else { return }
        let from = after.flatMap { $0.store == member.name ? $0.key + Data([0]) : nil }
        found += try reading(member, in: known)
          .references(from: from, limit: count + 1 - found.count)
      }
      let page = Array(found.prefix(count))
      let away = group.away.filter { names?.contains($0.name) ?? true }
      return ParkedPage(
        references: page, next: found.count > count ? page.last?.id : nil, away: away)
    }
  }

  /// Waits no longer for records that are not going to come, because the store that had them is lost.
  ///
  /// Nothing is written to any record: the references stay as they were written, lead to nothing as before, and hold
  /// no wait up any more, in the stores of this group and in those that read from them; nor do others that come
  /// later. Should such a record come after all, what refers to it leads to it at once.
  ///
  /// - Parameter targets: The records; nil for all that references wait for.
  /// - Returns: How many references waited, each counted in every store in which it did.
  /// - Throws: ``SyncError``: `notAwaited` for a record that no reference waits for, `notAllowed` for one that has
  ///   arrived and waits in quarantine itself, in both cases before anything is done; `contention`. Replicas that are
  ///   not open are left alone.
  @discardableResult
  public func abandon(_ targets: [RecordID]? = nil) async throws -> Int {
    let count = try await operating { [self] in
      var group = try group()
      var found: [ParkedReference] = []
      let known = group
      try group.read { member in
        found += try reading(member, in: known).references(from: nil, limit: .max)
      }
      let waiting = Dictionary(grouping: found, by: \.id.target)
      for target in targets ?? [] { try check(target, waiting[target] ?? []) }
      let gone = Set(found.lazy.filter { !$0.isQuarantined }.map(\.id.target))
      let chosen = targets.map(gone.intersection) ?? gone
      var count = 0
      try group.read { count += try $0.access.noteGone(chosen.sorted()) }
      return count
    }
    poke()
    return count
  }

  private func check(_ target: RecordID, _ waiting: [ParkedReference]) throws {
    if waiting.isEmpty {
      throw SyncError(
        .notAwaited,
        "no reference waits for the record \(target) in the stores that are open; it may have arrived",
        recovery: .person)
    }
    guard let place = waiting.first(where: \.isQuarantined)?.store.text else { return }
    throw SyncError(
      .notAllowed,
      "the record \(target) has arrived in \(place) and waits in quarantine there; retry or discard it",
      recovery: .person)
  }

  private func reading(
    _ member: GroupStores.Member, in group: GroupStores
  ) throws -> ParkedReading {
    ParkedReading(
      member: member, awaited: try awaited(in: member),
      others: group.members.filter { $0.name != member.name })
  }

  /// What the links wait for in a store.
  private func awaited(in member: GroupStores.Member) throws -> [AwaitedReferences] {
    if let link = member.link {
      guard link.configuration.direction.pushes, let steps = link.steps else { return [] }
      return [try steps.awaited(in: steps.replica)]
    }
    return try links(nil).filter(\.configuration.direction.pulls).map { link in
      guard let steps = link.steps, let awaited = try? steps.awaited(in: steps.local) else {
        return AwaitedReferences(filter: link.exchanged)
      }
      // A replica that cannot be read tells nothing.
      return AwaitedReferences(
        filter: awaited.filter, hasArrived: { (try? awaited.hasArrived($0)) ?? false })
    }
  }
}
