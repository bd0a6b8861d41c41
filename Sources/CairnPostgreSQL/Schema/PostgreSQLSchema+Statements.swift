// The statements that make a store's tables.

extension PostgreSQLSchema {
  /// Tables, what refers to what, indexes and comments, into a schema that is there.
  var creationStatements: [String] {
    tables.map(creation) + referenceStatements() + indexStatements + commentStatements
      + DerivedTriggers.statements(for: self)
  }

  var indexStatements: [String] { indexes.map(creation) }
  var commentStatements: [String] { tables.flatMap(comments) }

  /// - Parameter isValidated: Whether the rows that are there are looked at.
  func referenceStatements(isValidated: Bool = true) -> [String] {
    references.map { constraint(for: $0) + (isValidated ? "" : " NOT VALID") }
  }

  func creation(of table: PostgreSQLTable) -> String {
    var parts = table.columns.map(\.declaration)
    if !table.primaryKey.isEmpty {
      parts.append("PRIMARY KEY (\(table.primaryKey.map(SQLText.name).joined(separator: ", ")))")
    }
    return "CREATE TABLE \(place(table.name)) (\(parts.joined(separator: ", ")))"
  }

  /// Looked at when the transaction commits: a save writes its rows in any order.
  private func constraint(for reference: PostgreSQLReference) -> String {
    "ALTER TABLE \(place(reference.table)) ADD FOREIGN KEY (\(SQLText.name(reference.column))) "
      + "REFERENCES \(place(reference.destination)) DEFERRABLE INITIALLY DEFERRED"
  }

  private func creation(of index: PostgreSQLIndex) -> String {
    "CREATE \(index.isUnique ? "UNIQUE " : "")INDEX \(SQLText.name(index.name)) "
      + "ON \(place(index.table)) (\(index.elements.joined(separator: ", ")))"
      + (index.condition.map { " WHERE \($0)" } ?? "")
  }

  private func comments(on table: PostgreSQLTable) -> [String] {
    ["COMMENT ON TABLE \(place(table.name)) IS \(SQLText.literal(table.comment))"]
      + table.columns.map { column in
        "COMMENT ON COLUMN \(place(table.name)).\(SQLText.name(column.name)) "
          + "IS \(SQLText.literal(column.comment))"
      }
  }

  private func place(_ table: String) -> String { SQLText.name(name.text, table) }
}
