import CairnModel
import CairnSQL
import CairnStore

/// Deletes what a fetch finds, with the delete rules of its relationships: a few statements for each entity, however many
/// rows, whose values are not read.
struct PostgreSQLBatchDeletion {
  let writer: BatchWriter

  private static let key = SQLText.name(PostgreSQLSchemaBuilder.identifier)
  private static let entity = SQLText.name(PostgreSQLSchemaBuilder.entity)
  private static let version = SQLText.name(PostgreSQLSchemaBuilder.version)

  func delete(_ request: StoreFetchRequest) throws -> BatchOutcome {
    let rows = try withCascades(try writer.matches(request))
    if rows.isEmpty { return BatchOutcome() }
    let deleted = Set(rows.map(\.id))
    let groups = groups(of: rows)
    for (entity, ids) in groups { try checkDenied(entity, ids, deleted) }
    var changed: [ManagedObjectID: (row: FoundRow, values: [Int: AttributeValue])] = [:]
    for (entity, ids) in groups {
      for relationship in entity.nullified {
        for (row, slot) in try staying(relationship, ids, entity, deleted) {
          changed[row.id, default: (row, [:])].values[slot] = .null
        }
      }
    }
    let updates = changed.values.map { writer.update($0.row, to: $0.values) }
      .sorted { ($0.snapshot.rowKey ?? 0) < ($1.snapshot.rowKey ?? 0) }
    var save = SaveChangesRequest()
    save.deletions = rows.map { .init(objectID: $0.id, version: $0.version) }
    save.updates = updates
    try writer.write(save)
    return BatchOutcome(
      updated: updates.map(\.snapshot.objectID), deleted: RowList(rows.map(\.id)))
  }

  private func groups(
    of rows: [FoundRow]
  ) -> [(entity: SQLEntity, ids: [ManagedObjectID])] {
    Dictionary(grouping: rows.map(\.id)) { writer.schema.entity($0.entity).number }
      .sorted { $0.key < $1.key }
      .compactMap { number, ids in writer.schema.entity(number: number).map { ($0, ids) } }
  }

  // MARK: Rules

  /// The rows and everything that cascades from them.
  private func withCascades(_ rows: [FoundRow]) throws -> [FoundRow] {
    var result = rows
    var known = Set(rows.map(\.id))
    var level = rows
    while !level.isEmpty {
      var next: [FoundRow] = []
      for (entity, ids) in groups(of: level) {
        for relationship in entity.relationships(.cascade) {
          next += try members(of: relationship, ids, entity).filter {
            known.insert($0.id).inserted
          }
        }
      }
      level = next
      result += next
    }
    return result
  }

  /// The members of a relationship of any of the rows, in no particular order.
  private func members(
    of relationship: RelationshipDescription, _ owners: [ManagedObjectID], _ entity: SQLEntity
  ) throws -> [FoundRow] {
    if relationship.isToMany {
      return try writer.reading.memberVersions(of: relationship, owners: owners)
        .map { FoundRow(id: $0.objectID, version: $0.version) }
    }
    guard let (from, condition) = destination(of: relationship, entity) else { return [] }
    let rows = try writer.connection.run(
      "SELECT DISTINCT d.\(Self.entity), d.\(Self.key), d.\(Self.version) \(from) WHERE \(condition)",
      parameters(owners))
    return writer.found(rows)
  }

  /// The rows `d` to which a to-one relationship of rows `t` leads; the parameter is the keys of these.
  private func destination(
    of relationship: RelationshipDescription, _ entity: SQLEntity
  ) -> (from: String, condition: String)? {
    guard let slot = entity.layout.slotByName[relationship.name],
      case .toOne(let column, _, let number) = entity.slots[slot],
      let destination = writer.schema.entity(number: number)
    else { return nil }
    let schema = writer.content.schema
    return (
      "FROM \(schema.place(ofTable: entity.table)) t "
        + "JOIN \(schema.place(ofTable: destination.table)) d "
        + "ON d.\(Self.key) = t.\(schema.column(column, ofTable: entity.table))",
      "t.\(Self.key) = ANY ($1)"
    )
  }

  private func parameters(_ ids: [ManagedObjectID]) -> ParameterList {
    var parameters = ParameterList()
    parameters.append(keys: ids.compactMap(\.rowKey))
    return parameters
  }

  private func checkDenied(
    _ entity: SQLEntity, _ ids: [ManagedObjectID], _ deleted: Set<ManagedObjectID>
  ) throws {
    for relationship in entity.relationships(.deny) {
      let members = try members(of: relationship, ids, entity)
      guard let other = members.first(where: { !deleted.contains($0.id) }) else { continue }
      // Which object it is a member of is only asked for where it matters.
      let owner = try ids.first { id in
        try self.members(of: relationship, [id], entity).contains { $0.id == other.id }
      }
      throw SQLBatch.deniedDelete(of: owner ?? other.id, relationship)
    }
  }

  /// The rows that stay and lead to deleted ones, with the slots that do.
  private func staying(
    _ relationship: RelationshipDescription, _ ids: [ManagedObjectID], _ entity: SQLEntity,
    _ deleted: Set<ManagedObjectID>
  ) throws -> [(row: FoundRow, slot: Int)] {
    guard let inverse = relationship.inverseRelationship else { return [] }
    let rows =
      relationship.isToMany
      ? try members(of: relationship, ids, entity)
      : try leadingBack(along: relationship, inverse, ids, entity)
    return rows.compactMap { row in
      guard !deleted.contains(row.id), let slot = row.id.entity.layout.slotByName[inverse.name]
      else { return nil }
      return (row, slot)
    }
  }

  /// The destinations of a to-one relationship that lead to their sources.
  private func leadingBack(
    along relationship: RelationshipDescription, _ inverse: RelationshipDescription,
    _ ids: [ManagedObjectID], _ entity: SQLEntity
  ) throws -> [FoundRow] {
    guard let (from, condition) = destination(of: relationship, entity),
      let other = relationship.destinationEntity.map({ writer.schema.entity($0) }),
      let slot = other.layout.slotByName[inverse.name], let column = other.slots[slot].column
    else { return [] }
    let name = writer.content.schema.column(column, ofTable: other.table)
    let rows = try writer.connection.run(
      "SELECT DISTINCT d.\(Self.entity), d.\(Self.key), d.\(Self.version) \(from) "
        + "WHERE \(condition) AND d.\(name) = t.\(Self.key)", parameters(ids))
    return writer.found(rows)
  }
}
