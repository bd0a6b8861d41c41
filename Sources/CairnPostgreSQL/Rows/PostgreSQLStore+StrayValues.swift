import CairnModel
import CairnSQL
import CairnStore

// Values that plain SQL can write and no program of Cairn does.

extension PostgreSQLStore {
  /// The server keeps the types of columns, so that what is left are numbers which are none, and decimals that no
  /// `Decimal` can be: they read as nil.
  package func strayValues(
    in objectIDs: [ManagedObjectID]?
  ) throws -> [ManagedObjectID: Set<Int>] {
    try read("read rows of") { state, connection in
      let content = state.content
      var keys: [Int: [Int64]] = [:]
      for id in objectIDs ?? [] {
        guard let key = id.rowKey else { continue }
        keys[content.schema.sql.entity(id.entity).number, default: []].append(key)
      }
      let searches = content.schema.sql.entities.compactMap {
        entity -> PostgreSQLStrayValueSearch? in
        if entity.entity.isAbstract || objectIDs != nil && keys[entity.number] == nil { return nil }
        return PostgreSQLStrayValueSearch(
          entity, keys: objectIDs == nil ? nil : keys[entity.number], in: content.schema)
      }
      var found: [ManagedObjectID: Set<Int>] = [:]
      for (search, rows) in zip(searches, try connection.run(searches.map(\.statement))) {
        for row in 0..<rows.count {
          guard
            let id = rows.integer(row, 0).flatMap({
              content.objectID(entity: search.number, key: $0)
            })
          else { continue }
          found[id] = Set(
            search.slots.indices.filter { rows.flag(row, $0 + 1) == true }
              .map { search.slots[$0] })
        }
      }
      return found
    }
  }
}

/// Looks for such values in the rows of one entity.
private struct PostgreSQLStrayValueSearch {
  let number: Int
  let slots: [Int]
  let statement: Statement

  /// - Parameter keys: Of the rows to look at; nil for all.
  /// - Returns: nil for an entity whose columns hold nothing else than their attributes can have.
  init?(_ entity: SQLEntity, keys: [Int64]?, in schema: PostgreSQLSchema) {
    guard let table = schema.table(sqlName: entity.table) else { return nil }
    var conditions: [(slot: Int, sql: String)] = []
    for (slot, place) in entity.slots.enumerated() {
      guard let column = place.column.flatMap({ table.column(sqlName: $0) }),
        let condition = column.form.flatMap({ Self.stray($0, SQLText.name(column.name)) })
      else { continue }
      conditions.append((slot, "coalesce(\(condition), false)"))
    }
    if conditions.isEmpty { return nil }
    number = entity.number
    slots = conditions.map(\.slot)
    let columns = conditions.map(\.sql)
    let key = SQLText.name(PostgreSQLSchemaBuilder.identifier)
    var parameters = ParameterList()
    if let keys { parameters.append(keys: keys) }
    statement = Statement(
      "SELECT \(key), \(columns.joined(separator: ", ")) FROM \(schema.place(ofTable: entity.table)) "
        + "WHERE \(SQLText.name(PostgreSQLSchemaBuilder.entity)) = \(entity.number)"
        + (keys == nil ? "" : " AND \(key) = ANY ($1)")
        + " AND (\(columns.joined(separator: " OR ")))", parameters)
  }

  /// The largest decimal, and the smallest beside zero.
  private static let decimals = ("340282366920938463463374607431768211455e127", "1e-128")

  private static func stray(_ form: ValueForm, _ column: String) -> String? {
    switch form {
    case .real, .double: return "\(column) = 'NaN'"
    // NaN is greater than all numbers, as infinity is.
    case .numeric:
      return "(abs(\(column)) > \(decimals.0) OR \(column) <> 0 AND abs(\(column)) < \(decimals.1))"
    case .integer, .boolean, .text, .url, .date, .uuid, .bytes, .key: return nil
    }
  }
}
