import CairnSQL
import CairnStore
import Foundation

/// The table `CAIRNSUM`: a sum of every row of every entity and of every link in a join table, and of
/// every file of external data.
///
/// `E` is the number of the entity at the root of the hierarchy, `K` the row's key, `S` the sum. Rows
/// with `E` -1 are of files, `K` being made from the file's name; those with smaller `E` are of links,
/// `K` being SQLite's own number of the row, which a table with an index keeps for good. Those with
/// `E` 0 say how far the sums go: `K` 0 is the last history transaction that they know of, `K` 1
/// counts commits, `K` 2 is 1 when they cover links.
struct ChecksumTable {
  static let name = "CAIRNSUM"
  private static let files: Int64 = -1
  private static let firstLinks: Int64 = -2
  let tables: [SummedTable]
  let connection: SQLiteConnection
  let files: ExternalDataFiles

  init(_ tables: [SummedTable], _ connection: SQLiteConnection, files: ExternalDataFiles) {
    self.tables = tables
    self.connection = connection
    self.files = files
  }

  /// The tables of a schema as they are in the file.
  static func tables(
    of schema: SQLSchema, _ connection: SQLiteConnection
  ) throws -> [SummedTable] {
    let entities = try schema.entities.filter { $0.superNumber == 0 }.map { root in
      let members = root.subtree.compactMap { schema.entity(number: $0) }
      let fileColumns = Set(
        members.flatMap { member in member.externalSlots.compactMap { member.slots[$0].column } })
      return SummedTable(
        number: Int64(root.number), name: root.table, key: "Z_PK", root: root,
        columns: try HistoryTables.columns(of: root.table, connection),
        fileColumns: fileColumns.sorted())
    }
    let joins = schema.joinTables.values.joined().map(\.name).sorted()
    return try entities
      + joins.enumerated().compactMap { index, name in
        let columns = try HistoryTables.columns(of: name, connection)
        // A damaged file may lack the table.
        if columns.isEmpty { return nil }
        return SummedTable(
          number: firstLinks - Int64(index), name: name, key: "rowid", root: nil, columns: columns,
          fileColumns: [])
      }
  }

  static func exists(_ connection: SQLiteConnection) throws -> Bool {
    try connection.hasTable(name)
  }

  // MARK: Making

  /// Makes the table, or makes it anew, from what is stored now.
  func rebuild() throws {
    try connection.execute(
      "CREATE TABLE IF NOT EXISTS \(Self.name) "
        + "(E INTEGER, K INTEGER, S INTEGER, PRIMARY KEY (E, K)) WITHOUT ROWID")
    try connection.execute("DELETE FROM \(Self.name) WHERE E <> 0")
    for table in tables {
      try sumAll(of: table)
      try sumFiles(of: table, where: "1")
    }
    try set(0, to: lastTransaction())
    try set(2, to: 1)
  }

  /// Whether links have sums; the first files with sums had none.
  func coversLinks() throws -> Bool { try value(2) == 1 }

  /// Sums up the links anew, from what is stored now.
  func rebuildLinks() throws {
    for table in tables where table.root == nil {
      try connection.execute("DELETE FROM \(Self.name) WHERE E = \(table.number)")
      try sumAll(of: table)
    }
    try set(2, to: 1)
  }

  private func sumAll(of table: SummedTable) throws {
    try connection.execute(
      "INSERT INTO \(Self.name) SELECT \(table.number), t.\(table.key), \(table.sum) "
        + "FROM \(table.name) t")
  }

  /// Sums up the files that rows of a table name and that have no sum yet.
  private func sumFiles(
    of table: SummedTable, where condition: String, _ keys: KeyRange? = nil
  ) throws {
    var names: Set<String> = []
    for column in table.fileColumns {
      let select = try connection.statement(
        "SELECT substr(t.\(column), 1, 38) FROM \(table.name) t WHERE \(condition)")
      defer { select.reset() }
      keys?.bind(to: select)
      while try select.step() {
        if let name = ExternalDataFiles.fileName(ofColumn: select.data(0)) { names.insert(name) }
      }
    }
    for name in names {
      let key = Self.key(ofFile: name)
      let known = try connection.integer(
        "SELECT 1 FROM \(Self.name) WHERE E = ? AND K = ?", Self.files, key)
      guard known == nil, let data = try files.contents(ofFile: name) else { continue }
      try put(Self.files, key, RowSum.of(data))
    }
  }

