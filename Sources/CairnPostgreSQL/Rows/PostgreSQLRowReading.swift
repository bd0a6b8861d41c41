import CairnModel
import CairnSQL
import CairnStore

/// Reads rows and members over one connection.
struct PostgreSQLRowReading {
  let content: StoreContent
  let connection: PostgreSQLConnection

  private var schema: PostgreSQLSchema { content.schema }

  // MARK: Rows

  /// The rows with the given keys in the table of an entity's hierarchy, in any order.
  func rows(_ keys: [Int64], inHierarchyOf entity: SQLEntity) throws -> [RowSnapshot] {
    guard let (statement, shape) = selection(of: keys, inHierarchyOf: entity) else { return [] }
    return try snapshots(connection.run(statement.text, statement.parameters), shape)
  }

  private func selection(
    of keys: [Int64], inHierarchyOf entity: SQLEntity
  ) -> (statement: Statement, shape: RowShape)? {
    guard let root = schema.sql.entity(number: entity.rootNumber) else { return nil }
    let shape = content.shapes.shape(of: root, includesSubentities: true)
    var parameters = ParameterList()
    parameters.append(keys: keys)
    return (Statement(shape.selectionOfKeys, parameters), shape)
  }

  /// The row of one object: what each fault asks for.
  func snapshot(for objectID: ManagedObjectID) throws -> RowSnapshot? {
    guard let key = objectID.rowKey,
      let root = schema.sql.entity(number: schema.sql.entity(objectID.entity).rootNumber)
    else { return nil }
    let shape = content.shapes.shape(of: root, includesSubentities: true)
    var parameters = ParameterList()
    parameters.append(key)
    let rows = try connection.run(shape.selectionOfKey, parameters)
    return rows.count == 1 ? try snapshot(rows, 0, shape) : nil
  }

  private func snapshots(_ rows: PostgreSQLRows, _ shape: RowShape) throws -> [RowSnapshot] {
    try (0..<rows.count).compactMap { try snapshot(rows, $0, shape) }
  }

  /// The rows of objects, in their order; nil where there is none.
  func snapshots(for objectIDs: [ManagedObjectID]) throws -> [RowSnapshot?] {
    var keys: [Int: [Int64]] = [:]
    for id in objectIDs {
      guard let key = id.rowKey else { continue }
      keys[schema.sql.entity(id.entity).rootNumber, default: []].append(key)
    }
    let selections = keys.keys.sorted().compactMap { root in
      schema.sql.entity(number: root).flatMap {
        selection(of: keys[root] ?? [], inHierarchyOf: $0)
      }.map { (root: root, statement: $0.statement, shape: $0.shape) }
    }
    // One round trip, whatever the number of tables.
    let results = try connection.run(selections.map(\.statement))
    var found: [Int: [Int64: RowSnapshot]] = [:]
    for (selection, rows) in zip(selections, results) {
      for row in try snapshots(rows, selection.shape) {
        if let key = row.rowKey { found[selection.root, default: [:]][key] = row }
      }
    }
    return objectIDs.map { id in
      id.rowKey.flatMap { found[schema.sql.entity(id.entity).rootNumber]?[$0] }
    }
  }

  /// Nil for a row of an entity that the model does not have, which another program wrote.
  func snapshot(_ rows: PostgreSQLRows, _ row: Int, _ shape: RowShape) throws -> RowSnapshot? {
    guard let number = rows.integer(row, 0), let key = rows.integer(row, 1),
      let version = rows.integer(row, 2),
      let places = shape.places(of: Int(truncatingIfNeeded: number)),
      let id = content.objectID(entity: Int(truncatingIfNeeded: number), key: key)
    else { return nil }
    var failure: (any Error)?
    let snapshot = RowSnapshot.make(objectID: id, version: version, count: places.count) { slots in
      for slot in places.indices {
        do {
          slots.initialize(slot, to: try value(of: places[slot], rows, row))
        } catch {
          slots.initialize(slot, to: .null)
          failure = error
        }
      }
    }
    if let failure { throw failure }
    return snapshot
  }

  @inline(__always)
  private func value(
    of place: RowShape.Place, _ rows: PostgreSQLRows, _ row: Int
  ) throws -> AttributeValue {
    switch place {
    case .transient: return .null
    case .value(let form, let column): return try form.value(rows, row, column)
    case .toOne(let column, let companion, let destination):
      guard let key = rows.integer(row, column) else { return .null }
      let exact = companion.flatMap { rows.integer(row, $0) }.map { Int(truncatingIfNeeded: $0) }
      return content.objectID(entity: exact ?? destination, key: key, within: destination)
        .map { .object($0) } ?? .null
    }
  }

  // MARK: Members

  /// The members of a relationship of each owner.
  func members(
    of relationship: RelationshipDescription, owners: [ManagedObjectID]
  ) throws -> [[ManagedObjectID]] {
    guard let link = content.link(of: relationship),
      let destination = relationship.destinationEntity.map({ schema.sql.entity($0) })
    else { return owners.map { _ in [] } }
    var parameters = ParameterList()
    parameters.append(keys: owners.compactMap(\.rowKey))
    let rows = try connection.run(
      link.selection(from: schema.place(ofTable: destination.table)), parameters)
    return members(in: rows, owners: owners)
  }

  /// - Parameter rows: Those of ``LinkPlace/selection(from:)``.
  func members(in rows: PostgreSQLRows, owners: [ManagedObjectID]) -> [[ManagedObjectID]] {
    var members: [Int64: [ManagedObjectID]] = [:]
    for row in 0..<rows.count {
      guard let owner = rows.integer(row, 0), let number = rows.integer(row, 1),
        let key = rows.integer(row, 2),
        let id = content.objectID(entity: Int(truncatingIfNeeded: number), key: key)
      else { continue }
      members[owner, default: []].append(id)
    }
    return owners.map { owner in owner.rowKey.flatMap { members[$0] } ?? [] }
  }
}

extension ParameterList {
  /// Adds many keys, for `= ANY`.
  mutating func append(keys: [Int64]) {
    var array = ArrayValue(of: .bigint)
    for key in keys { array.append(key) }
    append(array)
  }
}
