import CairnModel
import CairnSQL
import CairnStore

extension SQLiteStore {
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
