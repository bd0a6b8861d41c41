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
    let untold = untoldTables(of: schema)
    let entities = try schema.entities.filter { $0.superNumber == 0 }.map { root in
      let members = root.subtree.compactMap { schema.entity(number: $0) }
      let fileColumns = Set(
        members.flatMap { member in member.externalSlots.compactMap { member.slots[$0].column } })
      return SummedTable(
        number: Int64(root.number), name: root.table, key: "Z_PK", root: root,
        columns: try HistoryTables.columns(of: root.table, connection),
        fileColumns: fileColumns.sorted(), changesUntold: untold.contains(root.table))
    }
    let joins = schema.joinTables.values.joined().map(\.name).sorted()
    return try entities
      + joins.enumerated().compactMap { index, name in
        let columns = try HistoryTables.columns(of: name, connection)
        // A damaged file may lack the table.
        if columns.isEmpty { return nil }
        return SummedTable(
          number: firstLinks - Int64(index), name: name, key: "rowid", root: nil, columns: columns,
          fileColumns: [], changesUntold: true)
      }
  }

  /// Tables whose rows change with others, while history tells of those others only: what triggers
  /// derive, the places of ordered members, and keys of relationships without inverse.
  private static func untoldTables(of schema: SQLSchema) -> Set<String> {
    var tables: Set<String> = []
    for entity in schema.entities {
      if !entity.derivedSlots.isEmpty { tables.insert(entity.table) }
      for case .foreignKey(let table, _, _, let order, let isHidden) in entity.links
      where order != nil || isHidden {
        tables.insert(table)
      }
    }
    return tables
  }

  /// Whether a program has put a trigger on the sums, which can do anything, without end too.
  static func hasTriggers(_ connection: SQLiteConnection) throws -> Bool {
    try connection.integer(
      "SELECT 1 FROM sqlite_master WHERE type = 'trigger' AND tbl_name = '\(name)'") != nil
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
    // Files are not written to once they have a name, so their sums stay what they were: what is on
    // the disk now may be damaged.
    try connection.execute("DELETE FROM \(Self.name) WHERE E NOT IN (0, \(Self.files))")
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
    progress.commits = SumProgress.credible(commits ?? 0)
    try set(progress)
    try connection.execute("DROP TABLE \(Self.earlierName)")
  }

  // MARK: Files

  /// Sums up those of some files that have no sum yet.
  private func sumFiles(_ names: Set<String>) throws {
    for name in names {
      let key = Self.key(ofFile: name)
      let known = try connection.integer(
        "SELECT 1 FROM \(Self.name) WHERE E = ? AND K = ?", Self.files, key)
      // One that cannot be read gets none: it is no reason to refuse what was written beside it, and
      // the program that reads it gets the error.
      guard known == nil, let data = (try? files.contents(ofFile: name)) ?? nil else { continue }
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

  static func forget(_ names: [String], _ connection: SQLiteConnection) throws {
    for name in names {
      _ = try connection.integer(
        "DELETE FROM \(Self.name) WHERE E = ? AND K = ?", files, key(ofFile: name))
    }
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

  /// What history tells of the transactions that the sums do not know yet.
  func news() throws -> SumNews {
    guard try connection.hasTable("ATRANSACTION") else { return .none }
    return try news(
      since: progress().transaction,
      last: connection.greatestKey(
        ofEntity: HistoryTables.transactionNumber, table: "ATRANSACTION"))
  }

  private func news(since known: Int64, last: Int64) throws -> SumNews {
    if last <= known { return .none }
    let first = try connection.integer("SELECT MIN(Z_PK) FROM ATRANSACTION") ?? .max
    return first > known + 1 ? .untold : .told(after: known)
  }

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
    // Numbers that cannot be counted on from are an error here.
    let last = try lastTransaction()
    let known = progress.transaction
    switch try news(since: known, last: last) {
    case .none: return progress
    case .told: break
    case .untold:
      try rebuild()
      return try self.progress()
    }
    progress.transaction = last
    for table in tables {
      guard let root = table.root, !table.changesUntold else {
        try sum(KeyRuns(merging: [.min ... .max]), of: table, hasDeletions: true)
        continue
      }
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
    // A record that is damaged says nothing of its other rows either.
    if !blocks.damaged.isEmpty {
      try sum(KeyRuns(merging: blocks.damaged), of: table, hasDeletions: true)
    }
  }

  /// Takes away the sums of rows that are gone; those that are there keep theirs.
  func forgetLost(_ keys: [Int64], of table: SummedTable) throws {
    let find = try connection.statement("SELECT 1 FROM \(table.name) WHERE \(table.key) = ?")
    let gone = try keys.filter { key in
      defer { find.reset() }
      find.bind(key, at: 1)
      return try !find.step()
    }
    if gone.isEmpty { return }
    var blocks = SumBlocks(of: table.number, KeyRuns(gone), connection)
    try blocks.clear()
    if !blocks.damaged.isEmpty {
      try sum(KeyRuns(merging: blocks.damaged), of: table, hasDeletions: true)
    }
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
