import CairnModel
import CairnStore
import Foundation

/// The nodes of an atomic store, found by ID and by entity, and the rows made of them.
struct NodeCache {
  private var tables: [ObjectIdentifier: [ObjectKey: AtomicStoreCacheNode]] = [:]
  /// Rows made of nodes; forgotten when a node changes.
  private var rows: [ManagedObjectID: RowSnapshot] = [:]
  /// Versions above 1, for finding conflicts while the store is open.
  private var versions: [ManagedObjectID: Int64] = [:]
  /// The highest reference that is a number.
  private(set) var highestNumber: Int64 = 0

  // MARK: Nodes

  var all: [AtomicStoreCacheNode] { tables.values.flatMap(\.values) }

  func node(for id: ManagedObjectID) -> AtomicStoreCacheNode? {
    tables[ObjectIdentifier(id.entity.rootEntity)]?[id.key]
  }

  /// The nodes of an entity, in the order of their references.
  func nodes(of entity: EntityDescription, withSubentities: Bool) -> [AtomicStoreCacheNode] {
    let wanted = Set(
      (withSubentities ? entity.selfAndDescendants : [entity]).map(ObjectIdentifier.init))
    let table = tables[ObjectIdentifier(entity.rootEntity)] ?? [:]
    return table.values.filter { wanted.contains(ObjectIdentifier($0.objectID.entity)) }
      .sorted { Self.precedes($0.objectID.key, $1.objectID.key) }
  }

  mutating func add(_ node: AtomicStoreCacheNode) {
    let id = node.objectID
    tables[ObjectIdentifier(id.entity.rootEntity), default: [:]][id.key] = node
    rows[id] = nil
    if case .row(let number) = id.key { highestNumber = max(highestNumber, number) }
  }

  mutating func remove(_ node: AtomicStoreCacheNode) {
    let id = node.objectID
    tables[ObjectIdentifier(id.entity.rootEntity)]?[id.key] = nil
    rows[id] = nil
    versions[id] = nil
  }

  /// Nodes that refer to each other would never be freed.
  func takeValues() {
    for node in all { node.propertyCache = nil }
  }

  /// Numbers come first, in their order.
  private static func precedes(_ a: ObjectKey, _ b: ObjectKey) -> Bool {
    switch (a, b) {
    case (.row(let x), .row(let y)): return x < y
    case (.row, _): return true
    case (_, .row): return false
    case (.reference(let x), .reference(let y)): return x < y
    case (.temporary(let x), .temporary(let y)): return x < y
    case (.reference, .temporary): return true
    case (.temporary, .reference): return false
    }
  }

  // MARK: Rows

  /// The row of a node.
  ///
  /// - Throws: 134070 when the node holds a value of the wrong class.
  mutating func row(of node: AtomicStoreCacheNode) throws -> RowSnapshot {
    let id = node.objectID
    if let row = rows[id] { return row }
    let row = try PropertyValues.row(
      of: id, version: versions[id] ?? 1, value: node.value(forKey:)
    ) { relationship in
      node.nodes(forKey: relationship.name).first?.objectID
    }
    rows[id] = row
    return row
  }

  /// The row of an object; nil when there is none.
  mutating func committedRow(of id: ManagedObjectID) throws -> RowSnapshot? {
    try node(for: id).map { try row(of: $0) }
  }

  mutating func forgetRows(of nodes: Set<AtomicStoreCacheNode>) {
    for node in nodes { rows[node.objectID] = nil }
  }

  /// The members of a to-many relationship that have a node.
  ///
  /// A node that says nothing about its members has those whose to-one side leads to it.
  func members(
    of relationship: RelationshipDescription, owner: ManagedObjectID
  ) -> [ManagedObjectID] {
    guard let node = node(for: owner) else { return [] }
    var nodes: [AtomicStoreCacheNode]
    if let value = node.value(forKey: relationship.name) {
      nodes = AtomicStoreCacheNode.nodes(in: value)
    } else if let inverse = relationship.inverseRelationship, !inverse.isToMany,
      let destination = relationship.destinationEntity
    {
      nodes = self.nodes(of: destination, withSubentities: true).filter {
        $0.nodes(forKey: inverse.name).first === node
      }
    } else {
      return []
    }
    nodes = nodes.filter { self.node(for: $0.objectID) != nil }
    if !relationship.isOrdered {
      nodes.sort { Self.precedes($0.objectID.key, $1.objectID.key) }
    }
    return nodes.map(\.objectID)
  }

  // MARK: Saving

  /// Rows that are not as the request's changes were based on.
  mutating func conflicts(in request: SaveChangesRequest) throws -> [RowConflict] {
    var conflicts: [RowConflict] = []
    func check(_ id: ManagedObjectID, _ version: Int64, _ row: RowSnapshot?) {
      if row?.version != version {
        conflicts.append(RowConflict(objectID: id, expectedVersion: version, persisted: row))
      }
    }
    for update in request.updates where !update.overwritesConflicts {
      let id = update.snapshot.objectID
      check(id, update.version, try committedRow(of: id))
    }
    for deletion in request.deletions where !deletion.overwritesConflicts {
      let id = deletion.objectID
      check(id, deletion.version, try committedRow(of: id))
    }
    for lock in request.locks {
      check(lock.objectID, lock.version, try committedRow(of: lock.objectID))
    }
    return conflicts
  }

