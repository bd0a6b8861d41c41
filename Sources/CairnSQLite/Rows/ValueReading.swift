import CairnModel
import CairnPredicates
import Foundation
import GRDBSQLite

// The stored form of values read back: what section 3.4 of the format allows in a column.

extension SQLiteStatement {
  /// The value of an attribute's column.
  ///
  /// What the most frequent types read tells NULL from a value most of the time, so that SQLite
  /// need not be asked for the type as well.
  @inline(__always)
  func value(
    _ column: Int32, type: AttributeType, isExternal: Bool, files: ExternalDataFiles
  ) -> AttributeValue {
    switch type {
    case .integer16, .integer32, .integer64:
      let number = integer(column)
      return number == 0 && isNull(column) ? .null : .integer(number)
    case .double:
      let number = double(column)
      return number == 0 && isNull(column) ? .null : .double(number)
    case .date:
      let number = double(column)
      return number == 0 && isNull(column)
        ? .null : .date(Date(timeIntervalSinceReferenceDate: number))
    case .string:
      let stored = stored(column)
      guard let start = sqlite3_value_text(stored) else {
        return sqlite3_value_type(stored) == SQLITE_NULL ? .null : .string("")
      }
      let count = Int(sqlite3_value_bytes(stored))
      return .string(
        String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self))
    case .boolean, .float, .decimal, .uri, .uuid, .binaryData, .transformable, .undefined,
      .composite, .objectID:
      return otherValue(column, type: type, isExternal: isExternal, files: files)
    }
  }

  /// The stored form of a column, to be asked several times for the price of once.
  ///
  /// It counts as "unprotected": SQLite does not guard it from other threads. None is on the
  /// connection while a row is read, and the value is not used beyond the row.
  @inline(__always)
  private func stored(_ column: Int32) -> OpaquePointer? { sqlite3_column_value(handle, column) }

  private func otherValue(
    _ column: Int32, type: AttributeType, isExternal: Bool, files: ExternalDataFiles
  ) -> AttributeValue {
    let value = self.stored(column)
    let stored = sqlite3_value_type(value)
    if stored == SQLITE_NULL { return .null }
    switch type {
    case .integer16, .integer32, .integer64: return .integer(integer(column))
    case .boolean: return .boolean(integer(column) != 0)
    case .double: return .double(double(column))
    case .float: return .float(Float(double(column)))
    case .decimal: return decimal(column, stored: stored)
    case .string: return .string(string(column))
    case .date: return .date(Date(timeIntervalSinceReferenceDate: double(column)))
    case .uri: return URL(string: string(column)).map { .url($0) } ?? .null
    case .uuid: return uuid(column, stored: stored)
    case .binaryData, .transformable, .undefined, .composite, .objectID:
      let bytes =
        sqlite3_value_blob(value).map {
          Data(bytes: $0, count: Int(sqlite3_value_bytes(value)))
        } ?? Data()
      if isExternal { return files.data(ofColumn: bytes).map { .data($0) } ?? .null }
      return .data(bytes)
    }
  }

  private func decimal(_ column: Int32, stored: Int32) -> AttributeValue {
    switch stored {
    case SQLITE_INTEGER: return .decimal(Decimal(integer(column)))
    case SQLITE_FLOAT:
      return Decimal(shortest: double(column)).map { .decimal($0) } ?? .null
    default: return Decimal(string: string(column)).map { .decimal($0) } ?? .null
    }
  }

  private func uuid(_ column: Int32, stored: Int32) -> AttributeValue {
    if stored == SQLITE_BLOB {
      let bytes = bytes(column)
      if bytes.count == 16 { return .uuid(bytes.uuid) }
    }
    return UUID(uuidString: string(column)).map { .uuid($0) } ?? .null
  }
}

/// What a value becomes by being stored.
enum StoredForm {
  /// The number SQLite gets for a decimal: an integer where it is one.
  static func number(_ value: Decimal) -> (integer: Int64?, double: Double) {
    let integer = NSDecimalNumber(decimal: value).int64Value
    if value.exponent >= 0 || Decimal(integer) == value, Decimal(integer) == value {
      return (integer, value.nearestDouble)
    }
    return (nil, value.nearestDouble)
  }

  /// Whether the value will be read back as it is.
  static func isExact(_ value: AttributeValue) -> Bool {
    switch value {
    case .double(let number): return !number.isNaN
    case .float(let number): return !number.isNaN
    case .date(let date): return !date.timeIntervalSinceReferenceDate.isNaN
    case .decimal: return false
    case .null, .boolean, .integer, .string, .data, .uuid, .url, .object: return true
    }
  }

  /// The value as it will be read back: NaN is NULL in SQLite, and decimals are doubles.
  static func value(_ value: AttributeValue) -> AttributeValue {
    switch value {
    case .double(let number): return number.isNaN ? .null : value
    case .float(let number): return number.isNaN ? .null : value
    case .date(let date): return date.timeIntervalSinceReferenceDate.isNaN ? .null : value
    case .decimal(let decimal):
      if decimal.isNaN { return .null }
      let stored = number(decimal)
      if stored.integer != nil { return value }
      return Decimal(shortest: stored.double).map { .decimal($0) } ?? .null
    case .null, .boolean, .integer, .string, .data, .uuid, .url, .object: return value
    }
  }
}
