import Foundation

/// A binary property list as a flat table: containers name their members by number.
///
/// Foundation's own decoder is not used, because keyed archives hold UIDs, which it gives back in
/// a private form, and because it builds a tree, which hostile bytes can make huge.
///
/// The format: `bplist00`, the objects, a table of their offsets, and a trailer of 32 bytes (6
/// unused, offset size, reference size, and three big-endian 64-bit numbers: object count, top
/// object, offset of the table). Each object begins with a byte of kind and length; length 15
/// means that an integer with the length follows.
package struct BinaryPropertyList {
  enum Object {
    case null
    case bool(Bool)
    case integer(Int64)
    case real(Double)
    /// Seconds since 2001.
    case date(Double)
    case data(Data)
    case string(String)
    case uid(Int)
    case array([Int])
    /// Numbers of keys and values.
    case dictionary([(Int, Int)])
  }

  let objects: [Object]
  let top: Int

  /// What is wrong with the bytes, and where.
  package struct Malformed: Error, CustomStringConvertible {
    package let description: String
  }

  /// - Throws: ``Malformed``, never anything worse, whatever the bytes.
  init(_ data: Data) throws {
    var reader = try BinaryPropertyListReader(data)
    (objects, top) = try reader.readAll()
  }

  /// Makes sure that the objects are a tree of that size at most, counting what stands in several
  /// places in each.
  ///
  /// - Throws: ``Malformed``, also for an object that contains itself.
  func checkTree(depth: Int, count: Int) throws {
    enum Visit {
      case open
      case done(height: Int, size: Int)
    }
    var visits: [Int: Visit] = [:]
    func measure(_ index: Int, _ level: Int) throws -> (height: Int, size: Int) {
      switch visits[index] {
      case .open: throw Malformed(description: "The property list contains itself.")
      case .done(let height, let size): return (height, size)
      case nil: break
      }
      visits[index] = .open
      let members: [Int]
      switch objects[index] {
      case .array(let array): members = array
      case .dictionary(let pairs): members = pairs.flatMap { [$0.0, $0.1] }
      default: members = []
      }
      var (height, size) = (0, 1)
      for member in members where level < depth {
        let found = try measure(member, level + 1)
        height = max(height, found.height + 1)
        size += found.size
        if size > count { throw Malformed(description: "The property list is too large.") }
      }
      if level >= depth && !members.isEmpty || height > depth {
        throw Malformed(description: "The property list is nested too deeply.")
      }
      visits[index] = .done(height: height, size: size)
      return (height, size)
    }
    _ = try measure(top, 0)
  }
}

private struct BinaryPropertyListReader {
  private let bytes: [UInt8]
  private let offsetSize: Int
  private let referenceSize: Int
  private let count: Int
  private let top: Int
  private let tableOffset: Int
  /// How many more bytes members and texts may take; a file whose objects do not overlap never
  /// uses it up.
  private var budget: Int

  typealias Malformed = BinaryPropertyList.Malformed

  init(_ data: Data) throws {
    let bytes = [UInt8](data)
    self.bytes = bytes
    guard bytes.count >= 40, bytes.starts(with: Array("bplist0".utf8)) else {
      throw Malformed(description: "The data is no binary property list.")
    }
    let trailer = bytes.count - 32
    offsetSize = Int(bytes[trailer + 6])
    referenceSize = Int(bytes[trailer + 7])
    func number(_ at: Int) -> Int {
      let value = bytes[at..<(at + 8)].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
      return Int(exactly: value) ?? Int.max
    }
    count = number(trailer + 8)
    top = number(trailer + 16)
    tableOffset = number(trailer + 24)
    budget = bytes.count * 2
    guard (1...8).contains(offsetSize), (1...8).contains(referenceSize), count <= bytes.count,
      top < count, tableOffset <= trailer, count * offsetSize <= trailer - tableOffset
    else {
      throw Malformed(description: "The trailer of the property list is broken.")
    }
  }

  mutating func readAll() throws -> ([BinaryPropertyList.Object], Int) {
    var objects: [BinaryPropertyList.Object] = []
    objects.reserveCapacity(count)
    for index in 0..<count {
      let offset = try unsigned(at: tableOffset + index * offsetSize, size: offsetSize)
      objects.append(try object(at: offset))
    }
    return (objects, top)
  }

