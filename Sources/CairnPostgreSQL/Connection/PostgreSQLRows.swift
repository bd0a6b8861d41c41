import CLibPQ

/// The result of a statement: its rows in binary form, or how many rows it changed.
// Unchecked: libpq's result never changes once it is made, and is freed with the last reference.
package final class PostgreSQLRows: @unchecked Sendable {
  let handle: OpaquePointer
  private let libpq: LibPQ
  package let count: Int
  package let columnCount: Int

  init(_ handle: OpaquePointer, libpq: LibPQ) {
    self.handle = handle
    self.libpq = libpq
    count = Int(libpq.rowCount(handle))
    columnCount = Int(libpq.columnCount(handle))
  }

  deinit { libpq.clear(handle) }

  var status: ResultStatus? { ResultStatus(rawValue: libpq.resultStatus(handle)) }

  /// How many rows an INSERT, UPDATE, DELETE or COPY touched.
  package var affectedRows: Int {
    libpq.affectedRows(handle).flatMap { Int(String(cString: $0)) } ?? 0
  }

  /// How many bytes the result takes in memory.
  var byteCount: Int { libpq.memorySize(handle) }

  /// The name of a column.
  func columnName(_ column: Int) -> String {
    libpq.columnName(handle, Int32(column)).map { String(cString: $0) } ?? ""
  }

  /// The bytes of a value, nil for NULL; valid while this result lives.
  func bytes(_ row: Int, _ column: Int) -> UnsafeRawBufferPointer? {
    // The server decides how many rows and columns it sends: those that it leaves out read as NULL.
    guard row >= 0, row < count, column >= 0, column < columnCount else { return nil }
    let (row, column) = (Int32(truncatingIfNeeded: row), Int32(truncatingIfNeeded: column))
    let length = libpq.length(handle, row, column)
    // NULL has no bytes, as some values have none.
    if length == 0, libpq.isNull(handle, row, column) == 1 { return nil }
    return UnsafeRawBufferPointer(
      start: libpq.value(handle, row, column), count: Int(length))
  }
}
