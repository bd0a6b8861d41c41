import CairnModel
import CairnSQL
import CairnStore
import Foundation

/// Reads rows by key, and the members of relationships, within one read or write.
struct RowLookup {
  let connection: SQLiteConnection
  let reader: RowReader
  var schema: SQLSchema { reader.schema }

  /// The row of one object, nil when there is none.
  ///
  /// The object is looked for in its entity's whole hierarchy, because an ID that came out of a
  /// foreign key without companion column may name an ancestor of the exact entity.
  func snapshot(for objectID: ManagedObjectID) throws -> RowSnapshot? {
    guard let key = objectID.rowKey else { return nil }
    let entity = schema.entity(objectID.entity)
    let shape = schema.shape(entity, includingSubentities: true)
    let statement = try connection.statement(shape.byKey)
    defer { statement.reset() }
    statement.bind(key, at: 1)
    guard try statement.step() else { return nil }
    return reader.snapshot(statement, shape: shape)
  }

  /// The rows of many objects, in their order; one statement an entity and 500 keys.
  func snapshots(for objectIDs: [ManagedObjectID]) throws -> [RowSnapshot?] {
    if objectIDs.count == 1 { return [try snapshot(for: objectIDs[0])] }
    var result = [RowSnapshot?](repeating: nil, count: objectIDs.count)
    var positions: [Int: [Int64: [Int]]] = [:]
    for (position, objectID) in objectIDs.enumerated() {
      guard let key = objectID.rowKey else { continue }
      positions[schema.entity(objectID.entity).number, default: [:]][key, default: []].append(
        position)
    }
    for (number, byKey) in positions {
      guard let entity = schema.entity(number: number) else { continue }
      try read(entity, keys: Array(byKey.keys)) { snapshot, key in
        for position in byKey[key] ?? [] { result[position] = snapshot }
      }
    }
    return result
  }

  private func read(
    _ entity: SQLEntity, keys: [Int64], each: (RowSnapshot?, Int64) -> Void
  ) throws {
    let shape = schema.shape(entity, includingSubentities: true)
    // A few keys do not pay for the list as JSON.
    guard keys.count > 4 else {
      let statement = try connection.statement(shape.byKey)
      defer { statement.reset() }
      for key in keys {
        statement.bind(key, at: 1)
        if try statement.step() { each(reader.snapshot(statement, shape: shape), key) }
        statement.reset()
      }
      return
    }
    let statement = try connection.statement(shape.byKeys)
    defer { statement.reset() }
    statement.bind(KeyList.json(keys), at: 1)
    while try statement.step() {
      each(reader.snapshot(statement, shape: shape), statement.integer(1))
    }
  }

  // MARK: Members

  /// The members of a to-many relationship of each owner.
  func members(
    of relationship: RelationshipDescription, owners: [ManagedObjectID]
  ) throws -> [[ManagedObjectID]] {
    var result = [[ManagedObjectID]](repeating: [], count: owners.count)
    guard let entity = relationship.entity,
      let index = entity.layout.toManyByName[relationship.name]
    else { return result }
    let query = schema.memberQueries(of: schema.entity(entity))[index]
    var positions: [Int64: [Int]] = [:]
    for (position, owner) in owners.enumerated() {
      if let key = owner.rowKey { positions[key, default: []].append(position) }
    }
    guard !query.isEmpty, let destination = relationship.destinationEntity else { return result }
    let possible = schema.entity(destination).subtree
    let one = positions.count == 1
    let statement = try connection.statement(one ? query.single : query.many)
    defer { statement.reset() }
    if one, let key = positions.keys.first {
      statement.bind(key, at: 1)
    } else {
      statement.bind(KeyList.json(Array(positions.keys)), at: 1)
    }
    while try statement.step() {
      let number = Int(truncatingIfNeeded: statement.integer(1))
      // Only a damaged file has members of an entity that the relationship does not lead to.
      guard possible.contains(number),
        let member = reader.objectID(entity: number, key: statement.integer(2))
      else { continue }
      for position in positions[statement.integer(0)] ?? [] { result[position].append(member) }
    }
    return result
  }
}

/// Keys as the text of a JSON array, one parameter for a list of any length.
enum KeyList {
  static func json(_ keys: some Sequence<Int64>) -> String {
    var text = "["
    for key in keys {
      if text.utf8.count > 1 { text += "," }
      text += String(key)
    }
    return text + "]"
  }
}
