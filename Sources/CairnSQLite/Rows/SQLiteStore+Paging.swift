import CairnModel
import CairnSQL
import CairnStore

// Rows by their keys, a page at a time, and counted.

extension SQLiteStore: RowScanning {
  public func objectIDs(
    of root: EntityDescription, after key: Int64, limit: Int
  ) throws -> [ManagedObjectID] {
    try readConsistently { lookup in
      let entity = lookup.schema.entity(root)
      let condition =
        entity.sharesTable
        ? " AND Z_ENT BETWEEN \(entity.subtree.lowerBound) AND \(entity.subtree.upperBound)" : ""
      let statement = try lookup.connection.statement(
        "SELECT Z_PK, Z_ENT FROM \(entity.table.quotedAsName) WHERE Z_PK > ?1\(condition) "
          + "ORDER BY Z_PK LIMIT ?2")
      defer { statement.reset() }
      statement.bind(key, at: 1)
      statement.bind(Int64(limit), at: 2)
      var ids: [ManagedObjectID] = []
      while try statement.step() {
        let number = Int(clamping: statement.integer(1))
        let found = entity.sharesTable ? lookup.schema.entity(number: number)?.entity : root
        if let found { ids.append(objectID(for: found, rowKey: statement.integer(0))) }
      }
      return ids
    }
  }

  public func census(of root: EntityDescription) throws -> RowCensus {
    try readConsistently { lookup in
      let table = lookup.schema.entity(root).table
      // In two parts, so that no sum overflows.
      let statement = try lookup.connection.statement(
        "SELECT COUNT(*), SUM(Z_PK & 4294967295), SUM(Z_PK >> 32) FROM \(table)")
      defer { statement.reset() }
      guard try statement.step() else { return RowCensus(count: 0, keys: 0) }
      let low = UInt64(bitPattern: statement.integer(1))
      let high = UInt64(bitPattern: statement.integer(2))
      return RowCensus(count: UInt64(statement.integer(0)), keys: low &+ high << 32)
    }
  }
}
