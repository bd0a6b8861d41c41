import CairnModel
import CairnStore

/// A store as it will be once a save request is written: what objects of a context made for the
/// request read.
final class RequestRows: RowSource {
  private let request: SaveChangesRequest
  private let store: PersistentStore
  private var written: [ManagedObjectID: RowSnapshot] = [:]
  private let inserted: Set<ManagedObjectID>
  private let deleted: Set<ManagedObjectID>

  init(request: SaveChangesRequest, store: PersistentStore) {
    self.request = request
    self.store = store
    inserted = Set(request.insertions.map(\.snapshot.objectID))
    deleted = Set(request.deletions.map(\.objectID))
    for row in request.insertions.map(\.snapshot) + request.updates.map(\.snapshot)
      + request.deletions.compactMap(\.snapshot)
    {
      written[row.objectID] = row
    }
  }

  func rows(for ids: [ManagedObjectID], maximumAge: Double?) throws -> [RowSnapshot?] {
    try ids.map { id in try written[id] ?? store.snapshots(for: [id])[0] }
  }

  func retainedRow(for id: ManagedObjectID, maximumAge: Double?) throws -> RowSnapshot? {
    try written[id] ?? store.snapshot(for: id)
  }

  func members(
    of relationship: RelationshipDescription, owners: [ManagedObjectID]
  ) throws -> [[ManagedObjectID]] {
    try owners.map { try members(of: relationship, owner: $0) }
  }

  private func members(
    of relationship: RelationshipDescription, owner: ManagedObjectID
  ) throws -> [ManagedObjectID] {
    var list =
      inserted.contains(owner)
      ? [] : try store.members(of: relationship, owners: [owner])[0]
    var order: [ManagedObjectID]?
    if let inverse = relationship.inverseRelationship, !inverse.isToMany {
      for row in request.insertions.map(\.snapshot) + request.updates.map(\.snapshot) {
        guard let slot = row.objectID.entity.layout.slotByName[inverse.name] else { continue }
        list.removeAll { $0 == row.objectID }
        if row[slot] == .object(owner) { list.append(row.objectID) }
      }
    }
    for link in request.links {
      if link.relationship.name == relationship.name, link.owner == owner {
        list.removeAll { link.removed.contains($0) }
        list += link.added.filter { !list.contains($0) }
        order = link.order ?? order
      } else if link.relationship === relationship.inverseRelationship {
        if link.removed.contains(owner) { list.removeAll { $0 == link.owner } }
        if link.added.contains(owner), !list.contains(link.owner) { list.append(link.owner) }
      }
    }
    list.removeAll { deleted.contains($0) }
    guard let order else { return list }
    let placed = order.filter(list.contains)
    return placed + list.filter { !placed.contains($0) }
  }

  func fetch(
    _ request: StoreFetchRequest, in stores: [PersistentStore]?, includingPending: Bool
  ) throws -> StoreFetchResult {
    try store.fetch(request)
  }

  func retainRows(_ ids: [ManagedObjectID]) {}
  func releaseRows(_ ids: [ManagedObjectID]) {}
  func temporaryID(of id: ManagedObjectID) -> ManagedObjectID? { nil }
  func permanentID(of id: ManagedObjectID) -> ManagedObjectID? { nil }
}
