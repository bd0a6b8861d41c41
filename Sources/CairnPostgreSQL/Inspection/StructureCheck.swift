import CairnSQL
import CairnStore

/// Compares the tables that are there with those that the model asks for.
struct StructureCheck {
  let content: StoreContent
  let connection: PostgreSQLConnection

  private var schema: PostgreSQLSchema { content.schema }

  /// - Returns: What is wrong, and whether the tables have all columns that queries name.
  func run() throws -> (findings: [String], isComplete: Bool) {
    var parameters = ParameterList()
    parameters.append(schema.name.text)
    let results = try connection.run([
      Statement(
        "SELECT c.relname, a.attname, pg_catalog.format_type(a.atttypid, NULL), "
          + "pg_catalog.pg_get_serial_sequence(pg_catalog.format('%I.%I', n.nspname, c.relname), "
          + "a.attname) IS NOT NULL "
          + "FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace "
          + "JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid "
          + "WHERE n.nspname = $1 AND c.relkind IN ('r', 'p') AND a.attnum > 0 AND NOT a.attisdropped",
        parameters),
      Statement(
        "SELECT c.relname, i.indisunique, t.relname, i.indisprimary FROM pg_catalog.pg_index i "
          + "JOIN pg_catalog.pg_class c ON c.oid = i.indexrelid "
          + "JOIN pg_catalog.pg_class t ON t.oid = i.indrelid "
          + "JOIN pg_catalog.pg_namespace n ON n.oid = t.relnamespace "
          + "WHERE n.nspname = $1 AND i.indisvalid", parameters),
    ])
    guard results.count == 2 else { return ([], false) }
    let missing = columns(results[0])
    // The names are read from a table that may be missing.
    if !missing.isEmpty { return (missing, false) }
    return (try indexes(results[1]) + names() + entities() + triggers(), true)
  }

  private func columns(_ rows: PostgreSQLRows) -> [String] {
    var found: [String: [String: String]] = [:]
    var drawing: Set<String> = []
    for row in 0..<rows.count {
      guard let table = rows.text(row, 0), let column = rows.text(row, 1) else { continue }
      found[table, default: [:]][column] = rows.text(row, 2)
      if rows.flag(row, 3) == true, column == PostgreSQLSchemaBuilder.identifier {
        drawing.insert(table)
      }
    }
    let bookkeeping = BookkeepingTables.tables.filter { found[$0] == nil }
      .map { "The table \($0) is missing." }
    return bookkeeping
      + schema.tables.flatMap { table -> [String] in
        guard let columns = found[table.name] else {
          return ["The table \(table.name) (\(table.comment)) is missing."]
        }
        let keys =
          table.primaryKey.isEmpty && columns[PostgreSQLSchemaBuilder.identifier] != nil
            && !drawing.contains(table.name) ? [schema.missingKeys(of: table)] : []
        return keys
          + table.columns.compactMap { column in
            guard let type = columns[column.name] else {
              return "The column \(column.name) of \(table.name) is missing."
            }
            if type == column.type.name { return nil }
            return
              "The column \(column.name) of \(table.name) is of the type \(type) instead of \(column.type.name)."
          }
      }
  }

  /// An index that only makes fetches faster is not asked for.
  private func indexes(_ rows: PostgreSQLRows) -> [String] {
    var unique: Set<String> = []
    var keyed: Set<String> = []
    for row in 0..<rows.count where rows.flag(row, 1) == true {
      if let name = rows.text(row, 0) { unique.insert(name) }
      if rows.flag(row, 3) == true, let table = rows.text(row, 2) { keyed.insert(table) }
    }
    let tables = schema.tables.map(\.name) + BookkeepingTables.tables
    return tables.filter { !keyed.contains($0) }.map {
      "The table \($0) has no primary key, so that it may have rows twice."
    }
      + schema.indexes.filter { $0.isUnique && !unique.contains($0.name) }.map {
        "The unique index \($0.name) of \($0.table) is missing or not valid, so that values may be there twice."
      }
  }

  /// The table that says what of the model each name is for.
  private func names() throws -> [String] {
    let kept = try BookkeepingTables.keptNames(in: schema.name, on: connection)
    return schema.names.compactMap { origin, table, column in
      let known = column == nil ? kept.tables[origin] : kept.columns[table]?[origin]
      if known == column ?? table { return nil }
      return
        "\(BookkeepingTables.names) does not say what \(column.map { "the column \($0) of " } ?? "")\(table) is for."
    }
  }

  private func triggers() throws -> [String] {
    let record = try connection.run(
      "SELECT captures FROM " + SQLText.name(schema.name.text, BookkeepingTables.store))
    let missing = StoreFunctions.missing(from: schema, captures: record.flag(0, 0) ?? false)
    let rows = try connection.run(missing.text, missing.parameters, isKept: false)
    return (0..<rows.count).compactMap { rows.text($0, 0) }.map {
      "The function \($0), or a trigger that calls it, is missing or disabled, so that what other programs write is not taken up; "
        + "opening the store makes it anew."
    }
  }

  private func entities() throws -> [String] {
    let rows = try connection.run(
      "SELECT number, name, parent FROM "
        + SQLText.name(schema.name.text, BookkeepingTables.entities))
    var found: [Int64: (name: String?, parent: Int64)] = [:]
    for row in 0..<rows.count {
      if let number = rows.integer(row, 0) {
        found[number] = (rows.text(row, 1), rows.integer(row, 2) ?? 0)
      }
    }
    return schema.sql.entities.compactMap { entity in
      let known = found[Int64(entity.number)]
      if known?.name == entity.name, known?.parent == Int64(entity.superNumber) { return nil }
      return
        "\(BookkeepingTables.entities) has another entity than \(entity.name) as number \(entity.number)."
    }
  }
}
