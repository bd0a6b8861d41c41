// What a program does by hand that writes and reads the sample with libpq, as fast as the server takes it.

import Foundation

/// The sample's table in a schema of its own.
final class RawPostgreSQL {
  private let connection: RawLibPQ
  private let schema: String

  private static let columns: [(name: String, type: String, number: UInt32)] = [
    ("id", "bigint", 20), ("number", "bigint", 20), ("grp", "bigint", 20), ("count", "bigint", 20),
    ("ratio", "double precision", 701), ("weight", "double precision", 701),
    ("created", "timestamptz", 1184), ("code", "text", 25), ("name", "text", 25),
    ("title", "text", 25), ("payload", "bytea", 17),
  ]
  private static let names = columns.map(\.name).joined(separator: ", ")
  private static let arrayTypes: [UInt32: UInt32] = [
    20: 1016, 701: 1022, 1184: 1185, 25: 1009, 17: 1001,
  ]

  /// Makes the schema and an empty table.
  init(_ server: BenchmarkServer, schema: String) throws {
    connection = try RawLibPQ(server.connection)
    self.schema = schema
    let definitions = Self.columns.map { "\($0.name) \($0.type)" }.joined(separator: ", ")
    try connection.execute(
      "CREATE SCHEMA \(schema); CREATE TABLE \(schema).item (\(definitions), PRIMARY KEY (id))")
  }

  func drop() throws { try connection.execute("DROP SCHEMA \(schema) CASCADE") }

  func analyze() throws { try connection.execute("VACUUM ANALYZE \(schema).item") }

  // MARK: Inserting

  /// A thousand rows a statement, in arrays, all in one transaction.
  func insert(_ rows: [Sample]) throws {
    let marks = Self.columns.indices.map { "$\($0 + 1)" }.joined(separator: ", ")
    try connection.prepare(
      "insert_items",
      "INSERT INTO \(schema).item (\(Self.names)) SELECT * FROM unnest(\(marks))",
      types: Self.columns.compactMap { Self.arrayTypes[$0.number] })
    var arrays = Self.columns.map { _ in RawBytes() }
    defer { for array in arrays { array.free() } }
    try connection.execute("BEGIN")
    for start in stride(from: 0, to: rows.count, by: 1000) {
      let portion = rows[start..<min(start + 1000, rows.count)]
      for (index, column) in Self.columns.enumerated() {
        arrays[index].clear()
        arrays[index].append(Int32(1))
        arrays[index].append(Int32(index == 10 ? 1 : 0))
        arrays[index].append(column.number)
        arrays[index].append(Int32(portion.count))
        arrays[index].append(Int32(1))
      }
      for row in portion { Self.append(row) { index, write in write(&arrays[index]) } }
      try connection.run("insert_items", arrays.map(\.bytes)) { _ in }
    }
    try connection.execute("COMMIT")
  }

  /// The values of a row, each into the bytes of its column.
  @inline(__always)
  private static func append(_ row: Sample, _ to: (Int, (inout RawBytes) -> Void) -> Void) {
    to(0) { $0.value(row.number + 1) }
    to(1) { $0.value(row.number) }
    to(2) { $0.value(row.group) }
    to(3) { $0.value(row.count) }
    to(4) { $0.value(Int64(bitPattern: row.ratio.bitPattern)) }
    to(5) { $0.value(Int64(bitPattern: row.weight.bitPattern)) }
    // From 2000, as the server counts, to 2001, as Foundation does.
    to(6) { $0.value(Int64(row.created * 1e6) + 366 * 86_400 * 1_000_000) }
    to(7) { $0.value(row.code) }
    to(8) { $0.value(row.name) }
    to(9) { $0.value(row.title) }
    to(10) { $0.value(row.payload) }
  }

  // MARK: Merging

  /// COPY into a temporary table, and from there into the rows that exist, all in one transaction.
  func merge(_ rows: [Sample]) throws {
    let assignments = Self.columns.dropFirst().map { "\($0.name) = excluded.\($0.name)" }
    try connection.execute("BEGIN")
    try connection.execute(
      "CREATE TEMPORARY TABLE arriving (LIKE \(schema).item) ON COMMIT DROP")
    try copy(rows, into: "arriving")
    try connection.execute(
      "INSERT INTO \(schema).item SELECT * FROM arriving ON CONFLICT (id) DO UPDATE SET "
        + assignments.joined(separator: ", "))
    try connection.execute("COMMIT")
  }

  private func copy(_ rows: [Sample], into table: String) throws {
    try connection.copy("COPY \(table) (\(Self.names)) FROM STDIN (FORMAT binary)") { send in
      var bytes = RawBytes()
      defer { bytes.free() }
      Array("PGCOPY\n\u{ff}\r\n\0".unicodeScalars.map { UInt8($0.value) }).withUnsafeBytes {
        bytes.append($0)
      }
      bytes.append(Int32(0))
      bytes.append(Int32(0))
      for row in rows {
        bytes.append(Int16(Self.columns.count))
        Self.append(row) { _, write in write(&bytes) }
        if bytes.count > 60_000 {
          try send(bytes.bytes)
          bytes.clear()
        }
      }
      bytes.append(Int16(-1))
      try send(bytes.bytes)
    }
  }

  // MARK: Reading

  /// Reads every column of every row, and copies nothing.
  func readAll() throws -> Int64 {
    try connection.prepare("read_items", "SELECT \(Self.names) FROM \(schema).item")
    return try connection.run("read_items") { rows in
      var sum: Int64 = 0
      for row in 0..<connection.rowCount(rows) { sum &+= read(rows, row) }
      return sum
    }
  }

  /// One round trip a key.
  func lookUp(_ keys: [Int64]) throws -> Int64 {
    try connection.prepare(
      "look_up", "SELECT \(Self.names) FROM \(schema).item WHERE id = $1", types: [20])
    var sum: Int64 = 0
    for key in keys {
      sum &+= try withUnsafeBytes(of: key.bigEndian) { parameter in
        try connection.run("look_up", [parameter]) { rows in
          connection.rowCount(rows) == 1 ? read(rows, 0) : 0
        }
      }
    }
    return sum
  }

  private func read(_ rows: RawLibPQ.Handle, _ row: Int32) -> Int64 {
    var sum: Int64 = 0
    for column in Int32(0)...6 {
      guard let value = connection.value(rows, row, column) else { continue }
      sum &+= Int64(bigEndian: UnsafeRawPointer(value).loadUnaligned(as: Int64.self))
    }
    for column in Int32(7)...9 {
      if let value = connection.value(rows, row, column) { sum &+= Int64(value[0]) }
      sum &+= Int64(connection.length(rows, row, column))
    }
    if connection.isNull(rows, row, 10) == 0, connection.value(rows, row, 10) != nil { sum &+= 1 }
    return sum
  }
}
