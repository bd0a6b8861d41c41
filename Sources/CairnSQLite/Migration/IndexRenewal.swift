import CairnSQL
import Foundation

/// Brings the indexes of a file to those of a model: makes what is missing, drops what the model does
/// not have any more, and leaves the others, whose making costs time for each row.
struct IndexRenewal {
  let schema: SQLSchema
  /// What makes all indexes of the schema.
  let statements: [String]

  func run(_ connection: SQLiteConnection) throws {
    var wanted = statements
    for index in try existing(connection) {
      if let place = wanted.firstIndex(where: { Self.plain($0) == Self.plain(index.sql) }) {
        wanted.remove(at: place)
      } else {
        try connection.execute("DROP INDEX \(index.name.quotedAsName)")
      }
    }
    for statement in wanted { try connection.execute(statement) }
  }

  /// The indexes that are named as Core Data names them; others are the program's own.
  private func existing(
    _ connection: SQLiteConnection
  ) throws -> [(name: String, sql: String)] {
    let tables = Set(schema.tables.map(\.name) + schema.joinTables.values.joined().map(\.name))
    let select = try connection.statement(
      "SELECT name, tbl_name, sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL "
        + "AND (substr(name, 1, 2) = 'Z_' OR name GLOB 'Z*_INDEX' "
        + "OR substr(name, 1, length(tbl_name) + 1) = tbl_name || '_')")
    defer { select.reset() }
    var result: [(String, String)] = []
    while try select.step() {
      guard tables.contains(select.string(1)) else { continue }
      result.append((select.string(0), select.string(2)))
    }
    return result
  }

  /// A statement without what may differ and says the same.
  private static func plain(_ statement: String) -> String {
    statement.filter { !$0.isWhitespace && !"\"`[]".contains($0) }.lowercased()
  }
}
