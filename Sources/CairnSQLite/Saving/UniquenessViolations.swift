import CairnModel
import CairnSQL
import CairnStore
import Foundation

/// Finds out which constraint a refused row violates, and with whom.
struct UniquenessViolations {
  private struct Place: Hashable {
    let table: String
    let columns: [String]
    let other: Int64
  }
  private struct Entry {
    let constraint: SQLConstraint
    var objectIDs: [ManagedObjectID]
    let persisted: RowSnapshot?
  }

  private let lookup: RowLookup
  /// Keys of rows that the request itself writes, by table.
  private var own: [String: Set<Int64>] = [:]
  private var entries: [Place: Entry] = [:]
  private var order: [Place] = []

  init(lookup: RowLookup, request: SaveChangesRequest) {
    self.lookup = lookup
    guard lookup.schema.hasConstraints else { return }
    let written = request.insertions.map(\.snapshot) + request.updates.map(\.snapshot)
    for snapshot in written {
      let entity = lookup.schema.entity(snapshot.objectID.entity)
      guard !entity.constraints.isEmpty, let key = snapshot.objectID.rowKey else { continue }
      own[entity.table, default: []].insert(key)
    }
  }

  var isEmpty: Bool { entries.isEmpty }

  var list: [ConstraintViolation] {
    order.compactMap { entries[$0] }.map { entry in
      ConstraintViolation(
        entity: entry.constraint.entity, constraint: entry.constraint.names,
        objectIDs: entry.objectIDs, persisted: entry.persisted)
    }
  }

  /// Takes up a refused row.
  ///
  /// - Throws: the error itself when it is no violation of a constraint of the model.
  mutating func add(_ error: any Error, snapshot: RowSnapshot, entity: SQLEntity) throws {
    guard let failure = SQLiteResultCode.failure(in: error),
      SQLiteResultCode.isUniqueViolation(failure)
    else { throw error }
    var isExplained = false
    for constraint in entity.constraints {
      guard let other = try otherRow(constraint, snapshot, entity) else { continue }
      isExplained = true
      add(snapshot.objectID, constraint, entity, other)
    }
    if !isExplained { throw error }
  }

  private mutating func add(
    _ objectID: ManagedObjectID, _ constraint: SQLConstraint, _ entity: SQLEntity,
    _ other: RowSnapshot
  ) {
    let key = other.objectID.rowKey ?? 0
    let place = Place(table: entity.table, columns: constraint.columns, other: key)
    if entries[place] != nil {
      entries[place]?.objectIDs.append(objectID)
      return
    }
    let isOwn = own[entity.table]?.contains(key) ?? false
    entries[place] = Entry(
      constraint: constraint, objectIDs: isOwn ? [other.objectID, objectID] : [objectID],
      persisted: isOwn ? nil : other)
    order.append(place)
  }

  /// The row that already has the values of a constraint.
  private func otherRow(
    _ constraint: SQLConstraint, _ snapshot: RowSnapshot, _ entity: SQLEntity
  ) throws -> RowSnapshot? {
    let root = lookup.schema.entity(number: entity.rootNumber) ?? entity
    let shape = lookup.schema.shape(root, includingSubentities: true)
    let conditions = constraint.columns.map { "t0.\($0) = ?" }.joined(separator: " AND ")
    let statement = try lookup.connection.statement(
      "SELECT \(shape.list) FROM \(entity.table) t0 WHERE \(conditions) "
        + "AND t0.Z_PK <> ? LIMIT 1")
    defer { statement.reset() }
    for (index, slot) in constraint.slots.enumerated() {
      if snapshot[slot].isNull { return nil }
      statement.bind(snapshot[slot], at: Int32(index + 1))
    }
    statement.bind(snapshot.objectID.rowKey ?? 0, at: Int32(constraint.slots.count + 1))
    guard try statement.step() else { return nil }
    return lookup.reader.snapshot(statement, shape: shape)
  }
}
