import GRDBSQLite

/// What tells SQLite to copy a value before the call returns.
enum SQLiteDestructor {
  /// `SQLITE_TRANSIENT`, a macro that Swift does not see.
  static let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
}

extension UnsafeBufferPointer<UInt8> {
  /// Calls a closure with the same bytes as C's characters; nil for bytes without an address, which an
  /// empty text may be.
  @inline(__always)
  func withCharacters<Result>(_ body: (UnsafePointer<CChar>?) throws -> Result) rethrows -> Result {
    try withMemoryRebound(to: CChar.self) { try body($0.baseAddress) }
  }
}

/// The arguments of one call of an SQL function, valid until it returns.
struct SQLiteValues {
  private let values: UnsafeMutablePointer<OpaquePointer?>?
  let count: Int

  init(_ values: UnsafeMutablePointer<OpaquePointer?>?, count: Int32) {
    self.values = values
    self.count = Int(count)
  }

  /// Nil when there is no such argument.
  subscript(index: Int) -> OpaquePointer? {
    index >= 0 && index < count ? values?[index] : nil
  }
}
