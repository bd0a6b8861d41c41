import CairnModel
import Foundation

/// Rows as bytes, for a file that the process itself reads again.
///
/// A portion is its number of rows; a row its number of values; a value its slot, its kind and its
/// content. Numbers are little-endian; texts and data are preceded by their length. Object IDs are
/// numbers in a list that stays in memory, each once.
struct RowCoding {
  typealias Row = [String: AttributeValue]

  private enum Kind: UInt8 {
    case null, no, yes, integer, float, double, decimal, string, date, data, uuid, url, object
  }

  private let layout: EntityLayout
  private var objects: [ManagedObjectID] = []
  private var numbers: [ManagedObjectID: Int] = [:]

  init(layout: EntityLayout) { self.layout = layout }

  /// About how many bytes a row takes in memory.
  static func estimatedSize(of row: Row) -> Int {
    row.values.reduce(64) { size, value in
      switch value {
      case .string(let text): return size + 64 + text.utf8.count
      case .data(let data): return size + 64 + data.count
      case .url(let url): return size + 128 + url.absoluteString.utf8.count
      case .null, .boolean, .integer, .float, .double, .decimal, .date, .uuid, .object:
        return size + 64
      }
    }
  }

  // MARK: Writing

  /// The rows as bytes; names that are no slots are left out.
  mutating func encode(_ rows: ArraySlice<Row>) -> Data {
    var data = Data()
    Self.put(rows.count, in: &data)
    for row in rows {
      let known = row.compactMap { name, value in
        layout.slotByName[name].map { (slot: $0, value: value) }
      }
      Self.put(known.count, in: &data)
      for (slot, value) in known {
        Self.put(slot, in: &data)
        put(value, in: &data)
      }
    }
    return data
  }

  private mutating func put(_ value: AttributeValue, in data: inout Data) {
    func kind(_ kind: Kind) { data.append(kind.rawValue) }
    func text(_ text: String) {
      Self.put(text.utf8.count, in: &data)
      data.append(contentsOf: text.utf8)
    }
    switch value {
    case .null: kind(.null)
    case .boolean(let flag): kind(flag ? .yes : .no)
    case .integer(let number):
      kind(.integer)
      Self.put(number, in: &data)
    case .float(let number):
      kind(.float)
      Self.put(number.bitPattern, in: &data)
    case .double(let number):
      kind(.double)
      Self.put(number.bitPattern, in: &data)
    case .decimal(let number):
      kind(.decimal)
      text(number.isNaN ? "" : "\(number)")
    case .string(let string):
      kind(.string)
      text(string)
    case .date(let date):
      kind(.date)
      Self.put(date.timeIntervalSinceReferenceDate.bitPattern, in: &data)
    case .data(let content):
      kind(.data)
      Self.put(content.count, in: &data)
      data.append(content)
    case .uuid(let uuid):
      kind(.uuid)
      withUnsafeBytes(of: uuid.uuid) { data.append(contentsOf: $0) }
    case .url(let url):
      kind(.url)
      text(url.absoluteString)
    case .object(let id):
      kind(.object)
      Self.put(number(of: id), in: &data)
    }
  }

  private mutating func number(of id: ManagedObjectID) -> Int {
    if let number = numbers[id] { return number }
    numbers[id] = objects.count
    objects.append(id)
    return objects.count - 1
  }

  private static func put<Number: FixedWidthInteger>(_ number: Number, in data: inout Data) {
    withUnsafeBytes(of: number.littleEndian) { data.append(contentsOf: $0) }
  }

  // MARK: Reading

  /// The rows again; nil for bytes that are not complete.
  func decode(_ data: Data) -> [Row]? {
    var reader = Reader(data: data)
    guard let count = reader.number(Int.self) else { return nil }
    var rows: [Row] = []
    rows.reserveCapacity(count)
    for _ in 0..<count {
      guard let values = reader.number(Int.self) else { return nil }
      var row = Row(minimumCapacity: values)
      for _ in 0..<values {
        guard let slot = reader.number(Int.self), layout.slots.indices.contains(slot),
          let value = value(&reader)
        else { return nil }
        row[layout.slots[slot].name] = value
      }
      rows.append(row)
    }
    return rows
  }

  private func value(_ reader: inout Reader) -> AttributeValue? {
    guard let kind = reader.number(UInt8.self).flatMap(Kind.init(rawValue:)) else { return nil }
    switch kind {
    case .null: return .null
    case .no: return .boolean(false)
    case .yes: return .boolean(true)
    case .integer: return reader.number(Int64.self).map { .integer($0) }
    case .float: return reader.number(UInt32.self).map { .float(Float(bitPattern: $0)) }
    case .double: return reader.number(UInt64.self).map { .double(Double(bitPattern: $0)) }
    case .decimal:
      guard let text = reader.text() else { return nil }
      return text.isEmpty ? .decimal(.nan) : Decimal(string: text).map { .decimal($0) }
    case .string: return reader.text().map { .string($0) }
    case .date:
      return reader.number(UInt64.self).map {
        .date(Date(timeIntervalSinceReferenceDate: Double(bitPattern: $0)))
      }
    case .data: return reader.bytes().map { .data($0) }
    case .uuid: return reader.uuid().map { .uuid($0) }
    case .url: return reader.text().flatMap { URL(string: $0) }.map { .url($0) }
    case .object:
      guard let number = reader.number(Int.self), objects.indices.contains(number) else {
        return nil
      }
      return .object(objects[number])
    }
  }

  /// Takes values off the front of bytes.
  private struct Reader {
    let data: Data
    var place = 0

    mutating func take(_ count: Int) -> Data? {
      guard count >= 0, count <= data.count - place else { return nil }
      let start = data.startIndex + place
      place += count
      return data[start..<start + count]
    }

    mutating func number<Number: FixedWidthInteger>(_ type: Number.Type) -> Number? {
      guard let bytes = take(MemoryLayout<Number>.size) else { return nil }
      return bytes.reversed().reduce(into: Number.zero) { number, byte in
        number =
          (MemoryLayout<Number>.size > 1 ? number << 8 : 0) | Number(truncatingIfNeeded: byte)
      }
    }

    mutating func bytes() -> Data? {
      guard let count = number(Int.self), let bytes = take(count) else { return nil }
      return Data(bytes)
    }

    mutating func text() -> String? {
      guard let count = number(Int.self), let bytes = take(count) else { return nil }
      return String(decoding: bytes, as: UTF8.self)
    }

    mutating func uuid() -> UUID? {
      guard let bytes = take(16) else { return nil }
      var uuid = UUID().uuid
      withUnsafeMutableBytes(of: &uuid) { $0.copyBytes(from: bytes) }
      return UUID(uuid: uuid)
    }
  }
}
