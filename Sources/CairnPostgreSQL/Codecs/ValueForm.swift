import CairnModel
import CairnStore
import Foundation

/// How the values of an attribute or a to-one relationship are kept: in one column, dates in two.
///
/// A value comes back equal to the one that was saved. The exceptions are those of Core Data's SQLite stores: NaN is NULL.
enum ValueForm: Sendable, Hashable, CaseIterable {
  /// All integers are `bigint`: Core Data keeps whatever number an attribute is given, and a model that widens
  /// one changes no table.
  case integer
  case boolean, real, double, numeric, text, url, date, uuid, bytes
  /// The key of the destination's row.
  case key

  /// - Returns: nil for what no store keeps.
  init?(_ type: AttributeType) {
    switch type {
    case .integer16, .integer32, .integer64: self = .integer
    case .boolean: self = .boolean
    case .float: self = .real
    case .double: self = .double
    case .decimal: self = .numeric
    case .string: self = .text
    case .uri: self = .url
    case .date: self = .date
    case .uuid: self = .uuid
    case .binaryData, .transformable: self = .bytes
    case .undefined, .objectID, .composite: return nil
    }
  }

  /// The types of the columns: the second, where there is one, makes the first exact.
  var types: [PostgreSQLType] {
    switch self {
    case .integer, .key: [.bigint]
    case .boolean: [.boolean]
    case .real: [.real]
    case .double: [.double]
    case .numeric: [.numeric]
    case .text, .url: [.text]
    case .date: [.timestamp, .double]
    case .uuid: [.uuid]
    case .bytes: [.bytea]
    }
  }

  /// The server's limit of one value is a gigabyte, of which a row's other values need some.
  static let longestValue = 1_000_000_000

  // MARK: Writing

  /// Adds a value, as many columns as the form has.
  ///
  /// - Throws: 1550 for a value that the form cannot keep, before the server sees it.
  func append(_ value: AttributeValue, to sink: inout some ValueSink) throws {
    if value.isNull {
      appendNull(to: &sink)
      return
    }
    switch self {
    case .integer: sink.append(try integer(value))
    case .key:
      guard case .object(let id) = value else { throw mismatch(value) }
      // Nil for an object of another store, which no column can refer to.
      sink.append(id.rowKey)
    case .boolean:
      guard case .boolean(let flag) = value else {
        sink.append(try integer(value) != 0)
        return
      }
      sink.append(flag)
    case .real:
      let number = try real(value)
      if number.isNaN { return sink.appendNull(.real) }
      sink.begin(.real)
      sink.writer.append(number)
      sink.end()
    case .double:
      let number = try double(value)
      if number.isNaN { return sink.appendNull(.double) }
      sink.append(double: number)
    case .numeric:
      let decimal = try decimal(value)
      if decimal.isNaN { return sink.appendNull(.numeric) }
      sink.begin(.numeric)
      StoredNumber.append(decimal, to: &sink.writer)
      sink.end()
    case .text:
      guard case .string(let text) = value else { throw mismatch(value) }
      try checkLength(text.utf8.count)
      sink.append(text)
    case .url:
      guard case .url(let url) = value else { throw mismatch(value) }
      try checkLength(url.absoluteString.utf8.count)
      sink.append(url.absoluteString)
    case .date:
      guard case .date(let date) = value else { throw mismatch(value) }
      guard let stored = StoredDate(date) else {
        appendNull(to: &sink)
        return
      }
      sink.begin(.timestamp)
      sink.writer.append(stored.microseconds)
      sink.end()
      sink.append(double: stored.exact)
    case .uuid:
      guard case .uuid(let uuid) = value else { throw mismatch(value) }
      sink.begin(.uuid)
      withUnsafeBytes(of: uuid.uuid) { sink.writer.append(bytes: $0) }
      sink.end()
    case .bytes:
      guard case .data(let data) = value else { throw mismatch(value) }
      try checkLength(data.count)
      sink.append(data: data)
    }
  }

