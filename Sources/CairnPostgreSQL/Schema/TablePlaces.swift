import CairnModel
import CairnSQL
import CairnStore
import Foundation

/// Notes by which numbers the server has a store's tables and columns: one that was dropped and put back, such as a table from
/// a dump, has another number.
///
/// What is in it then is nothing that a program wrote, as what a migration fills in is not.
struct TablePlaces {
  let schema: PostgreSQLSchema
  /// By what the sidecar has as the key.
  private let noted: [Data: Data]
  private let present: [Data: Data]
  /// The properties whose columns were put back, as a ``MigrationTrace`` names them.
  ///
  /// None where the whole schema was restored: its bookkeeping is as old as its rows.
  private(set) var putBack: Set<String> = []

  private static let map = "table_places"

  init(of schema: PostgreSQLSchema, on connection: PostgreSQLConnection) throws {
    self.schema = schema
    let sidecar = SidecarReading.table(in: schema.name)
    let results = try connection.run([
      Statement(
        "SELECT key, value FROM \(sidecar) WHERE map = \(SQLText.literal(Self.map))",
        isKept: false),
      Statement(Self.selection(in: schema.name), isKept: false),
    ])
    func entries(_ rows: PostgreSQLRows) -> [Data: Data] {
      var entries: [Data: Data] = [:]
      for row in 0..<rows.count {
        if let key = rows.data(row, 0) { entries[key] = rows.data(row, 1) }
      }
      return entries
    }
    (noted, present) = (entries(results[0]), entries(results[1]))
    putBack = propertiesPutBack()
  }

  /// Notes the numbers of now in place of others.
  static func notes(in schema: SchemaName) -> [String] {
    let sidecar = SidecarReading.table(in: schema)
    let map = SQLText.literal(map)
    return [
      "DELETE FROM \(sidecar) WHERE map = \(map)",
      "INSERT INTO \(sidecar) (map, key, value) "
        + "SELECT \(map), p.key, p.value FROM (\(selection(in: schema))) p",
    ]
  }

  // Key: table · 0 · column. Value: the numbers of the two, as text
  private static func selection(in schema: SchemaName) -> String {
    "SELECT convert_to(c.relname::text, 'UTF8') || '\\x00'::bytea "
      + "|| convert_to(a.attname::text, 'UTF8') AS key, "
      + "convert_to(c.oid::text || ' ' || a.attnum::text, 'UTF8') AS value "
      + "FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace "
      + "JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid "
      + "WHERE n.nspname = \(SQLText.literal(schema.text)) AND c.relkind IN ('r', 'p') "
      + "AND a.attnum > 0 AND NOT a.attisdropped"
  }

  private static func key(_ table: String, _ column: String) -> Data {
    Data(table.utf8) + [0] + Data(column.utf8)
  }

  /// Whether all of the store's columns that are there are noted as they are.
  var areNoted: Bool {
    schema.tables.allSatisfy { table in
      table.columns.allSatisfy { column in
        let key = Self.key(table.name, column.name)
        return present[key] == nil || noted[key] == present[key]
      }
    }
  }

  private func propertiesPutBack() -> Set<String> {
    let store = Self.key(BookkeepingTables.store, "identifier")
    guard let number = noted[store], number == present[store] else { return [] }
    return Set(
      schema.tables.flatMap { table in
        table.columns.filter { isPutBack($0, in: table) && !schema.isDerived($0) }
          .flatMap { properties(of: $0, in: table) }
      })
  }

  /// Whether the rows themselves are others than those that a table had.
  func isPutBack(_ table: PostgreSQLTable) -> Bool {
    !putBack.isEmpty && table.columns.allSatisfy { isPutBack($0, in: table) }
  }

  private func isPutBack(_ column: PostgreSQLColumn, in table: PostgreSQLTable) -> Bool {
    let key = Self.key(table.name, column.name)
    guard let was = noted[key], let now = present[key] else { return false }
    return was != now
  }

  private func properties(of column: PostgreSQLColumn, in table: PostgreSQLTable) -> [String] {
    let (entity, property) = (column.origin.entity, column.origin.property)
    switch column.origin.role {
    case .value, .exact, .reference, .referenceEntity:
      let members = schema.sql.entities.filter {
        $0.table == table.sqlName && $0.layout.slotByName[property] != nil
      }
      return members.map { "\($0.name).\(property)" }
    case .owner, .linkOwner, .linkMember:
      let owning = schema.sql.entities.first { $0.name == entity }
      let inverse = owning?.entity.relationshipsByName[property]?.inverseRelationship
      return ["\(entity).\(property)"]
        + (inverse.map { ["\($0.entity?.name ?? "").\($0.name)"] } ?? [])
    case .identifier, .entity, .version, .position, nil: return []
    }
  }
}
