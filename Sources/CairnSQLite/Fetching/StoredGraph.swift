import CairnModel
import CairnStore

/// The rows that evaluation in memory reaches through relationships, read as they are needed, each
/// once; and the first error that reading met.
final class StoredGraph: SnapshotSource {
  private let lookup: RowLookup
  private var rows: [ManagedObjectID: RowSnapshot?] = [:]
  private var error: (any Error)?

  init(lookup: RowLookup) {
    self.lookup = lookup
  }

  func view(_ snapshot: RowSnapshot) -> SnapshotView {
    rows[snapshot.objectID] = snapshot
    return SnapshotView(snapshot, source: self)
  }

  func snapshot(for id: ManagedObjectID) -> RowSnapshot? {
    if let known = rows[id] { return known }
    return noting(nil) {
      let row = try lookup.snapshot(for: id)
      rows[id] = .some(row)
      return row
    }
  }

  func members(
    of relationship: RelationshipDescription, owner: ManagedObjectID
  ) -> [ManagedObjectID] {
    noting([]) {
      let members = try lookup.members(of: relationship, owners: [owner])[0]
      let unread = members.filter { rows[$0] == nil }
      for (id, row) in zip(unread, try lookup.snapshots(for: unread)) { rows[id] = .some(row) }
      return members
    }
  }

  private func noting<T>(_ fallback: T, _ body: () throws -> T) -> T {
    do {
      return try body()
    } catch {
      self.error = self.error ?? error
      return fallback
    }
  }

  /// Rethrows what following relationships met.
  func checkReading() throws {
    if let error { throw error }
  }
}
