import Foundation

/// The triggers, views and indexes in a store's file that are not Core Data's, over a migration.
///
/// Moving tables away takes their triggers and indexes along and rewrites what refers to them; so
/// these are taken out before and made again, word for word, after. Indexes of tables that stay stay
/// with them.
struct ForeignObjects {
  private struct Object {
    let type: String
    let name: String
    let sql: String
  }
  private let objects: [Object]

  /// Takes them out of the database, the indexes of some tables alone.
  static func take(
    from connection: SQLiteConnection, inTables tables: Set<String>
  ) throws -> ForeignObjects {
    // Core Data's indexes begin with Z_ or with their table's name, or, where the table got its name
    // later, end as those of relationships do.
    let select = try connection.statement(
      "SELECT type, name, sql, tbl_name FROM sqlite_master WHERE sql IS NOT NULL AND (type = 'view' "
        + "OR (type = 'index' AND NOT (substr(name, 1, 2) = 'Z_' OR name GLOB 'Z*_INDEX' "
        + "OR substr(name, 1, length(tbl_name) + 1) = tbl_name || '_')) "
        + "OR (type = 'trigger' AND name NOT GLOB 'Z_DA_*' AND name NOT GLOB 'Z_RT_*')) "
        + "ORDER BY rowid")
    var objects: [Object] = []
    while try select.step() {
      if select.string(0) == "index", !tables.contains(select.string(3)) { continue }
      objects.append(
        Object(type: select.string(0), name: select.string(1), sql: select.string(2)))
    }
    select.reset()
    // A view may have triggers, which go with it.
    let order = ["trigger": 0, "index": 1, "view": 2]
    for object in objects.sorted(by: { order[$0.type, default: 3] < order[$1.type, default: 3] }) {
      try connection.execute("DROP \(object.type.uppercased()) \(object.name.quotedAsName)")
    }
    return ForeignObjects(objects: objects)
  }

  /// Makes them again.
  ///
  /// One whose table or column the new model does not have any more can no longer be there.
  func putBack(into connection: SQLiteConnection) throws {
    for object in objects {
      try connection.execute("SAVEPOINT foreign_object")
      do {
        // SQLite itself reads no further when it loads the schema: no program has made what stands
        // behind.
        try connection.executeFirstStatement(of: object.sql)
      } catch {
        guard let failure = SQLiteResultCode.failure(in: error),
          SQLiteResultCode.isAboutStatement(failure)
        else { throw error }
        try connection.execute("ROLLBACK TO foreign_object")
      }
      try connection.execute("RELEASE foreign_object")
    }
  }
}
