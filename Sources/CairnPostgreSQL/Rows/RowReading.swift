import CairnModel
import CairnSQL
import CairnStore

/// Reads rows and members over one connection.
struct RowReading {
  let content: StoreContent
  let connection: PostgreSQLConnection

  private var schema: PostgreSQLSchema { content.schema }

  // MARK: Rows

  /// The rows of an entity in the order of their keys.
  func rows(
    of entity: EntityDescription, includesSubentities: Bool, limit: Int = 0, offset: Int = 0
  ) throws -> [RowSnapshot] {
    let shape = shape(of: entity, includesSubentities)
    let (condition, parameters) = window(on: shape, limit: limit, offset: offset)
    return try select(shape, condition, parameters)
  }

  /// Their IDs alone.
  func objectIDs(
    of entity: EntityDescription, includesSubentities: Bool, limit: Int, offset: Int
  ) throws -> [ManagedObjectID] {
    let shape = shape(of: entity, includesSubentities)
    let (condition, parameters) = window(on: shape, limit: limit, offset: offset)
    let number = "t." + SQLText.name(PostgreSQLSchemaBuilder.entity)
    let rows = try connection.run(
      "SELECT \(number), \(key) FROM \(shape.table) t\(condition)", parameters)
    return (0..<rows.count).compactMap { row in
      guard let number = rows.integer(row, 0), let key = rows.integer(row, 1) else { return nil }
      return content.objectID(entity: Int(truncatingIfNeeded: number), key: key)
    }
  }

  private func shape(of entity: EntityDescription, _ includesSubentities: Bool) -> RowShape {
    content.shapes.shape(
      of: schema.sql.entity(entity), includesSubentities: includesSubentities)
  }

  private func window(on shape: RowShape, limit: Int, offset: Int) -> (String, ParameterList) {
    var (condition, parameters) = condition(on: shape)
    condition += " ORDER BY \(key)"
    if limit > 0 {
      parameters.append(Int64(limit))
      condition += " LIMIT $\(parameters.count)"
    }
    if offset > 0 {
      parameters.append(Int64(offset))
      condition += " OFFSET $\(parameters.count)"
    }
    return (condition, parameters)
  }

  /// How many rows an entity has.
  func count(of entity: EntityDescription, includesSubentities: Bool) throws -> Int {
    let shape = shape(of: entity, includesSubentities)
    let (condition, parameters) = condition(on: shape)
    let rows = try connection.run("SELECT count(*) FROM \(shape.table) t\(condition)", parameters)
    return Int(clamping: rows.integer(0, 0) ?? 0)
  }

  private var key: String { "t." + SQLText.name(PostgreSQLSchemaBuilder.identifier) }

  private func condition(on shape: RowShape) -> (String, ParameterList) {
    var parameters = ParameterList()
    guard let numbers = shape.numbers else { return ("", parameters) }
    parameters.append(keys: numbers)
    return (" WHERE t.\(SQLText.name(PostgreSQLSchemaBuilder.entity)) = ANY ($1)", parameters)
  }

  private func select(
    _ shape: RowShape, _ condition: String, _ parameters: ParameterList
  ) throws -> [RowSnapshot] {
    let rows = try connection.run(
      "SELECT \(shape.list("t")) FROM \(shape.table) t\(condition)", parameters)
    return try (0..<rows.count).compactMap { try snapshot(rows, $0, shape) }
  }

  /// The rows with the given keys in the table of an entity's hierarchy, in any order.
  func rows(_ keys: [Int64], inHierarchyOf entity: SQLEntity) throws -> [RowSnapshot] {
    guard let root = schema.sql.entity(number: entity.rootNumber) else { return [] }
    let shape = content.shapes.shape(of: root, includesSubentities: true)
    var parameters = ParameterList()
    parameters.append(keys: keys)
    return try select(shape, " WHERE \(key) = ANY ($1)", parameters)
  }

  /// The rows of objects, in their order; nil where there is none.
  func snapshots(for objectIDs: [ManagedObjectID]) throws -> [RowSnapshot?] {
    var keys: [Int: [Int64]] = [:]
    for id in objectIDs {
      guard let key = id.rowKey else { continue }
      keys[schema.sql.entity(id.entity).rootNumber, default: []].append(key)
    }
    var found: [Int: [Int64: RowSnapshot]] = [:]
    for (root, keys) in keys {
      guard let entity = schema.sql.entity(number: root) else { continue }
      for row in try rows(keys, inHierarchyOf: entity) {
        if let key = row.rowKey { found[root, default: [:]][key] = row }
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
      let places = shape.places[Int(truncatingIfNeeded: number)],
      let id = content.objectID(entity: Int(truncatingIfNeeded: number), key: key)
    else { return nil }
    let values = try places.map { place -> AttributeValue in
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
    return .make(objectID: id, version: version, values: values)
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
