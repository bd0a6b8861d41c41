// The limit: the SQLite C interface with prepared statements and nothing else.

import Foundation
import GRDBSQLite

/// A SQLite error, as text.
struct RawError: Error, CustomStringConvertible { let description: String }

/// One connection with the sample table.
final class RawDatabase {
  let file: URL
  let handle: OpaquePointer
  static let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

  init(_ file: URL) throws {
    self.file = file
    var pointer: OpaquePointer?
    let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX
    guard sqlite3_open_v2(file.path, &pointer, flags, nil) == SQLITE_OK, let pointer else {
      throw RawError(description: "cannot open \(file.path)")
    }
    handle = pointer
    // As Cairn's connections wait for one another.
    sqlite3_busy_timeout(handle, 10_000)
    try execute("PRAGMA journal_mode = WAL")
    try execute("PRAGMA synchronous = NORMAL")
  }

  deinit { sqlite3_close_v2(handle) }

  func execute(_ sql: String) throws {
    guard sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK else {
      throw RawError(description: "\(sql): \(String(cString: sqlite3_errmsg(handle)))")
    }
  }

  func prepare(_ sql: String) throws -> OpaquePointer {
    var statement: OpaquePointer?
    guard sqlite3_prepare_v2(handle, sql, -1, &statement, nil) == SQLITE_OK, let statement else {
      throw RawError(description: "\(sql): \(String(cString: sqlite3_errmsg(handle)))")
    }
    return statement
  }

  func step(_ statement: OpaquePointer) throws -> Bool {
    switch sqlite3_step(statement) {
    case SQLITE_ROW: return true
    case SQLITE_DONE: return false
    default: throw RawError(description: String(cString: sqlite3_errmsg(handle)))
    }
  }

  private static let sampleColumns = """
    id INTEGER PRIMARY KEY, number INTEGER, grp INTEGER, count INTEGER, ratio FLOAT, weight FLOAT,
    created TIMESTAMP, code VARCHAR, name VARCHAR, title VARCHAR, payload BLOB
    """
  private static let selectedColumns =
    "id, number, grp, count, ratio, weight, created, code, name, title, payload"

  func createSampleTable() throws {
    try execute("CREATE TABLE item (\(Self.sampleColumns))")
  }

  func insert(_ rows: [Sample]) throws {
    try execute("BEGIN IMMEDIATE")
    let statement = try prepare("INSERT INTO item VALUES (?,?,?,?,?,?,?,?,?,?,?)")
    defer { sqlite3_finalize(statement) }
    for row in rows {
      bind(row, to: statement)
      _ = try step(statement)
      sqlite3_reset(statement)
    }
    try execute("COMMIT")
  }

  /// Binds the key and the ten values of a row.
  private func bind(_ row: Sample, to statement: OpaquePointer) {
    sqlite3_bind_int64(statement, 1, row.number + 1)
    sqlite3_bind_int64(statement, 2, row.number)
    sqlite3_bind_int64(statement, 3, row.group)
    sqlite3_bind_int64(statement, 4, row.count)
    sqlite3_bind_double(statement, 5, row.ratio)
    sqlite3_bind_double(statement, 6, row.weight)
    sqlite3_bind_double(statement, 7, row.created)
    sqlite3_bind_text(statement, 8, row.code, -1, Self.transient)
    sqlite3_bind_text(statement, 9, row.name, -1, Self.transient)
    sqlite3_bind_text(statement, 10, row.title, -1, Self.transient)
    if let payload = row.payload {
      _ = payload.withUnsafeBytes {
        sqlite3_bind_blob(statement, 11, $0.baseAddress, Int32($0.count), Self.transient)
      }
    } else {
      sqlite3_bind_null(statement, 11)
    }
  }

  /// Reads every column of every row without keeping anything.
  func readAll() throws -> Int64 {
    let statement = try prepare(
      "SELECT \(Self.selectedColumns) FROM item")
    defer { sqlite3_finalize(statement) }
    var sum: Int64 = 0
    while try step(statement) { sum &+= readColumns(statement) }
    return sum
  }

