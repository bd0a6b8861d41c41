import Foundation

// Byte form of a value: a tag, then the payload.
//   0 null · 1 false · 2 true · 3 integer (8 bytes) · 4 float (bit pattern, 8 bytes) ·
//   5 double (bit pattern) · 6 decimal (text) · 7 string · 8 date (bit pattern of the seconds
//   since 2001) · 9 data · 10 UUID (16 bytes) · 11 URL (text) · 12 reference (record ID)
extension ByteWriter {
  public mutating func value(_ value: WireValue) {
    switch value {
    case .null: byte(0)
    case .boolean(let flag): byte(flag ? 2 : 1)
    case .integer(let number):
      byte(3)
      fixed(UInt64(bitPattern: number))
    case .float(let number):
      byte(4)
      fixed(UInt64(number.bitPattern))
    case .double(let number):
      byte(5)
      fixed(number.bitPattern)
    case .decimal(let number):
      byte(6)
      string(number.isNaN ? "NaN" : "\(number)")
    case .string(let text):
      byte(7)
      string(text)
    case .date(let date):
      byte(8)
      fixed(date.timeIntervalSinceReferenceDate.bitPattern)
    case .data(let data):
      byte(9)
      bytes(data)
    case .uuid(let uuid):
      byte(10)
      identity(RecordID(uuid: uuid))
    case .url(let url):
      byte(11)
      string(url.absoluteString)
    case .reference(let id):
      byte(12)
      identity(id)
    }
  }
}

extension ByteReader {
  public mutating func value() throws -> WireValue {
    switch try byte() {
    case 0: return .null
    case 1: return .boolean(false)
    case 2: return .boolean(true)
    case 3: return .integer(Int64(bitPattern: try fixed()))
    case 4: return .float(Float(bitPattern: UInt32(truncatingIfNeeded: try fixed())))
    case 5: return .double(Double(bitPattern: try fixed()))
    case 6:
      let text = try string()
      if text == "NaN" { return .decimal(Decimal.nan) }
      guard let number = Decimal(string: text) else { throw Self.damaged }
      return .decimal(number)
    case 7: return .string(try string())
    case 8:
      return .date(Date(timeIntervalSinceReferenceDate: Double(bitPattern: try fixed())))
    case 9: return .data(try data())
    case 10: return .uuid(try identity(RecordID.self).uuid)
    case 11:
      guard let url = URL(string: try string()) else { throw Self.damaged }
      return .url(url)
    case 12: return .reference(try identity(RecordID.self))
    default: throw Self.damaged
    }
  }
}

extension WireValue {
  /// The bytes by which values are compared, hashed and sent.
  public var canonicalBytes: Data {
    var writer = ByteWriter()
    writer.value(self)
    return writer.data
  }
}
