import CairnModel
import CairnSQL
import CairnStore

// The members of relationships: with their rows, or with what deleting them takes.

extension PostgreSQLStore: MemberReading {
  package func memberRows(
    of relationship: RelationshipDescription, owners: [ManagedObjectID], rowLimit: Int
  ) throws -> [[MemberRow]] {
    try read("read rows of") { state, connection in
      try PostgreSQLRowReading(content: state.content, connection: connection).memberRows(
        of: relationship, owners: owners, rowLimit: rowLimit)
    }
  }

  package func memberVersions(
    of relationship: RelationshipDescription, owners: [ManagedObjectID]
  ) throws -> [MemberVersion]? {
    // The server itself keeps for history what is left of a deleted row.
    try read("read rows of") { state, connection in
      try PostgreSQLRowReading(content: state.content, connection: connection).memberVersions(
        of: relationship, owners: owners)
    }
  }
}

extension PostgreSQLRowReading {
  private static let key = SQLText.name(PostgreSQLSchemaBuilder.identifier)
  private static let entity = SQLText.name(PostgreSQLSchemaBuilder.entity)
  private static let version = SQLText.name(PostgreSQLSchemaBuilder.version)

  private func place(
    of relationship: RelationshipDescription
  ) -> (link: LinkPlace, destination: SQLEntity, selection: String)? {
    guard let link = content.link(of: relationship),
      let destination = relationship.destinationEntity.map({ content.schema.sql.entity($0) })
    else { return nil }
    return (
      link, destination, link.selection(from: content.schema.place(ofTable: destination.table))
    )
  }

  /// The members of each owner, with the rows of the first of them.
  func memberRows(
    of relationship: RelationshipDescription, owners: [ManagedObjectID], rowLimit: Int
  ) throws -> [[MemberRow]] {
    guard rowLimit > 0, let (_, destination, selection) = place(of: relationship) else {
      return try members(of: relationship, owners: owners)
        .map { $0.map { MemberRow(objectID: $0, row: nil) } }
    }
    let shape = content.shapes.shape(of: destination, includesSubentities: true)
    var parameters = ParameterList()
    parameters.append(keys: owners.compactMap(\.rowKey))
    let all = Statement(selection, parameters)
    parameters.append(Int64(rowLimit))
    // Each row once, though several owners may have it.
    let first = Statement(
      "SELECT \(shape.list("t")) FROM \(shape.table) t WHERE t.\(Self.key) IN "
        + "(SELECT s.k FROM (\(selection) LIMIT $2) s(o, e, k))", parameters)
    let results = try connection.run([all, first])
    guard results.count == 2 else { return owners.map { _ in [] } }
    var rows: [Int64: RowSnapshot] = [:]
    for row in 0..<results[1].count {
      if let row = try snapshot(results[1], row, shape), let key = row.rowKey { rows[key] = row }
    }
    return members(in: results[0], owners: owners).map { members in
      members.map { id in MemberRow(objectID: id, row: id.rowKey.flatMap { rows[$0] }) }
    }
  }

  func memberVersions(
    of relationship: RelationshipDescription, owners: [ManagedObjectID]
  ) throws -> [MemberVersion] {
    guard let (_, destination, selection) = place(of: relationship) else { return [] }
    var parameters = ParameterList()
    parameters.append(keys: owners.compactMap(\.rowKey))
    let rows = try connection.run(
      "SELECT t.\(Self.entity), t.\(Self.key), t.\(Self.version) "
        + "FROM \(content.schema.place(ofTable: destination.table)) t "
        + "WHERE t.\(Self.key) IN (SELECT s.k FROM (\(selection)) s(o, e, k))", parameters)
    return (0..<rows.count).compactMap { row in
      guard let number = rows.integer(row, 0).map({ Int(truncatingIfNeeded: $0) }),
        let key = rows.integer(row, 1), let version = rows.integer(row, 2),
        let id = content.objectID(entity: number, key: key)
      else { return nil }
      return MemberVersion(objectID: id, version: version)
    }
  }
}
