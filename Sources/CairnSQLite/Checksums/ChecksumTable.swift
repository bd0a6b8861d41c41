import CairnSQL
import CairnStore
import Foundation

/// The table `CAIRNSUM`: a sum of every row of every entity, and of every file of external data.
///
/// `E` is the number of the entity at the root of the hierarchy, `K` the row's key, `S` the sum. Rows
/// with `E` -1 are of files, `K` being made from the file's name; those with `E` 0 say how far the
/// sums go: `K` 0 is the last history transaction that they know of, `K` 1 counts commits.
struct ChecksumTable {
  static let name = "CAIRNSUM"
  private static let files: Int64 = -1

  /// A table of entities, with the SQL for the sum of a row of it.
  struct EntityTable: Sendable {
    let root: SQLEntity
    let sum: String
    /// Columns that may name files.
    let fileColumns: [String]
  }
  let entities: [EntityTable]
  let connection: SQLiteConnection
  let files: ExternalDataFiles

  init(
    _ entities: [EntityTable], _ connection: SQLiteConnection, files: ExternalDataFiles
  ) {
    self.entities = entities
    self.connection = connection
    self.files = files
  }

  /// The tables of a schema as they are in the file.
  static func entities(
    of schema: SQLSchema, _ connection: SQLiteConnection
  ) throws -> [EntityTable] {
    try schema.entities.filter { $0.superNumber == 0 }.map { root in
      let columns = try HistoryTables.columns(of: root.table, connection)
      var parts: [String] = []
      for start in stride(from: 0, to: columns.count, by: RowSum.argumentLimit) {
        let some = columns[start..<min(start + RowSum.argumentLimit, columns.count)]
        parts.append(
          "\(RowSum.function)(\(some.map { "t.\"\($0)\"" }.joined(separator: ", ")))")
      }
      let members = root.subtree.compactMap { schema.entity(number: $0) }
      let fileColumns = Set(
        members.flatMap { member in member.externalSlots.compactMap { member.slots[$0].column } })
      return EntityTable(
        root: root,
        sum: parts.count == 1
          ? parts[0] : "\(RowSum.function)(\(parts.joined(separator: ", ")))",
        fileColumns: fileColumns.sorted())
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
    for table in entities {
      try connection.execute(
        "INSERT INTO \(Self.name) SELECT \(table.root.number), t.Z_PK, \(table.sum) "
          + "FROM \(table.root.table) t")
      try sumFiles(of: table, where: "1")
    }
    try set(0, to: lastTransaction())
  }

  /// Sums up the files that rows of a table name and that have no sum yet.
  private func sumFiles(of table: EntityTable, where condition: String, _ list: String? = nil)
    throws
  {
    var names: Set<String> = []
    for column in table.fileColumns {
      let select = try connection.statement(
        "SELECT substr(t.\(column), 1, 38) FROM \(table.root.table) t WHERE \(condition)")
      defer { select.reset() }
      if let list { select.bind(list, at: 1) }
      while try select.step() {
        if let name = ExternalDataFiles.fileName(ofColumn: select.data(0)) { names.insert(name) }
      }
    }
    for name in names {
      let key = Self.key(ofFile: name)
      let known = try connection.integer(
        "SELECT 1 FROM \(Self.name) WHERE E = ? AND K = ?", Self.files, key)
      guard known == nil, let data = files.data(ofFile: name) else { continue }
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
    for (place, table) in entities.enumerated() {
      let select = try connection.statement(
        "SELECT DISTINCT ZENTITYPK FROM ACHANGE WHERE ZTRANSACTIONID > ? "
          + "AND ZENTITY BETWEEN ? AND ?")
      defer { select.reset() }
      select.bind(known, at: 1)
      select.bind(Int64(table.root.subtree.lowerBound), at: 2)
      select.bind(Int64(table.root.subtree.upperBound), at: 3)
      var keys: [Int64] = []
      while try select.step() { keys.append(select.integer(0)) }
      try sum(keys, of: place, hasDeletions: true)
    }
  }

  /// Sums up the rows that a transaction has written, at its end, and counts the commit.
  ///
  /// - Returns: The number of the commit.
  func finish(_ touched: TouchedRows, after known: Int64) throws -> Int64 {
    for place in entities.indices {
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
    let table = entities[place]
    let sorted = keys.sorted()
    for start in stride(from: 0, to: sorted.count, by: 20_000) {
      let list = KeyList.json(sorted[start..<min(start + 20_000, sorted.count)])
      let chosen = "IN (SELECT value FROM json_each(?1))"
      if hasDeletions {
        try run(
          "DELETE FROM \(Self.name) WHERE E = \(table.root.number) AND K \(chosen)", list)
      }
      try run(
        "INSERT OR REPLACE INTO \(Self.name) SELECT \(table.root.number), t.Z_PK, \(table.sum) "
          + "FROM \(table.root.table) t WHERE t.Z_PK \(chosen)", list)
      if !table.fileColumns.isEmpty { try sumFiles(of: table, where: "t.Z_PK \(chosen)", list) }
    }
  }

  private func run(_ sql: String, _ list: String) throws {
    let statement = try connection.statement(sql)
    defer { statement.reset() }
    statement.bind(list, at: 1)
    try statement.run()
  }
}