  /// Uniqueness constraints that a request would violate.
  ///
  /// Every save looks at all nodes of the entities: a store's own code changes them as it likes.
  mutating func violations(in request: SaveChangesRequest) throws -> [ConstraintViolation] {
    let written = request.insertions.map(\.snapshot) + request.updates.map(\.snapshot)
    let hasConstraints = written.contains { UniqueIndex.constrains($0.objectID.entity) }
    if !hasConstraints { return [] }
    var unique = UniqueIndex()
    for node in all where UniqueIndex.constrains(node.objectID.entity) {
      unique.insert(try row(of: node))
    }
    let replaced = Set(
      request.updates.map(\.snapshot.objectID) + request.deletions.map(\.objectID))
    return unique.violations(writing: written, replaced: replaced) { rows[$0] }
  }

  /// Counts versions after a save.
  mutating func noteCommit(of request: SaveChangesRequest) {
    for update in request.updates {
      let id = update.snapshot.objectID
      versions[id] = (versions[id] ?? 1) + 1
      rows[id] = nil
    }
  }

  /// What nodes are like before a save, so that a failed one can be undone.
  func backup() -> NodeBackup {
    NodeBackup(
      cache: self,
      properties: all.map { ($0, $0.propertyCache?.mutableCopy() as? NSMutableDictionary) })
  }
}

/// The nodes of a store and their values at one time.
struct NodeBackup {
  let cache: NodeCache
  let properties: [(node: AtomicStoreCacheNode, values: NSMutableDictionary?)]

  /// Gives the nodes their values back, and takes those of nodes that came later.
  func restore(from later: NodeCache) {
    for (node, values) in properties { node.propertyCache = values }
    for node in later.all where cache.node(for: node.objectID) !== node { node.propertyCache = nil }
  }
}

/// Completes relationships of nodes on both sides after a save's objects were put into them.
///
/// A store's own `newCacheNode` and `updateCacheNode` see one object at a time, some of whose
/// neighbours have no node yet; the request says what the links are.
struct NodeLinks {
  private let cache: NodeCache
  private(set) var touched: Set<AtomicStoreCacheNode> = []

  init(cache: NodeCache) { self.cache = cache }

  /// Makes to-one relationships of a written row hold on both sides.
  mutating func complete(_ row: RowSnapshot, after before: RowSnapshot?) {
    guard let node = cache.node(for: row.objectID) else { return }
    touched.insert(node)
    let layout: EntityLayout = row.objectID.entity.layout
    for slot in layout.toOneSlots where !layout.slots[slot].isTransient {
      guard let relationship = layout.slots[slot].relationship else { continue }
      let old = before.flatMap { target(of: $0[slot]) }
      let new = target(of: row[slot])
      node.setNodes(new.map { [$0] } ?? [], for: relationship)
      guard old !== new, let inverse = relationship.inverseRelationship else { continue }
      if let old { remove(node, from: old, inverse) }
      if let new { add(node, to: new, inverse) }
    }
  }

  /// Makes a changed link hold on both sides.
  mutating func apply(_ link: SaveChangesRequest.LinkChange) {
    guard let owner = cache.node(for: link.owner) else { return }
    touched.insert(owner)
    for member in link.removed.compactMap(cache.node(for:)) {
      remove(member, from: owner, link.relationship)
      if let inverse = link.relationship.inverseRelationship {
        remove(owner, from: member, inverse)
      }
    }
    for member in link.added.compactMap(cache.node(for:)) {
      add(member, to: owner, link.relationship)
      if let inverse = link.relationship.inverseRelationship { add(owner, to: member, inverse) }
    }
    guard let order = link.order else { return }
    let members = cache.members(of: link.relationship, owner: link.owner)
    let present = Set(members)
    let placed = order.filter(present.contains)
    let known = Set(placed)
    let all = placed + members.filter { !known.contains($0) }
    owner.setNodes(all.compactMap(cache.node(for:)), for: link.relationship)
  }

  /// Takes a node that will go out of all others.
  mutating func unlink(_ node: AtomicStoreCacheNode) {
    let entity = node.objectID.entity
    for relationship in entity.relationshipsByName.values where !relationship.isTransient {
      guard let inverse = relationship.inverseRelationship else { continue }
      for other in node.nodes(forKey: relationship.name) { remove(node, from: other, inverse) }
    }
  }

  private func target(of value: AttributeValue) -> AtomicStoreCacheNode? {
    if case .object(let id) = value { return cache.node(for: id) }
    return nil
  }

  private mutating func remove(
    _ member: AtomicStoreCacheNode, from owner: AtomicStoreCacheNode,
    _ relationship: RelationshipDescription
  ) {
    let nodes = owner.nodes(forKey: relationship.name)
    guard nodes.contains(where: { $0 === member }) else { return }
    owner.setNodes(nodes.filter { $0 !== member }, for: relationship)
    touched.insert(owner)
  }

  private mutating func add(
    _ member: AtomicStoreCacheNode, to owner: AtomicStoreCacheNode,
    _ relationship: RelationshipDescription
  ) {
    let nodes =
      relationship.isToMany
      ? cache.members(of: relationship, owner: owner.objectID).compactMap(cache.node(for:)) : []
    if nodes.contains(where: { $0 === member }) { return }
    owner.setNodes(nodes + [member], for: relationship)
    touched.insert(owner)
  }
}
