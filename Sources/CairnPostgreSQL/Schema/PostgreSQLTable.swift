import CairnModel

/// What a column of a store's table holds.
enum ColumnRole: String, Sendable, Hashable, CaseIterable {
  /// The key of the row.
  case identifier
  /// The number of the row's entity.
  case entity
  /// Counts the saves of the row.
  case version
  case value
  /// What the column of a value rounds; see ``StoredDate``.
  case exact
  /// The key of a to-one relationship's destination, and the number of its entity where that may be several.
  case reference, referenceEntity = "reference entity"
  /// The key of the object that has the row among the members of a to-many relationship without inverse.
  case owner
  /// Orders the members of an ordered relationship.
  case position
  /// The two keys of a join table.
  case linkOwner = "link owner", linkMember = "link member"
}

/// What of a model a table or a column is for: what a name is found again by when the model has changed.
struct NameOrigin: Sendable, Hashable {
  let entity: String
  /// Empty for what concerns the entity itself.
  let property: String
  /// Nil for a table.
  let role: ColumnRole?
}

/// One column of a table.
struct PostgreSQLColumn: Sendable {
  let name: String
  /// The column of the SQLite format with the same content, by which `CairnSQL` speaks of it; nil for one that only this
  /// store has.
  let sqlName: String?
  let type: PostgreSQLType
  /// How values are written, nil for bookkeeping.
  let form: ValueForm?
  let origin: NameOrigin
  /// What stands behind the type.
  var attributes = ""
  let comment: String

  var declaration: String {
    // By bytes, as SQLite compares, whatever the database is set to.
    let collation = type == .text ? " COLLATE pg_catalog.\"C\"" : ""
    return "\(SQLText.name(name)) \(type.name)\(collation)\(attributes)"
  }
}

/// The table of a hierarchy of entities, or of a many-to-many relationship.
struct PostgreSQLTable: Sendable {
  let name: String
  /// The table of the SQLite format with the same content.
  let sqlName: String
  let origin: NameOrigin
  let columns: [PostgreSQLColumn]
  /// The columns of the primary key where it is not that of a single one.
  let primaryKey: [String]
  let comment: String

  func column(sqlName: String) -> PostgreSQLColumn? { columns.first { $0.sqlName == sqlName } }

  /// The column that makes another one exact, where it has one.
  func exactColumn(of column: PostgreSQLColumn) -> PostgreSQLColumn? {
    let origin = NameOrigin(
      entity: column.origin.entity, property: column.origin.property, role: .exact)
    return columns.first { $0.origin == origin }
  }
}

/// A rule of the database that a key leads to a row.
struct PostgreSQLReference: Sendable {
  let table: String
  let column: String
  let destination: String
}

/// An index of a store.
struct PostgreSQLIndex: Sendable {
  let name: String
  let table: String
  /// Columns and expressions, as they stand in the statement.
  let elements: [String]
  let isUnique: Bool
  /// Which rows it has; nil for all.
  var condition: String?
}
