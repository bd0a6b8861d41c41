import CairnModel
import Foundation

/// Reads the fields of a binary store's body one after the other, never past its end.
struct BinaryFields {
  /// What is wrong with the body.
  struct Problem: Error {
    let message: String
  }

  private let bytes: [UInt8]
  private var position = 0

  init(_ data: Data) { bytes = Array(data) }

  var isAtEnd: Bool { position == bytes.count }
  /// What has not been read.
  var rest: Data { Data(bytes[position...]) }

  mutating func byte() throws -> UInt8 {
    guard position < bytes.count else { throw Problem(message: "it ends too early") }
    defer { position += 1 }
    return bytes[position]
  }

  mutating func unsigned() throws -> UInt64 {
    var result: UInt64 = 0
    var shift: UInt64 = 0
    while true {
      let byte = try byte()
      guard shift < 63 || byte <= 1 else { throw Problem(message: "a number is too large") }
      result |= UInt64(byte & 0x7F) << shift
      if byte & 0x80 == 0 { return result }
      shift += 7
    }
  }

  mutating func signed() throws -> Int64 {
    let value = try unsigned()
    return Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1)
  }

  /// A count of things that take at least a byte each.
  mutating func count() throws -> Int {
    let value = try unsigned()
    guard value <= UInt64(bytes.count - position) else {
      throw Problem(message: "a count is wrong")
    }
    return Int(value)
  }

  mutating func data() throws -> Data {
    let length = try count()
    defer { position += length }
    return Data(bytes[position..<(position + length)])
  }

  mutating func text() throws -> String {
    let length = try count()
    defer { position += length }
    guard let text = String(validating: bytes[position..<(position + length)], as: UTF8.self) else {
      throw Problem(message: "a text is not UTF-8")
    }
    return text
  }

  /// Eight bytes, big endian.
  mutating func bits() throws -> UInt64 {
    guard position + 8 <= bytes.count else { throw Problem(message: "it ends too early") }
    defer { position += 8 }
    return bytes[position..<(position + 8)].reduce(0) { $0 << 8 | UInt64($1) }
  }
}

/// Writes what ``BinaryFields`` reads.
struct BinaryFieldWriter {
  private(set) var data = Data()

  mutating func add(byte: UInt8) { data.append(byte) }

  mutating func add(unsigned value: UInt64) {
    var rest = value
    while rest >= 0x80 {
      data.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    data.append(UInt8(rest))
  }

  mutating func add(signed value: Int64) {
    add(unsigned: UInt64(bitPattern: value << 1 ^ value >> 63))
  }

  mutating func add(count: Int) { add(unsigned: UInt64(count)) }

  mutating func add(_ bytes: Data) {
    add(count: bytes.count)
    data.append(bytes)
  }

  mutating func add(_ text: String) {
    add(count: text.utf8.count)
    data.append(contentsOf: text.utf8)
  }

  mutating func add(bits: UInt64) {
    withUnsafeBytes(of: bits.bigEndian) { data.append(contentsOf: $0) }
  }
}

/// Values in the body: a tag, then what the tag says.
///
///     0 null · 1 false · 2 true · 3 integer (signed) · 4 float, 5 double, 6 date (eight bytes of a
///     double's bits, big endian) · 7 decimal (text) · 8 string · 9 data · 10 UUID (16 bytes, with
///     length) · 11 URL (text) · 12 object (entity index, key)
enum BinaryValues {
  static func write(
    _ value: AttributeValue, to fields: inout BinaryFieldWriter,
    object: (ManagedObjectID, inout BinaryFieldWriter) -> Void
  ) {
    switch value {
    case .null: fields.add(byte: 0)
    case .boolean(let flag): fields.add(byte: flag ? 2 : 1)
    case .integer(let number):
      fields.add(byte: 3)
      fields.add(signed: number)
    case .float(let number):
      fields.add(byte: 4)
      fields.add(bits: UInt64(number.bitPattern))
    case .double(let number):
      fields.add(byte: 5)
      fields.add(bits: number.bitPattern)
    case .date(let date):
      fields.add(byte: 6)
      fields.add(bits: date.timeIntervalSinceReferenceDate.bitPattern)
    case .decimal(let number):
      fields.add(byte: 7)
      fields.add(number.isNaN ? "NaN" : number.description)
    case .string(let text):
      fields.add(byte: 8)
      fields.add(text)
    case .data(let data):
      fields.add(byte: 9)
      fields.add(data)
    case .uuid(let uuid):
      fields.add(byte: 10)
      fields.add(withUnsafeBytes(of: uuid.uuid) { Data($0) })
    case .url(let url):
      fields.add(byte: 11)
      fields.add(url.absoluteString)
    case .object(let id):
      fields.add(byte: 12)
      object(id, &fields)
    }
  }

  static func read(
    _ fields: inout BinaryFields, object: (inout BinaryFields) throws -> ManagedObjectID
  ) throws -> AttributeValue {
    switch try fields.byte() {
    case 0: return .null
    case 1: return .boolean(false)
    case 2: return .boolean(true)
    case 3: return .integer(try fields.signed())
    case 4:
      guard let bits = UInt32(exactly: try fields.bits()) else {
        throw BinaryFields.Problem(message: "a float is too large")
      }
      return .float(Float(bitPattern: bits))
    case 5: return .double(Double(bitPattern: try fields.bits()))
    case 6: return .date(after: Double(bitPattern: try fields.bits()))
    case 7:
      let text = try fields.text()
      if text == "NaN" { return .decimal(.nan) }
      guard let number = Decimal(string: text) else {
        throw BinaryFields.Problem(message: "\"\(text)\" is no decimal number")
      }
      return .decimal(number)
    case 8: return .string(try fields.text())
    case 9: return .data(try fields.data())
    case 10:
      let bytes = Array(try fields.data())
      guard bytes.count == 16 else { throw BinaryFields.Problem(message: "a UUID is too short") }
      return .uuid(bytes.withUnsafeBytes(\.uuid))
    case 11:
      let text = try fields.text()
      guard let url = URL(string: text) else {
        throw BinaryFields.Problem(message: "\"\(text)\" is no URL")
      }
      return .url(url)
    case 12: return .object(try object(&fields))
    case let tag: throw BinaryFields.Problem(message: "there is no kind of value \(tag)")
    }
  }
}
