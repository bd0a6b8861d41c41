import CairnStore
import Foundation

// The conflict journal: looking, and taking a value back. Specification: sync.md 7.

extension SyncEngine {
  /// A page of the conflict journal.
  ///
  /// An entry that several stores have is listed once. However long the journal is, a page's worth of
  /// it is in memory.
  ///
  /// - Parameters:
  ///   - after: ``ConflictPage/next`` of the page before; nil for the first.
  ///   - limit: At most so many, 1 to 10,000.
  ///   - names: The stores whose journals to read, replicas or `local`; nil for all.
  /// - Throws: ``SyncError``: `noSuchReplica`, or what reading the local store brings.
  ///   ``ConflictPage/away`` tells of replicas that are not open.
  public func conflicts(
    matching filter: ConflictFilter = ConflictFilter(), after: ConflictCursor? = nil,
    limit: Int = 100, in names: [String]? = nil
  ) async throws -> ConflictPage {
    try await operating { [self] in
      let group = try group(names)
      let members = group.members(names)
      let count = max(1, min(limit, 10_000))
      var reading = JournalReading(members, after: after?.key)
      var found: [JournaledConflict] = []
      var damaged = 0
      var last: Data?
      let ledger = try local.ledger()
      while let item = try reading.next() {
        guard let conflict = group.conflict(item) else {
          damaged += 1
          continue
        }
        guard try filter.matches(conflict.entry, resolve: ledger.resolve) else { continue }
        if found.count == count {
          return ConflictPage(
            conflicts: found, next: last.map(ConflictCursor.init(key:)), damaged: damaged,
            away: group.away)
        }
        found.append(conflict)
        last = item.key
      }
      return ConflictPage(conflicts: found, next: nil, damaged: damaged, away: group.away)
    }
  }

  /// The conflict with an ID, out of the local store's journal or that of a replica that is open.
  ///
  /// - Throws: ``SyncError`` with `noSuchConflict`.
  public func conflict(_ id: RecordID) async throws -> JournaledConflict {
    try await operating { [self] in try findConflict(id, in: try group()) }
  }

  func findConflict(_ id: RecordID, in group: GroupStores) throws -> JournaledConflict {
    if let item = try JournalReading.find(id, in: group.members),
      let conflict = group.conflict(item)
    {
      return conflict
    }
    let unread = group.away.map(\.name).joined(separator: ", ")
    throw SyncError(
      .noSuchConflict,
      "no journal has a conflict \(id); entries go once they are older than the retention"
        + (unread.isEmpty ? "" : ". Not open, so not read: \(unread)"),
      recovery: .person)
  }
}

extension GroupStores {
  /// The members with the names, nil for all.
  func members(_ names: [String]?) -> [Member] {
    guard let names else { return members }
    return members.filter { names.contains($0.name) }
  }
}
