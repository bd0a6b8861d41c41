import CairnModel
import CairnSQL
import CairnStore

// All rows of a hierarchy: by their keys, a page at a time, or only counted.

extension PostgreSQLStore: RowScanning {
  private static let key = SQLText.name(PostgreSQLSchemaBuilder.identifier)
  private static let entity = SQLText.name(PostgreSQLSchemaBuilder.entity)

  package func objectIDs(
    of root: EntityDescription, after key: Int64, limit: Int
  ) throws -> [ManagedObjectID] {
    try read("read rows of") { state, connection in
      let content = state.content
      let entity = content.schema.sql.entity(root)
      var parameters = ParameterList()
      parameters.append(key)
      parameters.append(Int64(limit))
      // Another program may have written numbers of entities that the table has not.
      let condition =
        entity.sharesTable
        ? " AND \(Self.entity) BETWEEN \(entity.subtree.lowerBound) AND \(entity.subtree.upperBound)"
        : ""
      let rows = try connection.run(
        "SELECT \(Self.key), \(Self.entity) FROM \(content.schema.place(ofTable: entity.table)) "
          + "WHERE \(Self.key) > $1\(condition) ORDER BY \(Self.key) LIMIT $2", parameters)
      return (0..<rows.count).compactMap { row in
        guard let key = rows.integer(row, 0) else { return nil }
        let number =
          entity.sharesTable
          ? rows.integer(row, 1).map { Int(truncatingIfNeeded: $0) } : entity.number
        return number.flatMap { content.objectID(entity: $0, key: key) }
      }
    }
  }

  package func census(of root: EntityDescription) throws -> RowCensus {
    try read("count rows of") { state, connection in
      let schema = state.content.schema
      // In two parts, so that no sum leaves its type.
      let rows = try connection.run(
        "SELECT count(*), sum(\(Self.key) & 4294967295)::bigint, sum(\(Self.key) >> 32)::bigint "
          + "FROM \(schema.place(ofTable: schema.sql.entity(root).table))")
      let low = UInt64(bitPattern: rows.integer(0, 1) ?? 0)
      let high = UInt64(bitPattern: rows.integer(0, 2) ?? 0)
      return RowCensus(
        count: UInt64(bitPattern: rows.integer(0, 0) ?? 0), keys: low &+ high << 32)
    }
  }
}
