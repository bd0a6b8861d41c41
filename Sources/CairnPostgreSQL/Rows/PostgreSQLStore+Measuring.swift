import CairnModel
import CairnSQL
import CairnStore

// How large rows are, by what the server knows of them without reading long values.

extension PostgreSQLStore {
  package func rowSizes(of objectIDs: [ManagedObjectID]) throws -> [Int] {
    var sizes = [Int](repeating: 0, count: objectIDs.count)
    let places = Dictionary(grouping: objectIDs.indices) {
      ObjectIdentifier(objectIDs[$0].entity)
    }
    let groups = places.values.sorted { ($0.first ?? 0) < ($1.first ?? 0) }
    let results = try measure(groups.map { $0.map { objectIDs[$0] } }, isTotal: false)
    for (places, rows) in zip(groups, results) {
      guard let rows else { continue }
      var found: [Int64: Int] = [:]
      for row in 0..<rows.count {
        found[rows.integer(row, 0) ?? 0] = Int(clamping: rows.integer(row, 1) ?? 0)
      }
      for place in places { sizes[place] = objectIDs[place].rowKey.flatMap { found[$0] } ?? 0 }
    }
    return sizes
  }

  package func totalRowSize(of objectIDs: [ManagedObjectID]) throws -> Int {
    let groups = Dictionary(grouping: objectIDs) { ObjectIdentifier($0.entity) }
    return try measure(Array(groups.values), isTotal: true).reduce(0) { total, rows in
      total + Int(clamping: rows?.integer(0, 0) ?? 0)
    }
  }

  /// - Parameter groups: Objects of one entity each.
  /// - Returns: The result for each group; nil for an entity whose rows have no values of any length.
  private func measure(
    _ groups: [[ManagedObjectID]], isTotal: Bool
  ) throws -> [PostgreSQLRows?] {
    if groups.isEmpty { return [] }
    let key = SQLText.name(PostgreSQLSchemaBuilder.identifier)
    return try read("read rows of") { state, connection in
      let schema = state.content.schema
      let statements = groups.map { group -> Statement? in
        guard let entity = group.first.map({ schema.sql.entity($0.entity) }),
          let size = Self.size(of: entity, in: schema)
        else { return nil }
        var parameters = ParameterList()
        parameters.append(keys: group.compactMap(\.rowKey))
        return Statement(
          "SELECT \(isTotal ? "sum(\(size))::bigint" : "\(key), \(size)") "
            + "FROM \(schema.place(ofTable: entity.table)) WHERE \(key) = ANY ($1)", parameters)
      }
      var results = try connection.run(statements.compactMap { $0 })[...]
      return statements.map { $0 == nil ? nil : results.popFirst() }
    }
  }

  /// The bytes of a row's texts and data.
  private static func size(of entity: SQLEntity, in schema: PostgreSQLSchema) -> String? {
    guard let table = schema.table(sqlName: entity.table) else { return nil }
    let lengths = entity.slots.compactMap { slot -> String? in
      guard let column = slot.column.flatMap({ table.column(sqlName: $0) }),
        let form = column.form, [.text, .url, .bytes].contains(form)
      else { return nil }
      return "coalesce(octet_length(\(SQLText.name(column.name))), 0)::bigint"
    }
    return lengths.isEmpty ? nil : lengths.joined(separator: " + ")
  }
}