  func readColumns(_ statement: OpaquePointer) -> Int64 {
    var sum = sqlite3_column_int64(statement, 0)
    for column in 1...3 { sum &+= sqlite3_column_int64(statement, Int32(column)) }
    for column in 4...6 { sum &+= Int64(sqlite3_column_double(statement, Int32(column))) }
    for column in 7...9 {
      if let text = sqlite3_column_text(statement, Int32(column)) { sum &+= Int64(text[0]) }
      sum &+= Int64(sqlite3_column_bytes(statement, Int32(column)))
    }
    if sqlite3_column_blob(statement, 10) != nil { sum &+= 1 }
    return sum
  }

  /// Looks rows up by primary key inside one read transaction.
  func lookUp(_ ids: [Int64]) throws -> Int64 {
    try execute("BEGIN")
    let statement = try prepare(
      "SELECT \(Self.selectedColumns) FROM item WHERE id = ?")
    defer { sqlite3_finalize(statement) }
    var sum: Int64 = 0
    for id in ids {
      sqlite3_bind_int64(statement, 1, id)
      if try step(statement) { sum &+= readColumns(statement) }
      sqlite3_reset(statement)
    }
    try execute("COMMIT")
    return sum
  }

  /// Updates two of the ten columns.
  func update(_ ids: [Int64]) throws {
    try execute("BEGIN IMMEDIATE")
    let statement = try prepare("UPDATE item SET count = ?, title = ? WHERE id = ?")
    defer { sqlite3_finalize(statement) }
    for id in ids {
      sqlite3_bind_int64(statement, 1, id &* 3)
      sqlite3_bind_text(statement, 2, "changed \(id)", -1, Self.transient)
      sqlite3_bind_int64(statement, 3, id)
      _ = try step(statement)
      sqlite3_reset(statement)
    }
    try execute("COMMIT")
  }

  /// Parents, and children with the sample's ten columns.
  func createFamily(parents: Int, children: Int) throws {
    try execute("PRAGMA foreign_keys = ON")
    try execute("CREATE TABLE parent (id INTEGER PRIMARY KEY, name VARCHAR)")
    try execute(
      "CREATE TABLE child (\(Self.sampleColumns), "
        + "parent INTEGER REFERENCES parent(id) ON DELETE CASCADE)")
    try execute("CREATE INDEX child_parent ON child(parent)")
    try execute("BEGIN IMMEDIATE")
    for parent in 1...parents { try execute("INSERT INTO parent VALUES (\(parent), 'p')") }
    let statement = try prepare("INSERT INTO child VALUES (?,?,?,?,?,?,?,?,?,?,?,?)")
    defer { sqlite3_finalize(statement) }
    for child in 0..<(parents * children) {
      bind(Sample(child), to: statement)
      sqlite3_bind_int64(statement, 12, Int64(child / children + 1))
      _ = try step(statement)
      sqlite3_reset(statement)
    }
    try execute("COMMIT")
  }

  /// Fifty rows at a time, by the index on the group.
  func ranges(_ groups: some Sequence<Int>) throws -> Int64 {
    try execute("BEGIN")
    let statement = try prepare(
      "SELECT \(Self.selectedColumns) FROM item WHERE grp = ?")
    defer { sqlite3_finalize(statement) }
    var sum: Int64 = 0
    for group in groups {
      sqlite3_bind_int64(statement, 1, Int64(group))
      while try step(statement) { sum &+= readColumns(statement) }
      sqlite3_reset(statement)
    }
    try execute("COMMIT")
    return sum
  }

  /// The children of each parent, parent by parent.
  func traverse() throws -> Int64 {
    try execute("BEGIN")
    let parents = try prepare("SELECT id, name FROM parent")
    let children = try prepare("SELECT \(Self.selectedColumns) FROM child WHERE parent = ?")
    defer {
      sqlite3_finalize(parents)
      sqlite3_finalize(children)
    }
    var sum: Int64 = 0
    while try step(parents) {
      sqlite3_bind_int64(children, 1, sqlite3_column_int64(parents, 0))
      while try step(children) { sum &+= readColumns(children) }
      sqlite3_reset(children)
    }
    try execute("COMMIT")
    return sum
  }

  func deleteParents(_ count: Int) throws {
    try execute("BEGIN IMMEDIATE")
    let statement = try prepare("DELETE FROM parent WHERE id = ?")
    defer { sqlite3_finalize(statement) }
    for id in 1...count {
      sqlite3_bind_int64(statement, 1, Int64(id))
      _ = try step(statement)
      sqlite3_reset(statement)
    }
    try execute("COMMIT")
  }
}
