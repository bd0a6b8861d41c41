import CairnModel
import CairnSQL
import CairnStore

/// Computes derived attributes that fold text for rows that are there, a portion at a time.
struct FoldedColumns {
  let schema: PostgreSQLSchema
  let connection: PostgreSQLConnection

  private static let portion: Int64 = 5_000
  private static let key = SQLText.name(PostgreSQLSchemaBuilder.identifier)
  private static let entity = SQLText.name(PostgreSQLSchemaBuilder.entity)

  func compute() throws {
    for column in DerivedColumn.all(in: schema) {
      guard case .folded(let function, let source) = column.derivation,
        let fold = SQLFolding.fold(function)
      else { continue }
      let table = schema.place(ofTable: column.entity.table)
      let text = schema.column(source, ofTable: column.entity.table)
      var last = Int64.min
      while true {
        var parameters = ParameterList()
        parameters.append(last)
        let rows = try connection.run(
          "SELECT \(Self.key), \(text) FROM \(table) WHERE \(Self.key) > $1 "
            + "AND \(Self.entity) IN (\(column.numbers)) ORDER BY \(Self.key) LIMIT \(Self.portion)",
          parameters)
        let keys = (0..<rows.count).compactMap { rows.integer($0, 0) }
        guard let end = keys.last else { break }
        var values = ArrayValue(of: .text)
        for row in 0..<rows.count { values.append(rows.text(row, 1).map(fold)) }
        var update = ParameterList()
        update.append(keys: keys)
        update.append(values)
        try connection.run(
          "UPDATE \(table) t SET \(column.columns[0]) = u.value FROM unnest($1, $2) AS u(id, value) "
            + "WHERE t.\(Self.key) = u.id", update)
        last = end
      }
    }
  }
}