  static func key(ofFile name: String) -> Int64 { RowSum.of(Data(name.utf8)) }

  private func put(_ entity: Int64, _ key: Int64, _ sum: Int64) throws {
    _ = try connection.integer(
      "INSERT OR REPLACE INTO \(Self.name) (E, K, S) VALUES (?, ?, ?)", entity, key, sum)
  }

  private func set(_ place: Int64, to value: Int64) throws { try put(0, place, value) }

  private func value(_ place: Int64) throws -> Int64 {
    try connection.integer("SELECT S FROM \(Self.name) WHERE E = 0 AND K = ?", place) ?? 0
  }

  /// The number of the last commit that the sums know of.
  func commits() throws -> Int64 { try value(1) }

  /// Whether no program that knows nothing of sums has written since, as far as history tells.
  func isUpToDate() throws -> Bool { try lastTransaction() <= value(0) }

  private func lastTransaction() throws -> Int64 {
    guard try connection.hasTable("ATRANSACTION") else { return 0 }
    return try connection.lastKey(
      ofEntity: HistoryTables.transactionNumber, table: "ATRANSACTION")
  }

  // MARK: Keeping

  /// Takes in what programs that know nothing of sums have written since, as far as history tells.
  func adopt() throws {
    let (known, last) = (try value(0), try lastTransaction())
    guard last > known else { return }
    let first = try connection.integer("SELECT MIN(Z_PK) FROM ATRANSACTION") ?? last + 1
    // Some of it is no longer told.
    if first > known + 1 { return try rebuild() }
    // History tells of objects, not of links.
    try rebuildLinks()
    for (place, table) in tables.enumerated() {
      guard let root = table.root else { continue }
      let select = try connection.statement(
        "SELECT DISTINCT ZENTITYPK FROM ACHANGE WHERE ZTRANSACTIONID > ? "
          + "AND ZENTITY BETWEEN ? AND ?")
      defer { select.reset() }
      select.bind(known, at: 1)
      select.bind(Int64(root.subtree.lowerBound), at: 2)
      select.bind(Int64(root.subtree.upperBound), at: 3)
      var keys: [Int64] = []
      while try select.step() { keys.append(select.integer(0)) }
      try sum(keys, of: place, hasDeletions: true)
    }
  }

  /// Sums up the rows that a transaction has written, at its end, and counts the commit.
  ///
  /// - Returns: The number of the commit.
  func finish(_ touched: TouchedRows, after known: Int64) throws -> Int64 {
    for place in tables.indices {
      try sum(
        touched.written[place], of: place, hasDeletions: touched.hasDeletions[place])
    }
    try set(0, to: lastTransaction())
    let commit = max(try commits(), known) + 1
    try set(1, to: commit)
    return commit
  }

  private func sum(_ keys: [Int64], of place: Int, hasDeletions: Bool) throws {
    if keys.isEmpty { return }
    let table = tables[place]
    for portion in KeyRuns(keys).portions {
      if hasDeletions {
        try run(
          "DELETE FROM \(Self.name) WHERE E = \(table.number) AND "
            + portion.condition(on: "K"), portion)
      }
      let chosen = portion.condition(on: "t.\(table.key)")
      try run(
        "INSERT OR REPLACE INTO \(Self.name) SELECT \(table.number), t.\(table.key), \(table.sum) "
          + "FROM \(table.name) t WHERE \(chosen)", portion)
      if !table.fileColumns.isEmpty { try sumFiles(of: table, where: chosen, portion) }
    }
  }

  private func run(_ sql: String, _ keys: KeyRange) throws {
    let statement = try connection.statement(sql)
    defer { statement.reset() }
    keys.bind(to: statement)
    try statement.run()
  }
}
