import CLibPQ
import CairnStore

/// Rows on their way into a table with COPY, in the binary form.
package struct CopyRows: ValueSink {
  private let connection: PostgreSQLConnection
  var writer = BinaryWriter()
  private let columnCount: Int16
  private var columnsLeft: Int16 = 0
  /// Where the length of the value that is being written goes.
  private var start = 0

  /// So many bytes are collected before they go to the server.
  private static let portion = 64 * 1024

  fileprivate init(_ connection: PostgreSQLConnection, columnCount: Int) {
    self.connection = connection
    self.columnCount = Int16(clamping: columnCount)
    // The signature, flags, and the length of what follows the header.
    writer.append(bytes: Array("PGCOPY\n".utf8) + [0xff] + Array("\r\n\0".utf8))
    writer.append(Int32(0))
    writer.append(Int32(0))
  }

  /// Adds a row.
  ///
  /// - Precondition: The closure adds as many values as there are columns.
  package mutating func row(_ write: (inout CopyRows) throws -> Void) throws {
    writer.append(columnCount)
    columnsLeft = columnCount
    try write(&self)
    // The caller's source writes each column of the table, NULL included; no value decides how many.
    precondition(columnsLeft == 0, "a row has a value for each column")
    if writer.bytes.count >= Self.portion { try send() }
  }

  mutating func begin(_ type: PostgreSQLType) {
    columnsLeft -= 1
    start = writer.bytes.count
    writer.append(Int32(0))
  }

  mutating func end() {
    writer.set(Int32(clamping: writer.bytes.count - start - 4), at: start)
  }

  mutating func appendNull(_ type: PostgreSQLType) {
    columnsLeft -= 1
    writer.append(Int32(-1))
  }

  private mutating func send() throws {
    let bytes = writer.bytes
    writer.removeAll()
    while true {
      let result = bytes.withUnsafeBytes { buffer in
        connection.libpq.putCopyData(
          connection.handle, buffer.characters, Int32(clamping: buffer.count))
      }
      if result == 1 { break }
      guard result == 0 else { throw connection.lost() }
      try connection.flush()
    }
    // The server takes it in while the next rows are made.
    try connection.flush()
  }

  fileprivate mutating func finish() throws {
    writer.append(Int16(-1))
    try send()
  }
}

extension PostgreSQLConnection {
  /// Copies rows into a table.
  ///
  /// - Parameter text: `COPY table (columns) FROM STDIN`, without options.
  /// - Returns: How many rows went in.
  /// - Throws: What the closure throws, in which case no row went in.
  package func copy(
    _ text: String, columnCount: Int, _ produce: (inout CopyRows) throws -> Void
  ) throws -> Int {
    try checkIsUsable()
    try check(
      libpq.sendQuery(handle, text + " (FORMAT binary)", 0, nil, nil, nil, nil, 1))
    let start = try finishStatement()
    guard start.status == .copyIn else {
      throw PostgreSQLFailure(.client, "the statement is no COPY from the client")
    }
    do {
      var rows = CopyRows(self, columnCount: columnCount)
      try produce(&rows)
      try rows.finish()
    } catch {
      if end == nil {
        try endCopy(problem: "the program gave up")
        // The server says that the copy failed, as it was asked to.
        _ = try? finishStatement()
      }
      throw error
    }
    try endCopy(problem: nil)
    return try finishStatement().affectedRows
  }

  private func endCopy(problem: String?) throws {
    while true {
      let result = libpq.putCopyEnd(handle, problem)
      if result == 1 { return }
      guard result == 0 else { throw lost() }
      try flush()
    }
  }
}
