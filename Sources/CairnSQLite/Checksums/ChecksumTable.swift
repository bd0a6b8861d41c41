import CairnSQL
import CairnStore
import Foundation

/// The table `CAIRNSUMS`: a sum of every row of every entity and of every link in a join table, and of
/// every file of external data.
///
/// `E` is the number of the entity at the root of the hierarchy, `K` the key of a row divided by 32, `S`
/// the sums of the 32 rows with keys from there on, 64 bits each, low bytes first, 0 for no row. Records
/// with `E` -1 are of files, `K` being made from the file's name and `S` the sum; those with smaller
/// `E` are of links, SQLite's own number of the row being its key, which a table with an index keeps
/// for good. The one with `E` 0 says how far the sums go (``SumProgress``).
struct ChecksumTable {
  static let name = "CAIRNSUMS"
  /// What earlier versions had: a record for each row.
  static let earlierName = "CAIRNSUM"
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
        + "(E INTEGER, K INTEGER, S, PRIMARY KEY (E, K)) WITHOUT ROWID")
    try connection.execute("DELETE FROM \(Self.name) WHERE E <> 0")
    let everything = KeyRuns(merging: [.min ... .max])
    for table in tables { try sum(everything, of: table, hasDeletions: false) }
    var progress = try progress()
    progress.transaction = try lastTransaction()
    try set(progress)
  }

  /// Makes the table in the place of one that an earlier version made, whose commits are counted on.
  func replaceEarlier() throws {
    let commits = try connection.integer("SELECT S FROM \(Self.earlierName) WHERE E = 0 AND K = 1")
    try rebuild()
    var progress = try progress()
    progress.commits = commits ?? 0
    try set(progress)
    try connection.execute("DROP TABLE \(Self.earlierName)")
  }

  /// Sums up the links anew, from what is stored now.
  private func rebuildLinks() throws {
    let everything = KeyRuns(merging: [.min ... .max])
    for table in tables where table.root == nil {
      try sum(everything, of: table, hasDeletions: true)
    }
  }

  // MARK: Files

  /// Sums up those of some files that have no sum yet.
  private func sumFiles(_ names: Set<String>) throws {
    for name in names {
      let key = Self.key(ofFile: name)
      let known = try connection.integer(
        "SELECT 1 FROM \(Self.name) WHERE E = ? AND K = ?", Self.files, key)
      guard known == nil, let data = try files.contents(ofFile: name) else { continue }
      _ = try connection.integer(
        "INSERT OR REPLACE INTO \(Self.name) (E, K, S) VALUES (?, ?, ?)", Self.files, key,
        RowSum.of(data))
    }
  }

  /// The sum of a file's contents as they were saved; nil when it is not known.
  static func sum(ofFile name: String, _ connection: SQLiteConnection) throws -> Int64? {
    try connection.integer(
      "SELECT S FROM \(Self.name) WHERE E = ? AND K = ?", Self.files, key(ofFile: name))
  }

  private static func key(ofFile name: String) -> Int64 { RowSum.of(name) }

  // MARK: Progress

  func progress() throws -> SumProgress {
    let select = try connection.statement("SELECT S FROM \(Self.name) WHERE E = 0 AND K = 0")
    defer { select.reset() }
    guard try select.step() else { return SumProgress() }
    return SumProgress(select.bytes(0)) ?? SumProgress()
  }

  private static let setProgress =
    "INSERT OR REPLACE INTO \(name) (E, K, S) VALUES (0, 0, ?)"

  func set(_ progress: SumProgress) throws {
    let put = try connection.statement(Self.setProgress)
    try progress.withBytes { bytes in
      put.bindInPlace(bytes, at: 1)
      // The bytes may be gone after this.
      defer { put.reset() }
      try put.run()
    }
  }

  /// Whether no program that knows nothing of sums has written since, as far as history tells.
  func isUpToDate() throws -> Bool { try lastTransaction() <= progress().transaction }

  private func lastTransaction() throws -> Int64 {
    guard try connection.hasTable("ATRANSACTION") else { return 0 }
    return try connection.lastKey(
      ofEntity: HistoryTables.transactionNumber, table: "ATRANSACTION")
  }

  // MARK: Keeping

  /// Takes in what programs that know nothing of sums have written since, as far as history tells.
  ///
  /// - Returns: How far the sums go then.
  func adopt() throws -> SumProgress {
    var progress = try progress()
    let (known, last) = (progress.transaction, try lastTransaction())
    guard last > known else { return progress }
    progress.transaction = last
    let first = try connection.integer("SELECT MIN(Z_PK) FROM ATRANSACTION") ?? last + 1
    if first > known + 1 {
      // Some of it is no longer told.
      try rebuild()
      return progress
    }
    // History tells of objects, not of links.
    try rebuildLinks()
    for table in tables {
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
      try sum(KeyRuns(keys), of: table, hasDeletions: true)
    }
    try set(progress)
    return progress
  }

  /// Sums up rows that were written.
  ///
  /// - Parameter hasDeletions: Whether some of them may be gone.
  func sum(_ keys: KeyRuns, of table: SummedTable, hasDeletions: Bool) throws {
    if keys.ranges.isEmpty { return }
    var blocks = SumBlocks(of: table.number, keys, connection)
    if hasDeletions { try blocks.clear() }
    var files: Set<String> = []
    try read(keys, of: table) { row in
      try blocks.set(row.integer(0), to: row.integer(1))
      for column in table.fileColumns.indices {
        if let name = ExternalDataFiles.fileName(ofColumn: row.data(2 + Int32(column))) {
          files.insert(name)
        }
      }
    }
    try blocks.finish()
    try sumFiles(files)
  }

  /// Goes over those rows with some keys that are there, in ascending order.
  private func read(
    _ keys: KeyRuns, of table: SummedTable, _ take: (SQLiteStatement) throws -> Void
  ) throws {
    var (among, between): (SQLiteStatement?, SQLiteStatement?)
    func run(_ statement: SQLiteStatement) throws {
      defer { statement.reset() }
      while try statement.step() { try take(statement) }
    }
    var singles: [Int64] = []
    func readSingles() throws {
      if singles.isEmpty { return }
      defer { singles.removeAll(keepingCapacity: true) }
      if singles.count == 1 { return try read(singles[0]...singles[0]) }
      let rows = try among ?? connection.statement(table.rowsAmong)
      among = rows
      // Parameters that are not bound are NULL, and no row has that key.
      for (place, key) in singles.enumerated() { rows.bind(key, at: Int32(1 + place)) }
      try run(rows)
    }
    func read(_ range: ClosedRange<Int64>) throws {
      let rows = try between ?? connection.statement(table.rowsBetween)
      between = rows
      rows.bind(range.lowerBound, at: 1)
      rows.bind(range.upperBound, at: 2)
      try run(rows)
    }
    for range in keys.ranges {
      if UInt64(bitPattern: range.upperBound &- range.lowerBound) < 4 {
        for key in range {
          singles.append(key)
          if singles.count == SummedTable.portion { try readSingles() }
        }
      } else {
        try readSingles()
        try read(range)
      }
    }
    try readSingles()
  }
}
