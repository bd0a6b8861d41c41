import CairnModel
import CairnStore
import Foundation

/// Everything a store in memory holds.
///
/// A value: readers work on a copy, so that a predicate can take its time while others save.
struct MemoryTables: Sendable {
  private var tables: [ObjectIdentifier: MemoryRowTable] = [:]
  private var links = LinkTable()
  private var unique = UniqueIndex()
  private(set) var sidecar = SidecarMaps()
  var history = MemoryHistory()
  /// How keys are given.
  private let manner: Manner
  /// The last key given, when all entities share one sequence.
  private(set) var lastKey: Int64

  /// What tells one kind of store from another.
  enum Manner: Sendable {
    /// Keys for each entity hierarchy.
    case inMemory
    /// One sequence of keys for the whole store, as in Core Data's file formats.
    case wholeFile
  }

  init(manner: Manner = .inMemory, lastKey: Int64 = 0) {
    self.manner = manner
    self.lastKey = lastKey
  }

  // MARK: Reading

  func row(_ id: ManagedObjectID) -> RowSnapshot? {
    guard let key = id.rowKey else { return nil }
    return tables[ObjectIdentifier(id.entity.rootEntity)]?[key]
  }

  /// The rows of an entity in the order of their keys.
  func rows(of entity: EntityDescription, includesSubentities: Bool) -> [RowSnapshot] {
    guard let table = tables[ObjectIdentifier(entity.rootEntity)] else { return [] }
    let wanted = Set(
      (includesSubentities ? entity.selfAndDescendants : [entity]).map(ObjectIdentifier.init))
    return table.inOrder.filter { wanted.contains(ObjectIdentifier($0.objectID.entity)) }
  }

  func fetch(_ request: StoreFetchRequest) throws -> StoreFetchResult {
    try KeyPathCheck.check(request)
    let rows = rows(of: request.entity, includesSubentities: request.includesSubentities)
    return try SnapshotQuery(request, source: MemorySource(tables: self)).run(over: rows)
  }

  /// The members of a to-many relationship that have a row.
  func members(
    of relationship: RelationshipDescription, owner: ManagedObjectID
  ) -> [ManagedObjectID] {
    links.members(of: relationship, owner: owner).filter { row($0) != nil }
  }

  // MARK: Writing

  /// - Throws: 134030 when a damaged file has come to the last key there is.
  mutating func nextKey(for entity: EntityDescription) throws -> Int64 {
    if manner == .wholeFile {
      lastKey = try Self.key(after: lastKey)
      return lastKey
    }
    return try tables[ObjectIdentifier(entity.rootEntity), default: MemoryRowTable()].nextKey()
  }

  /// - Throws: 134030 when there is none.
  static func key(after last: Int64) throws -> Int64 {
    guard last < .max else {
      throw CoreDataError(
        .persistentStoreSave,
        "The store is damaged: its keys have come to \(last), and there are no more. Restore the "
          + "store from a backup.")
    }
    return last + 1
  }

  /// Writes everything in the request, or nothing.
  ///
  /// - Throws: 134030 when a row to insert exists.
  mutating func save(_ request: SaveChangesRequest, tracksHistory: Bool) throws -> SaveOutcome {
    if let key = sidecar.firstUnmet(of: request.sidecar) { return .sidecarChanged(key) }
    let conflicts = conflicts(in: request)
    if !conflicts.isEmpty { return .conflicts(conflicts) }
    let replaced = Set(
      request.updates.map(\.snapshot.objectID) + request.deletions.map(\.objectID))
    let violations = unique.violations(
      writing: request.insertions.map(\.snapshot) + request.updates.map(\.snapshot),
      replaced: replaced, stored: row)
    if !violations.isEmpty { return .constraintViolations(violations) }
    for insertion in request.insertions where row(insertion.snapshot.objectID) != nil {
      throw CoreDataError(
        .persistentStoreSave,
        "The object \(insertion.snapshot.objectID) cannot be inserted: it is in the store already.")
    }
    // Nothing can fail from here on.
    for deletion in request.deletions { remove(deletion.objectID) }
    for insertion in request.insertions { write(insertion.snapshot.with(version: 1)) }
    for update in request.updates {
      // A damaged file may have the greatest.
      let version = (row(update.snapshot.objectID)?.version ?? 0) &+ 1
      write(update.snapshot.with(version: version))
    }
    links.apply(request.links)
    derive(for: request)
    let number = tracksHistory ? history.record(request) : nil
    sidecar.apply(request.sidecar, transaction: number)
    let written = (request.insertions.map(\.snapshot) + request.updates.map(\.snapshot))
      .compactMap { row($0.objectID) }
    return .saved(SaveReceipt(snapshots: written, transactionNumber: number))
  }

  mutating func purgeHistory(before number: Int64?, date: Date?) -> Int {
    let purged = history.purge(before: number, date: date)
    for transaction in purged {
      let birth = RowBirth(transaction: transaction.number, date: transaction.date)
      for change in transaction.changes {
        guard let key = RowBirth.key(of: change.objectID) else { continue }
        let place = SidecarKey(map: RowBirth.map, key: key)
        switch change.kind {
        case .insert:
          guard sidecar[SidecarKey(map: RowBirth.takenUpMap, key: key)] == nil,
            row(change.objectID) != nil
          else { continue }
          sidecar.apply([.put(place, birth.encoded)], transaction: nil)
        case .delete: sidecar.apply([.remove(place)], transaction: nil)
        case .update: break
        }
      }
    }
    return purged.count
  }

