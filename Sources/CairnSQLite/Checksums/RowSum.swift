import CairnModel
import Foundation
import GRDBSQLite

/// The sum of a row's stored values: 64 bits that another row, and the same row with a bit flipped,
/// practically never have.
///
/// It guards against accidents, not against forgery.
struct RowSum {
  private(set) var value: UInt64 = 0x2D35_8DCC_AA6C_78A5

  /// The SQL function `CairnRowSum(value, …)`, an integer other than 0.
  static let function = "CairnRowSum"
  /// SQLite allows 100 arguments.
  static let argumentLimit = 90

  static func register(on connection: OpaquePointer?) {
    sqlite3_create_function_v2(
      connection, function, -1, SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS, nil,
      { context, count, values in
        var sum = RowSum()
        for index in 0..<Int(count) { sum.add(values?[index]) }
        // 0 stands for a row that is not there.
        sqlite3_result_int64(context, sum.value == 0 ? 1 : Int64(bitPattern: sum.value))
      }, nil, nil, nil)
  }

  /// The sum of a file's contents.
  static func of(_ data: Data) -> Int64 {
    var sum = RowSum()
    data.withUnsafeBytes { sum.add($0) }
    return Int64(bitPattern: sum.value)
  }

  /// The sum of a text's UTF-8 bytes.
  static func of(_ text: String) -> Int64 {
    var (sum, text) = (RowSum(), text)
    text.withUTF8 { sum.add(UnsafeRawBufferPointer($0)) }
    return Int64(bitPattern: sum.value)
  }

  // MARK: Adding

  private mutating func add(_ stored: OpaquePointer?) {
    let type = sqlite3_value_type(stored)
    mix(UInt64(truncatingIfNeeded: type))
    switch type {
    case SQLITE_INTEGER: mix(UInt64(bitPattern: sqlite3_value_int64(stored)))
    case SQLITE_FLOAT: mix(sqlite3_value_double(stored).bitPattern)
    case SQLITE_TEXT:
      add(sqlite3_value_text(stored).map { UnsafeRawPointer($0) }, sqlite3_value_bytes(stored))
    case SQLITE_BLOB: add(sqlite3_value_blob(stored), sqlite3_value_bytes(stored))
    default: break
    }
  }

  private mutating func add(_ bytes: UnsafeRawPointer?, _ count: Int32) {
    add(UnsafeRawBufferPointer(start: bytes, count: bytes == nil ? 0 : Int(count)))
  }

  private mutating func add(_ bytes: UnsafeRawBufferPointer) {
    mix(UInt64(bytes.count))
    var (offset, rest) = (0, bytes.count)
    while rest >= 8 {
      mix(bytes.number(at: offset))
      offset &+= 8
      rest &-= 8
    }
    var last: UInt64 = 0
    while rest > 0 {
      last = last << 8 | UInt64(bytes[offset])
      offset &+= 1
      rest &-= 1
    }
    mix(last)
  }

  /// Each word goes through a step that can be undone, so that no single change is ever lost.
  @inline(__always)
  private mutating func mix(_ word: UInt64) {
    value = (value ^ word) &* 0x9E37_79B9_7F4A_7C15
    value ^= value >> 32
  }
}
