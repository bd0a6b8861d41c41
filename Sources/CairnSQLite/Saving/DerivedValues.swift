import CairnModel
import CairnSQL
import CairnStore
import Foundation

/// Computes derived attributes that no trigger maintains: foldings of text in the same row.
enum DerivedValues {
  static func refresh(_ request: SaveChangesRequest, _ lookup: RowLookup) throws {
    guard lookup.schema.hasDerivedValues else { return }
    for snapshot in request.insertions.map(\.snapshot) + request.updates.map(\.snapshot) {
      let entity = lookup.schema.entity(snapshot.objectID.entity)
      if entity.derivedSlots.isEmpty { continue }
      try refresh(entity, key: snapshot.objectID.rowKey ?? 0, lookup)
    }
  }

  static func refresh(_ entity: SQLEntity, key: Int64, _ lookup: RowLookup) throws {
    let settings = settings(of: entity, lookup.schema)
    if settings.isEmpty { return }
    let statement = try lookup.connection.statement(
      "UPDATE \(entity.table) SET \(settings.joined(separator: ", ")) WHERE Z_PK = ?")
    defer { statement.reset() }
    statement.bind(key, at: 1)
    try statement.run()
  }

  /// For many rows of one entity.
  static func refresh(
    _ entity: SQLEntity, keys: some Sequence<Int64>, _ lookup: RowLookup
  ) throws {
    if entity.derivedSlots.isEmpty { return }
    let settings = settings(of: entity, lookup.schema)
    if settings.isEmpty { return }
    let statement = try lookup.connection.statement(
      "UPDATE \(entity.table) SET \(settings.joined(separator: ", ")) "
        + "WHERE Z_PK IN (SELECT value FROM json_each(?))")
    defer { statement.reset() }
    statement.bind(KeyList.json(keys), at: 1)
    try statement.run()
  }

  private static func settings(of entity: SQLEntity, _ schema: SQLSchema) -> [String] {
    entity.derivedSlots.compactMap { slot in
      guard
        let attribute = entity.layout.slots[slot].attribute as? DerivedAttributeDescription,
        case .folded(let function, let source)? = SQLDerivation(
          attribute, of: entity, schema: schema),
        let column = entity.slots[slot].column
      else { return nil }
      return "\(column) = \(function)(\(source))"
    }
  }
}
