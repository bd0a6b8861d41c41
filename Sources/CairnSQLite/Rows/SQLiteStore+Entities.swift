import CairnModel
import CairnSQL
import CairnStore

// Rows whose entity a program changed with SQL of its own.
extension SQLiteStore {
  public func restoreEntities(of objects: [ManagedObjectID]) throws {
    if objects.isEmpty { return }
    _ = try write(doing: "be given back the entities of rows") { lookup -> Bool? in
      for object in objects {
        guard let key = object.rowKey else { continue }
        let entity = lookup.schema.entity(object.entity)
        let statement = try lookup.connection.statement(
          "UPDATE \(entity.table) SET Z_ENT = ?1, Z_OPT = Z_OPT + 1 "
            + "WHERE Z_PK = ?2 AND Z_ENT <> ?1")
        defer { statement.reset() }
        statement.bind(Int64(entity.number), at: 1)
        statement.bind(key, at: 2)
        _ = try statement.step()
      }
      return true
    }
  }
}