  private func require(_ offset: Int, _ size: Int) throws {
    guard offset >= 0, size >= 0, offset <= bytes.count, size <= bytes.count - offset else {
      throw Malformed(description: "An object lies outside the property list (at \(offset)).")
    }
  }

  private mutating func spend(_ size: Int) throws {
    budget -= size
    guard budget >= 0 else {
      throw Malformed(description: "Objects of the property list overlap.")
    }
  }

  private func unsigned(at offset: Int, size: Int) throws -> Int {
    try require(offset, size)
    let value = bytes[offset..<(offset + size)].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    guard let number = Int(exactly: value) else {
      throw Malformed(description: "A number of the property list is too large (at \(offset)).")
    }
    return number
  }

  private mutating func object(at offset: Int) throws -> BinaryPropertyList.Object {
    try require(offset, 1)
    let marker = bytes[offset]
    let low = Int(marker & 0x0F)
    switch marker >> 4 {
    case 0x0:
      switch low {
      case 0x8: return .bool(false)
      case 0x9: return .bool(true)
      default: return .null
      }
    case 0x1: return .integer(try integer(at: offset + 1, size: 1 << low))
    case 0x2: return .real(try real(at: offset + 1, size: 1 << low))
    case 0x3:
      let seconds = try real(at: offset + 1, size: 8)
      if seconds.isNaN {
        throw Malformed(description: "A date of the property list is no number (at \(offset)).")
      }
      return .date(seconds)
    case 0x4:
      let (start, length) = try extent(offset, low)
      try require(start, length)
      try spend(length)
      return .data(Data(bytes[start..<(start + length)]))
    case 0x5:
      let (start, length) = try extent(offset, low)
      try require(start, length)
      try spend(length)
      return .string(String(decoding: bytes[start..<(start + length)], as: UTF8.self))
    case 0x6:
      let (start, length) = try extent(offset, low)
      try require(start, length)
      try require(start, length * 2)
      try spend(length)
      let units = (0..<length).map {
        UInt16(bytes[start + 2 * $0]) << 8 | UInt16(bytes[start + 2 * $0 + 1])
      }
      return .string(String(decoding: units, as: UTF16.self))
    case 0x8: return .uid(try unsigned(at: offset + 1, size: min(low + 1, 8)))
    // Sets (11 and 12) are in the format, but nothing writes them, and Foundation crashes on them.
    case 0xA:
      let (start, length) = try extent(offset, low)
      return .array(try references(start, length))
    case 0xD:
      let (start, length) = try extent(offset, low)
      let keys = try references(start, length)
      let values = try references(start + length * referenceSize, length)
      return .dictionary(Array(zip(keys, values)))
    default:
      throw Malformed(
        description: "An object of the property list is of an unknown kind (at \(offset)).")
    }
  }

  /// Where the content of an object begins, and how many members it has.
  private func extent(_ offset: Int, _ low: Int) throws -> (Int, Int) {
    guard low == 15 else { return (offset + 1, low) }
    try require(offset + 1, 1)
    let marker = bytes[offset + 1]
    guard marker >> 4 == 1, marker & 0x0F <= 3 else {
      throw Malformed(description: "A length of the property list is broken (at \(offset)).")
    }
    let size = 1 << Int(marker & 0x0F)
    return (offset + 2 + size, try unsigned(at: offset + 2, size: size))
  }

  private mutating func references(_ start: Int, _ length: Int) throws -> [Int] {
    try require(start, length)
    try require(start, length * referenceSize)
    try spend(length)
    return try (0..<length).map { index in
      let reference = try unsigned(at: start + index * referenceSize, size: referenceSize)
      guard reference < count else {
        throw Malformed(description: "The property list refers to an object it does not hold.")
      }
      return reference
    }
  }

  private func integer(at offset: Int, size: Int) throws -> Int64 {
    try require(offset, size)
    // Sixteen bytes hold unsigned numbers, whose upper half is zero.
    let used = bytes[(offset + max(0, size - 8))..<(offset + size)]
    return Int64(bitPattern: used.reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
  }

  private func real(at offset: Int, size: Int) throws -> Double {
    try require(offset, size)
    let bits = bytes[offset..<(offset + size)].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    switch size {
    case 4: return Double(Float(bitPattern: UInt32(truncatingIfNeeded: bits)))
    case 8: return Double(bitPattern: bits)
    default: throw Malformed(description: "A real number is of an unknown size (at \(offset)).")
    }
  }
}
