import Foundation

/// A value to write into a binary property list.
indirect enum PropertyListValue {
  case bool(Bool)
  case integer(Int64)
  case real(Double)
  case date(Double)
  case data(Data)
  case string(String)
  case uid(Int)
  case array([PropertyListValue])
  case dictionary([(String, PropertyListValue)])
}

/// Writes binary property lists, UIDs included; ``BinaryPropertyList`` describes the format.
struct BinaryPropertyListWriter {
  /// Each object's bytes, with the members of containers still to be filled in.
  private enum Item {
    case bytes([UInt8])
    case container(marker: UInt8, references: [Int], count: Int)
  }
  private var items: [Item] = []
  private var strings: [String: Int] = [:]

  static func write(_ value: PropertyListValue) -> Data {
    var writer = BinaryPropertyListWriter()
    let top = writer.add(value)
    return writer.assemble(top: top)
  }

  private mutating func add(_ value: PropertyListValue) -> Int {
    switch value {
    case .bool(let flag): return append(.bytes([flag ? 0x09 : 0x08]))
    case .integer(let number): return append(.bytes(Self.integer(number)))
    case .real(let number): return append(.bytes([0x23] + Self.bigEndian(number.bitPattern, 8)))
    case .date(let seconds): return append(.bytes([0x33] + Self.bigEndian(seconds.bitPattern, 8)))
    case .data(let data): return append(.bytes(Self.header(0x40, data.count) + data))
    case .string(let text):
      if let known = strings[text] { return known }
      let index = append(.bytes(Self.text(text)))
      strings[text] = index
      return index
    case .uid(let number):
      let size = number < 1 << 8 ? 1 : number < 1 << 16 ? 2 : 4
      return append(
        .bytes([0x80 | UInt8(size - 1)] + Self.bigEndian(UInt64(number), size)))
    case .array(let members):
      let index = append(.bytes([]))
      let references = members.map { add($0) }
      items[index] = .container(marker: 0xA0, references: references, count: members.count)
      return index
    case .dictionary(let members):
      let index = append(.bytes([]))
      let keys = members.map { add(.string($0.0)) }
      let values = members.map { add($0.1) }
      items[index] = .container(marker: 0xD0, references: keys + values, count: members.count)
      return index
    }
  }

  private mutating func append(_ item: Item) -> Int {
    items.append(item)
    return items.count - 1
  }

  private func assemble(top: Int) -> Data {
    let referenceSize = items.count < 1 << 8 ? 1 : items.count < 1 << 16 ? 2 : 4
    var bytes = Array("bplist00".utf8)
    var offsets: [Int] = []
    for item in items {
      offsets.append(bytes.count)
      switch item {
      case .bytes(let own): bytes += own
      case .container(let marker, let references, let count):
        bytes += Self.header(marker, count)
        for reference in references { bytes += Self.bigEndian(UInt64(reference), referenceSize) }
      }
    }
    let table = bytes.count
    let offsetSize = table < 1 << 8 ? 1 : table < 1 << 16 ? 2 : table < 1 << 32 ? 4 : 8
    for offset in offsets { bytes += Self.bigEndian(UInt64(offset), offsetSize) }
    bytes += [0, 0, 0, 0, 0, 0, UInt8(offsetSize), UInt8(referenceSize)]
    bytes += Self.bigEndian(UInt64(items.count), 8)
    bytes += Self.bigEndian(UInt64(top), 8)
    bytes += Self.bigEndian(UInt64(table), 8)
    return Data(bytes)
  }

  private static func bigEndian(_ value: UInt64, _ size: Int) -> [UInt8] {
    (0..<size).reversed().map { UInt8(truncatingIfNeeded: value >> (8 * UInt64($0))) }
  }

  private static func header(_ marker: UInt8, _ count: Int) -> [UInt8] {
    count < 15 ? [marker | UInt8(count)] : [marker | 0x0F] + integer(Int64(count))
  }

  private static func integer(_ number: Int64) -> [UInt8] {
    let bits = UInt64(bitPattern: number)
    switch bits {
    case 0..<(1 << 8): return [0x10] + bigEndian(bits, 1)
    case 0..<(1 << 16): return [0x11] + bigEndian(bits, 2)
    case 0..<(1 << 32): return [0x12] + bigEndian(bits, 4)
    default: return [0x13] + bigEndian(bits, 8)
    }
  }

  private static func text(_ text: String) -> [UInt8] {
    let ascii = Array(text.utf8)
    if ascii.allSatisfy({ $0 < 0x80 }) { return header(0x50, ascii.count) + ascii }
    let units = Array(text.utf16)
    return header(0x60, units.count) + units.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }
  }
}
