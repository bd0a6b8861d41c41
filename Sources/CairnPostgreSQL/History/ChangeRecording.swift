import CairnModel
import CairnSQL
import CairnStore
import Foundation

/// Has the statements of a save, or of another writer, record what they do, in the same round trip.
///
/// A statement becomes a part of one that inserts into ``PostgreSQLHistoryTables/changes`` what the statement touched; it counts as
/// many rows as before.
struct ChangeRecording {
  let schema: PostgreSQLSchema

  /// What of a statement's rows is recorded, in words of its `RETURNING`.
  struct Source {
    let kind: String
    /// Orders the changes of the statement.
    var order = "0"
    /// Names of changed properties, for updates.
    var properties: [String]?
    /// What is left of a deleted object.
    var tombstone: String?

    static let insertion = Source(kind: "0")
    static func update(_ properties: [String], order: String) -> Source {
      Source(kind: "1", order: order, properties: properties)
    }
    static func deletion(_ tombstone: String?, order: String) -> Source {
      Source(kind: "2", order: order, tombstone: tombstone)
    }
  }

  /// - Parameters:
  ///   - statement: Without a `RETURNING`.
  ///   - key: The column of the rows' keys in it.
  func recording(
    _ statement: String, key: String, of entity: SQLEntity, _ source: Source
  ) -> String {
    let place = PostgreSQLHistoryTables.place(PostgreSQLHistoryTables.changes, in: schema.name)
    let sequence = PostgreSQLHistoryTables.sequence(PostgreSQLHistoryTables.keys, in: schema.name)
    let properties = source.properties.map { names in
      let list = names.sorted().map(SQLText.literal).joined(separator: ", ")
      return "CASE WHEN w.c = 1 THEN ARRAY[\(list)]::text[] END"
    }
    return
      "WITH w AS (\(statement) RETURNING \(key) AS k, \(source.kind) AS c, \(source.order) AS n, "
      + "\(source.tombstone ?? "NULL::jsonb") AS t) INSERT INTO \(place) "
      + "(transaction_key, kind, entity, row_key, properties, tombstone) SELECT currval(\(sequence)), "
      + "w.c, \(entity.number), w.k, \(properties ?? "NULL"), w.t FROM w ORDER BY w.n, w.k"
  }

  /// The names of the properties that an update changes, as history tells them.
  static func names(_ entity: SQLEntity, slots: [Int], toManys: [Int]) -> [String] {
    let history = entity.history
    let stored = slots.filter { !entity.derivedSlots.contains($0) }
    return Set(
      (stored.map { history.bitOfSlot[$0] } + toManys.map { history.bitOfToMany[$0] })
        .filter { $0 >= 0 }.map { history.names[$0] }
    ).sorted()
  }
}

/// What history keeps of a deleted object, by the attribute: as text, exactly, whatever the session is set to.
enum Tombstone {
  /// The server takes a hundred arguments.
  private static let portion = 40

  /// The object for a row, nil for an entity that leaves nothing.
  ///
  /// - Parameter row: The name of the row in the statement.
  static func expression(
    of entity: SQLEntity, row: String, in schema: PostgreSQLSchema
  ) -> String? {
    guard let table = schema.table(sqlName: entity.table) else { return nil }
    let pairs = entity.history.tombstoneSlots.compactMap { slot -> String? in
      guard let sqlName = entity.slots[slot].column, let column = table.column(sqlName: sqlName),
        let form = column.form
      else { return nil }
      let exact = table.exactColumn(of: column).map { "\(row).\(SQLText.name($0.name))" }
      let text = text(of: "\(row).\(SQLText.name(column.name))", exact: exact, form)
      return "\(SQLText.literal(entity.layout.slots[slot].name)), \(text)"
    }
    if pairs.isEmpty { return nil }
    let objects = stride(from: 0, to: pairs.count, by: portion).map { start in
      let list = pairs[start..<min(start + portion, pairs.count)].joined(separator: ", ")
      return "jsonb_build_object(\(list))"
    }
    return "jsonb_strip_nulls(\(objects.joined(separator: " || ")))"
  }

  private static func text(of column: String, exact: String?, _ form: ValueForm) -> String {
    switch form {
    case .integer, .key, .boolean, .numeric, .text, .url, .uuid: return "\(column)::text"
    case .real: return "encode(float4send(\(column)), 'hex')"
    case .double: return "encode(float8send(\(column)), 'hex')"
    case .bytes: return "encode(\(column), 'hex')"
    case .date:
      let rest = exact.map { " || coalesce(encode(float8send(\($0)), 'hex'), '')" } ?? ""
      return "encode(timestamptz_send(\(column)), 'hex')\(rest)"
    }
  }

  /// The value of what was kept; nil for what is none.
  static func value(_ text: String, _ form: ValueForm) -> AttributeValue? {
    switch form {
    case .integer, .key: return Int64(text).map { .integer($0) }
    case .boolean: return text == "true" ? .boolean(true) : text == "false" ? .boolean(false) : nil
    case .numeric:
      let decimal = Decimal(string: text)
      return decimal.flatMap { $0.isNaN ? nil : .decimal($0) }
    case .text: return .string(plain(text))
    case .url: return URL(string: plain(text)).map { .url($0) }
    case .uuid: return UUID(uuidString: text).map { .uuid($0) }
    case .real:
      return UInt32(text, radix: 16).map { .float(Float(bitPattern: $0)) }
    case .double:
      return UInt64(text, radix: 16).map { .double(Double(bitPattern: $0)) }
    case .bytes: return data(text).map { .data($0) }
    case .date:
      guard let bits = UInt64(text.prefix(16), radix: 16) else { return nil }
      let exact = UInt64(text.dropFirst(16), radix: 16).map { Double(bitPattern: $0) }
      return .date(StoredDate.date(microseconds: Int64(bitPattern: bits), exact: exact))
    }
  }

  private static func plain(_ text: String) -> String {
    var text = text
    return text.withUTF8 { StoredText.text(UnsafeRawBufferPointer($0)) }
  }

  private static func data(_ hex: String) -> Data? {
    var data = Data(capacity: hex.utf8.count / 2)
    var high: UInt8?
    for digit in hex.utf8 {
      guard let value = Character(UnicodeScalar(digit)).hexDigitValue else { return nil }
      if let known = high {
        data.append(known << 4 | UInt8(value))
        high = nil
      } else {
        high = UInt8(value)
      }
    }
    return high == nil ? data : nil
  }
}
