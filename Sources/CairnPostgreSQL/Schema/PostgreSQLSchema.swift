import CairnModel
import CairnSQL

/// The names that a store has given, which stay when its model changes.
struct KeptNames: Sendable, Equatable {
  var tables: [NameOrigin: String] = [:]
  /// By the table's name.
  var columns: [String: [NameOrigin: String]] = [:]
}

/// The tables of a store as PostgreSQL has them: the structure of `CairnSQL`, under names that people can write.
///
/// There is one table for each root entity and its subentities, as in Core Data's SQLite stores, so that fetching an
/// entity with its subentities reads one table and a key is unique in the hierarchy. Pure: made from a model and the names
/// that a store has given before.
struct PostgreSQLSchema: Sendable {
  let name: SchemaName
  let sql: SQLSchema
  let tables: [PostgreSQLTable]
  let references: [PostgreSQLReference]
  let indexes: [PostgreSQLIndex]
  /// The uniqueness constraint that an index is for, by the index's name, which the server names when it is violated.
  let constraints: [String: SQLConstraint]

  /// - Parameter kept: Names that the store has given already, which stay.
  init(_ sql: SQLSchema, in name: SchemaName, kept: KeptNames = KeptNames()) {
    self.name = name
    self.sql = sql
    var builder = PostgreSQLSchemaBuilder(sql: sql, kept: kept)
    builder.build()
    tables = builder.tables
    references = builder.references
    indexes = builder.indexes
    constraints = builder.constraints
    tablesBySQLName = Dictionary(
      builder.tables.map { ($0.sqlName, $0) }, uniquingKeysWith: { first, _ in first })
    derived = Set(
      sql.entities.flatMap { entity in
        entity.derivedSlots.map { slot in
          let attribute = entity.layout.slots[slot]
          return "\(attribute.property.entity?.name ?? "") \(attribute.name)"
        }
      })
  }

  /// The derived attributes, each after the entity that declares it.
  private let derived: Set<String>

  /// Whether the values of a column are computed.
  func isDerived(_ column: PostgreSQLColumn) -> Bool {
    derived.contains("\(column.origin.entity) \(column.origin.property)")
  }

  /// By the name that `CairnSQL` has for the table.
  private let tablesBySQLName: [String: PostgreSQLTable]

  func table(sqlName: String) -> PostgreSQLTable? { tablesBySQLName[sqlName] }

  /// A table as statements name it.
  func place(ofTable sqlName: String) -> String {
    SQLText.name(name.text, table(sqlName: sqlName)?.name ?? sqlName)
  }

  /// A column as statements name it.
  func column(_ sqlName: String, ofTable table: String) -> String {
    SQLText.name(self.table(sqlName: table)?.column(sqlName: sqlName)?.name ?? sqlName)
  }

  /// All names by what they are for: what a store remembers.
  var names: [(origin: NameOrigin, table: String, column: String?)] {
    tables.flatMap { table in
      [(table.origin, table.name, nil)]
        + table.columns.map { ($0.origin, table.name, Optional($0.name)) }
    }
  }
}
