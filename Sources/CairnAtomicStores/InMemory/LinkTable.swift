import CairnModel
import CairnStore

/// Who is linked with whom: for every relationship side the members of each owner.
///
/// To-one slots with an inverse appear here as incoming links, so that a to-many is read without
/// searching the rows.
struct LinkTable {
  /// Members by owner, for many-to-many sides and to-manys without inverse, in their order.
  private var members: [ObjectIdentifier: [ManagedObjectID: [ManagedObjectID]]] = [:]
  /// Objects whose to-one slot names an owner, by that to-one relationship.
  private var incoming: [ObjectIdentifier: [ManagedObjectID: Set<ManagedObjectID>]] = [:]
  /// The order of ordered one-to-many relationships.
  private var orders: [ObjectIdentifier: [ManagedObjectID: [ManagedObjectID]]] = [:]

  // MARK: Reading

  /// The members of a to-many relationship, some of which may have no row any more.
  func members(
    of relationship: RelationshipDescription, owner: ManagedObjectID
  ) -> [ManagedObjectID] {
    guard let inverse = relationship.inverseRelationship, !inverse.isToMany else {
      return members[ObjectIdentifier(relationship)]?[owner] ?? []
    }
    var found = incoming[ObjectIdentifier(inverse)]?[owner] ?? []
    var result: [ManagedObjectID] = []
    if relationship.isOrdered {
      for id in orders[ObjectIdentifier(relationship)]?[owner] ?? [] where found.remove(id) != nil {
        result.append(id)
      }
    }
    return result + found.sorted { ($0.rowKey ?? 0) < ($1.rowKey ?? 0) }
  }

  // MARK: Writing

  /// Notes what the to-one slots of a row say now instead of before; nil for no row.
  mutating func update(from old: RowSnapshot?, to new: RowSnapshot?) {
    guard let id = (new ?? old)?.objectID, let layout = id.entity.layout else { return }
    for (slot, content) in layout.slots.enumerated() {
      guard let relationship = content.relationship, relationship.inverseRelationship != nil else {
        continue
      }
      let before = Self.target(old, slot)
      let after = Self.target(new, slot)
      if before == after { continue }
      let key = ObjectIdentifier(relationship)
      if let before { incoming[key]?[before]?.remove(id) }
      if let after { incoming[key, default: [:]][after, default: []].insert(id) }
    }
  }

  private static func target(_ row: RowSnapshot?, _ slot: Int) -> ManagedObjectID? {
    guard let row, case .object(let id) = row[slot] else { return nil }
    return id
  }

  /// Takes one side of a relationship as a file has it.
  mutating func load(
    _ list: [ManagedObjectID], of relationship: RelationshipDescription, owner: ManagedObjectID
  ) {
    if list.isEmpty { return }
    let key = ObjectIdentifier(relationship)
    if let inverse = relationship.inverseRelationship, !inverse.isToMany {
      if relationship.isOrdered { orders[key, default: [:]][owner] = list }
      return
    }
    members[key, default: [:]][owner] = list
  }

  /// Adds the links of a many-to-many relationship that only its own side knows to the inverse.
  mutating func completeInverse(of relationship: RelationshipDescription) {
    guard let inverse = relationship.inverseRelationship, inverse.isToMany else { return }
    let owners = members[ObjectIdentifier(relationship)] ?? [:]
    var known: [ManagedObjectID: Set<ManagedObjectID>] = [:]
    let key = ObjectIdentifier(inverse)
    for (owner, list) in owners.sorted(by: { ($0.key.rowKey ?? 0) < ($1.key.rowKey ?? 0) }) {
      for member in list {
        if known[member] == nil { known[member] = Set(members[key]?[member] ?? []) }
        if known[member]?.insert(owner).inserted ?? false {
          members[key, default: [:]][member, default: []].append(owner)
        }
      }
    }
  }

  /// Applies changes of links, on both sides where there are two.
  mutating func apply(_ changes: [SaveChangesRequest.LinkChange]) {
    for change in changes { link(change) }
    // An order may name members whose links were reported from their side.
    for change in changes { arrange(change) }
  }

  private mutating func arrange(_ change: SaveChangesRequest.LinkChange) {
    guard let order = change.order else { return }
    let relationship = change.relationship
    let key = ObjectIdentifier(relationship)
    if let inverse = relationship.inverseRelationship, !inverse.isToMany {
      orders[key, default: [:]][change.owner] = order
      return
    }
    let list = members[key]?[change.owner] ?? []
    let present = Set(list)
    let placed = order.filter { present.contains($0) }
    let rest = Set(placed)
    members[key, default: [:]][change.owner] = placed + list.filter { !rest.contains($0) }
  }

  private mutating func link(_ change: SaveChangesRequest.LinkChange) {
    let relationship = change.relationship
    let key = ObjectIdentifier(relationship)
    if let inverse = relationship.inverseRelationship, !inverse.isToMany { return }
    var list = members[key]?[change.owner] ?? []
    let removed = Set(change.removed)
    list.removeAll { removed.contains($0) }
    for id in change.added where !list.contains(id) { list.append(id) }
    members[key, default: [:]][change.owner] = list
    guard let inverse = relationship.inverseRelationship else { return }
    let inverseKey = ObjectIdentifier(inverse)
    for id in change.removed { members[inverseKey]?[id]?.removeAll { $0 == change.owner } }
    for id in change.added {
      if members[inverseKey]?[id]?.contains(change.owner) ?? false { continue }
      members[inverseKey, default: [:]][id, default: []].append(change.owner)
    }
  }

  /// Forgets the links of a deleted object.
  mutating func removeAll(of id: ManagedObjectID) {
    guard let layout = id.entity.layout else { return }
    for relationship in layout.toManys {
      let key = ObjectIdentifier(relationship)
      orders[key]?[id] = nil
      let linked = members[key]?.removeValue(forKey: id) ?? []
      guard let inverse = relationship.inverseRelationship else { continue }
      for other in linked {
        members[ObjectIdentifier(inverse)]?[other]?.removeAll { $0 == id }
      }
    }
  }
}
