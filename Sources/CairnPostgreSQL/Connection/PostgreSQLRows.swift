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

  /// The name of a column.
  func columnName(_ column: Int) -> String {
    libpq.columnName(handle, Int32(column)).map { String(cString: $0) } ?? ""
  }

  /// The bytes of a value, nil for NULL; valid while this result lives.
  func bytes(_ row: Int, _ column: Int) -> UnsafeRawBufferPointer? {
    // The server decides how many rows and columns it sends: those that it leaves out read as NULL.
    guard (0..<count).contains(row), (0..<columnCount).contains(column) else { return nil }
    if libpq.isNull(handle, Int32(row), Int32(column)) == 1 { return nil }
    return UnsafeRawBufferPointer(
      start: libpq.value(handle, Int32(row), Int32(column)),
      count: Int(libpq.length(handle, Int32(row), Int32(column))))
  }
}