  private func appendNull(to sink: inout some ValueSink) {
    for type in types { sink.appendNull(type) }
  }

  private func checkLength(_ count: Int) throws {
    if count <= Self.longestValue { return }
    throw CoreDataError(
      .managedObjectValidation,
      "A value of \(count) bytes is longer than the \(Self.longestValue) that PostgreSQL keeps in a column; "
        + "split it, or keep it in a file.")
  }

  private func integer(_ value: AttributeValue) throws -> Int64 {
    switch value {
    case .integer(let number): return number
    case .boolean(let flag): return flag ? 1 : 0
    case .null, .float, .double, .decimal, .string, .date, .data, .uuid, .url, .object:
      throw mismatch(value)
    }
  }

  private func real(_ value: AttributeValue) throws -> Float {
    if case .float(let number) = value { return number }
    return Float(try double(value))
  }

  private func double(_ value: AttributeValue) throws -> Double {
    switch value {
    case .double(let number): return number
    case .float(let number): return Double(number)
    case .integer(let number): return Double(number)
    case .null, .boolean, .decimal, .string, .date, .data, .uuid, .url, .object:
      throw mismatch(value)
    }
  }

  private func decimal(_ value: AttributeValue) throws -> Decimal {
    switch value {
    case .decimal(let decimal): return decimal
    case .integer(let number): return Decimal(number)
    case .null, .boolean, .float, .double, .string, .date, .data, .uuid, .url, .object:
      throw mismatch(value)
    }
  }

  private func mismatch(_ value: AttributeValue) -> CoreDataError {
    CoreDataError(
      .managedObjectValidation,
      "A value of another kind than the column's (\(types.map(\.name).joined(separator: ", "))) cannot be "
        + "saved; give the attribute a value of its type.")
  }

  // MARK: Reading

  /// The value in a row, from as many columns as the form has.
  ///
  /// - Parameter home: Makes the object ID of a key.
  /// - Throws: 134020 for a column whose type another program has changed.
  func value(
    _ rows: PostgreSQLRows, _ row: Int, _ column: Int,
    home: (Int64) -> ManagedObjectID? = { _ in nil }
  ) throws -> AttributeValue {
    guard let bytes = rows.bytes(row, column) else { return .null }
    func sized(_ sizes: Int...) throws {
      guard sizes.contains(bytes.count) else { throw foreignType(rows.columnName(column)) }
    }
    switch self {
    case .integer, .key:
      guard let number = rows.integer(row, column) else {
        throw foreignType(rows.columnName(column))
      }
      if self == .integer { return .integer(number) }
      return home(number).map { .object($0) } ?? .null
    case .boolean:
      try sized(1)
      return .boolean(bytes[0] != 0)
    case .real:
      try sized(4)
      return .float(Float(bitPattern: bytes.number(as: UInt32.self)))
    case .double:
      try sized(8)
      return .double(Double(bitPattern: bytes.number(as: UInt64.self)))
    case .numeric: return StoredNumber.decimal(bytes).map { .decimal($0) } ?? .null
    case .text: return .string(StoredText.text(bytes))
    case .url: return URL(string: StoredText.text(bytes)).map { .url($0) } ?? .null
    case .date:
      try sized(8)
      let exact = rows.bytes(row, column + 1)
      if let exact, exact.count != 8 { throw foreignType(rows.columnName(column + 1)) }
      return .date(
        StoredDate.date(
          microseconds: bytes.number(as: Int64.self),
          exact: exact.map { Double(bitPattern: $0.number(as: UInt64.self)) }))
    case .uuid:
      try sized(16)
      return .uuid(bytes.uuid)
    case .bytes: return .data(Data(bytes))
    }
  }

  private func foreignType(_ column: String) -> CoreDataError {
    CoreDataError(
      .persistentStoreIncompatibleSchema,
      "The column \(column) has another type than \(types.map(\.name).joined(separator: ", ")), which the "
        + "store gave it: another program changed it. Change it back with ALTER TABLE.")
  }
}
