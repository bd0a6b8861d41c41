import CairnModel
import CairnStore

/// Further rows for the evaluator, those that predicates and sort descriptors reach through relationships, each read once;
/// and the first failure that reading met.
final class RowGraph: SnapshotSource {
  private let reading: PostgreSQLRowReading
  private var known: [ManagedObjectID: RowSnapshot?] = [:]
  private var knownMembers: [Members: [ManagedObjectID]] = [:]
  private var failure: (any Error)?

  private struct Members: Hashable {
    let relationship: ObjectIdentifier
    let owner: ManagedObjectID
  }

  init(_ reading: PostgreSQLRowReading) { self.reading = reading }

  /// Reads what key paths reach from rows, one step of all of them at a time: asked row by row, each would be a round trip.
  func prepare(_ rows: [RowSnapshot], for paths: some Sequence<String>) {
    for path in paths { follow(path.split(separator: ".")[...], from: rows) }
  }

  private func follow(_ steps: ArraySlice<Substring>, from rows: [RowSnapshot]) {
    guard let step = steps.first.map(String.init), !rows.isEmpty else { return }
    var reached: [ManagedObjectID] = []
    var owners:
      [ObjectIdentifier: (relationship: RelationshipDescription, ids: [ManagedObjectID])] =
        [:]
    for row in rows {
      let entity = row.objectID.entity
      guard let relationship = entity.propertiesByName[step] as? RelationshipDescription else {
        continue
      }
      if relationship.isToMany {
        owners[ObjectIdentifier(relationship), default: (relationship, [])].ids.append(row.objectID)
      } else if let slot = entity.layout.slotByName[step], case .object(let id) = row[slot] {
        reached.append(id)
      }
    }
    for (identity, (relationship, ids)) in owners {
      guard let members = read({ try reading.members(of: relationship, owners: ids) }) else {
        return
      }
      for (owner, members) in zip(ids, members) {
        knownMembers[Members(relationship: identity, owner: owner)] = members
        reached += members
      }
    }
    let distinct = Array(Set(reached))
    let unread = distinct.filter { known[$0] == nil }
    guard let found = read({ try reading.snapshots(for: unread) }) else { return }
    for (id, row) in zip(unread, found) { known[id] = .some(row) }
    follow(steps.dropFirst(), from: distinct.compactMap { known[$0] ?? nil })
  }

  func view(_ row: RowSnapshot) -> SnapshotView { SnapshotView(row, source: self) }

  func snapshot(for id: ManagedObjectID) -> RowSnapshot? {
    if let row = known[id] { return row }
    let row = read { try reading.snapshots(for: [id]).first ?? nil } ?? nil
    known[id] = .some(row)
    return row
  }

  func members(
    of relationship: RelationshipDescription, owner: ManagedObjectID
  ) -> [ManagedObjectID] {
    let place = Members(relationship: ObjectIdentifier(relationship), owner: owner)
    if let members = knownMembers[place] { return members }
    let found: [ManagedObjectID]? = read {
      let members = try reading.members(of: relationship, owners: [owner]).first ?? []
      let unread = members.filter { known[$0] == nil }
      for (id, row) in zip(unread, try reading.snapshots(for: unread)) { known[id] = .some(row) }
      return members
    }
    let members = found ?? []
    knownMembers[place] = members
    return members
  }

  private func read<Value>(_ body: () throws -> Value) -> Value? {
    if failure != nil { return nil }
    do {
      return try body()
    } catch {
      failure = error
      return nil
    }
  }

  /// Rethrows what following relationships met: the evaluator cannot throw there.
  func checkReading() throws {
    if let failure { throw failure }
  }
}
