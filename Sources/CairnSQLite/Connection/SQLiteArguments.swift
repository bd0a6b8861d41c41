import CairnModel
import CairnPredicates
import Foundation
import GRDBSQLite

// Arguments and results of SQL functions as the values of predicates: with every byte of a text,
// also after a NUL, where strings of C end.

/// One argument of an SQL function.
struct SQLiteArgument {
  let value: OpaquePointer

  var isText: Bool { sqlite3_value_type(value) == SQLITE_TEXT }
  var integer: Int64 { sqlite3_value_int64(value) }
  /// The number as a set of bits: who calls a function may give any.
  var bits: UInt { UInt(truncatingIfNeeded: integer) }

  /// The bytes of a text; valid until the function returns.
  var bytes: UnsafeBufferPointer<UInt8> {
    guard let start = sqlite3_value_text(value) else {
      return UnsafeBufferPointer(start: nil, count: 0)
    }
    return UnsafeBufferPointer(start: start, count: Int(sqlite3_value_bytes(value)))
  }

  var text: String { String(decoding: bytes, as: UTF8.self) }

  /// Null for blobs, which no function takes.
  var predicateValue: PredicateValue {
    switch sqlite3_value_type(value) {
    case SQLITE_INTEGER: return .integer(sqlite3_value_int64(value))
    case SQLITE_FLOAT: return .number(sqlite3_value_double(value))
    case SQLITE_TEXT: return .string(text)
    default: return .null
    }
  }
}

/// A call of an SQL function.
struct SQLiteCall {
  let context: OpaquePointer
  private let values: SQLiteValues
  var count: Int { values.count }

  /// Nil outside a call.
  init?(_ context: OpaquePointer?, _ count: Int32, _ values: UnsafeMutablePointer<OpaquePointer?>?)
  {
    guard let context else { return nil }
    self.context = context
    self.values = SQLiteValues(values, count: count)
  }

  /// Nil when there is no such argument.
  func argument(_ index: Int) -> SQLiteArgument? {
    values[index].map(SQLiteArgument.init)
  }

  func result(_ flag: Bool) { sqlite3_result_int(context, flag ? 1 : 0) }

  func result(_ text: String) {
    var text = text
    text.withUTF8 { bytes in
      bytes.withCharacters { characters in
        guard let characters else {
          sqlite3_result_text(context, "", 0, SQLiteDestructor.transient)
          return
        }
        sqlite3_result_text64(
          context, characters, UInt64(bytes.count), SQLiteDestructor.transient, UInt8(SQLITE_UTF8))
      }
    }
  }

  func result(_ value: PredicateValue) {
    switch value {
    case .boolean(let flag): result(flag)
    case .integer(let number): sqlite3_result_int64(context, number)
    case .double(let number): sqlite3_result_double(context, number)
    case .decimal(let number):
      // As it would be stored.
      let stored = StoredForm.number(number)
      if let integer = stored.integer {
        sqlite3_result_int64(context, integer)
      } else {
        sqlite3_result_double(context, stored.double)
      }
    case .string(let text): result(text)
    case .date(let date): sqlite3_result_double(context, date.timeIntervalSinceReferenceDate)
    case .null, .data, .uuid, .url, .objectID, .object, .array, .set, .dictionary:
      sqlite3_result_null(context)
    }
  }

  func fail(_ error: any Error) {
    sqlite3_result_error(context, "\(error)", -1)
  }
}