  /// Rows that are not as the request's changes were based on.
  private func conflicts(in request: SaveChangesRequest) -> [RowConflict] {
    var conflicts: [RowConflict] = []
    func check(_ id: ManagedObjectID, _ version: Int64) {
      let stored = row(id)
      if stored?.version != version {
        conflicts.append(RowConflict(objectID: id, expectedVersion: version, persisted: stored))
      }
    }
    for update in request.updates where !update.overwritesConflicts {
      check(update.snapshot.objectID, update.version)
    }
    for deletion in request.deletions where !deletion.overwritesConflicts {
      check(deletion.objectID, deletion.version)
    }
    for lock in request.locks { check(lock.objectID, lock.version) }
    return conflicts
  }

  private mutating func write(_ row: RowSnapshot) {
    guard let key = row.objectID.rowKey else { return }
    let row = Self.withoutTransientValues(row)
    let old = self.row(row.objectID)
    links.update(from: old, to: row)
    tables[ObjectIdentifier(row.objectID.entity.rootEntity), default: MemoryRowTable()].set(
      row, at: key)
    if let old { unique.remove(old) }
    unique.insert(row)
  }

  private mutating func remove(_ id: ManagedObjectID) {
    guard let key = id.rowKey, let row = row(id) else { return }
    unique.remove(row)
    links.update(from: row, to: nil)
    links.removeAll(of: id)
    tables[ObjectIdentifier(id.entity.rootEntity)]?.remove(at: key)
  }

  /// A store keeps no transient values.
  private static func withoutTransientValues(_ row: RowSnapshot) -> RowSnapshot {
    guard let layout = row.objectID.entity.layout,
      layout.persistentSlots.count != layout.slots.count
    else { return row }
    var values = row.values
    for (slot, content) in layout.slots.enumerated() where content.isTransient {
      values[slot] = .null
    }
    return .make(objectID: row.objectID, version: row.version, values: values)
  }

  // MARK: Whole files

  /// Takes a row as a file has it.
  mutating func load(_ row: RowSnapshot) {
    write(row)
    lastKey = max(lastKey, row.objectID.rowKey ?? 0)
  }

  /// Takes what a file says about one side of a to-many relationship.
  mutating func load(
    members: [ManagedObjectID], of relationship: RelationshipDescription, owner: ManagedObjectID
  ) {
    links.load(members, of: relationship, owner: owner)
  }

  /// Adds what a file says on one side of a relationship only to the other side.
  mutating func completeInverses(of model: ManagedObjectModel) {
    var seen: Set<ObjectIdentifier> = []
    for entity in model.entities {
      for relationship in entity.layout?.toManys ?? []
      where seen.insert(ObjectIdentifier(relationship)).inserted {
        links.completeInverse(of: relationship)
      }
    }
  }

  /// The keys up to this one are not given again.
  mutating func reserveKeys(through key: Int64) { lastKey = max(lastKey, key) }

  /// All rows, by ascending key.
  var allRows: [RowSnapshot] {
    tables.values.flatMap(\.inOrder).sorted {
      ($0.objectID.rowKey ?? 0) < ($1.objectID.rowKey ?? 0)
    }
  }

  // MARK: Derived attributes

  /// Computes the derived attributes of the rows that were written or whose links changed.
  private mutating func derive(for request: SaveChangesRequest) {
    var ids = request.insertions.map(\.snapshot.objectID)
    ids += request.updates.map(\.snapshot.objectID)
    ids += request.links.map(\.owner)
    var seen: Set<ManagedObjectID> = []
    for id in ids where Self.hasDerivedAttributes(id.entity) && seen.insert(id).inserted {
      guard let row = row(id), let layout = id.entity.layout else { continue }
      var values = row.values
      let view = SnapshotView(row, source: MemorySource(tables: self))
      for (slot, content) in layout.slots.enumerated() {
        guard let attribute = content.attribute as? DerivedAttributeDescription,
          let expression = attribute.derivationExpression,
          let value = try? expression.value(for: view)
        else { continue }
        values[slot] = (try? AttributeCoding.encode(value, for: attribute)) ?? .null
      }
      write(.make(objectID: id, version: row.version, values: values))
    }
  }

  private static func hasDerivedAttributes(_ entity: EntityDescription) -> Bool {
    entity.layout?.slots.contains { $0.attribute is DerivedAttributeDescription } ?? false
  }
}

/// Rows and members for predicates, from one state of the tables.
final class MemorySource: SnapshotSource {
  private let tables: MemoryTables

  init(tables: MemoryTables) {
    self.tables = tables
  }

  func snapshot(for id: ManagedObjectID) -> RowSnapshot? { tables.row(id) }

  func members(
    of relationship: RelationshipDescription, owner: ManagedObjectID
  ) -> [ManagedObjectID] {
    tables.members(of: relationship, owner: owner)
  }
}
