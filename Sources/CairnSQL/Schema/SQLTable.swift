// The tables of a store, as values: what a `CREATE` statement says.

/// One column of a table.
package struct SQLColumn: Sendable, Hashable {
  package let name: String
  /// The declared type, such as `VARCHAR`.
  package let type: String
  package init(_ name: String, _ type: String) {
    self.name = name
    self.type = type
  }
}

/// The table of a root entity and all its descendants.
package struct SQLTable: Sendable {
  package let name: String
  package let columns: [SQLColumn]

  package var createStatement: String {
    let list = columns.map { column in
      column.name == "Z_PK" ? "Z_PK INTEGER PRIMARY KEY" : "\(column.name) \(column.type)"
    }
    return "CREATE TABLE \(name) ( \(list.joined(separator: ", ")) )"
  }
}

/// The table of a many-to-many relationship.
package struct SQLJoinTable: Sendable, Hashable {
  package let name: String
  /// The column with the key of the side that gave the table its name.
  package let ownerColumn: String
  package let memberColumn: String
  /// The position among the owner's members, when that side is ordered.
  package let memberOrderColumn: String?
  /// The position among the member's owners, when the other side is ordered.
  package let ownerOrderColumn: String?

  package var columns: [String] {
    [ownerColumn, memberColumn] + [memberOrderColumn, ownerOrderColumn].compactMap { $0 }
  }

  package var createStatement: String {
    let list = columns.map { "\($0) INTEGER" }.joined(separator: ", ")
    return "CREATE TABLE \(name) ( \(list), PRIMARY KEY (\(ownerColumn), \(memberColumn)) )"
  }

  package var indexStatement: String {
    "CREATE INDEX \(name)_\(memberColumn)_INDEX ON \(name) (\(memberColumn), \(ownerColumn))"
  }
}

/// What a database file really contains, so that names which Apple derives from hash order can be
/// looked up instead of guessed.
package struct SQLCatalog: Sendable {
  /// Column names by table name.
  package var tables: [String: [String]]
  package init(tables: [String: [String]]) { self.tables = tables }
}
