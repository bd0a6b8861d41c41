import Foundation

/// Appends values in sync's byte form: integers big-endian, lengths as LEB128 varints, strings and
/// data preceded by their length.
///
/// The same value always gives the same bytes.
public struct ByteWriter: Sendable {
  private var buffer: [UInt8] = []
  public init() {
    // Most of what is written fits.
    buffer.reserveCapacity(96)
  }

  public var data: Data { Data(buffer) }

  public mutating func byte(_ value: UInt8) { buffer.append(value) }
  public mutating func fixed(_ value: UInt64) {
    withUnsafeBytes(of: value.bigEndian) { buffer.append(contentsOf: $0) }
  }
  public mutating func varint(_ value: UInt64) {
    var rest = value
    while rest >= 0x80 {
      buffer.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    buffer.append(UInt8(rest))
  }
  public mutating func count(_ value: Int) { varint(UInt64(value)) }
  public mutating func bytes(_ value: Data) {
    count(value.count)
    buffer.append(contentsOf: value)
  }
  public mutating func raw(_ value: Data) { buffer.append(contentsOf: value) }
  public mutating func string(_ value: String) {
    let utf8 = value.utf8
    count(utf8.count)
    buffer.append(contentsOf: utf8)
  }
  public mutating func identity(_ value: some SixteenBytes) {
    fixed(value.high)
    fixed(value.low)
  }
  public mutating func stamp(_ value: Stamp) {
    fixed(value.clock.bits)
    identity(value.store)
  }
  public mutating func seen(_ value: SeenWrites) { seen(value, flag: 0) }

  fileprivate mutating func seen(_ value: SeenWrites, flag: UInt64) {
    varint(UInt64(value.readings.count) | flag)
    for (store, clock) in value.readings.sorted(by: { $0.key < $1.key }) {
      identity(store)
      fixed(clock.bits)
    }
  }
  /// Stamp · seen · for what a delete rule wrote, whose number of readings has a flag: the last
  /// meant stamp.
  public mutating func write(_ value: PropertyWrite) {
    stamp(value.stamp)
    seen(value.seen, flag: value.lastMeant == nil ? 0 : byRuleFlag)
    if let meant = value.lastMeant { stamp(meant) }
  }
}

/// In the number of readings a writer had seen, which is never that great.
private let byRuleFlag: UInt64 = 1 << 40

/// Reads what ``ByteWriter`` wrote.
///
/// Every length is checked against what is there, so that bytes from a file or a peer can do no
/// harm.
public struct ByteReader {
  private let bytes: [UInt8]
  private var position = 0
  public init(_ data: Data) { bytes = [UInt8](data) }

  public var isAtEnd: Bool { position == bytes.count }
  public var remaining: Int { bytes.count - position }

  static var damaged: SyncError {
    SyncError(
      .damagedBookkeeping,
      "an entry of sync's tables cannot be decoded; restore the store from a backup, or remove the "
        + "replica and add an empty one", recovery: .person)
  }

  public mutating func byte() throws -> UInt8 {
    guard position < bytes.count else { throw Self.damaged }
    defer { position += 1 }
    return bytes[position]
  }
  public mutating func fixed() throws -> UInt64 {
    guard remaining >= 8 else { throw Self.damaged }
    var value: UInt64 = 0
    for index in position..<(position + 8) { value = value << 8 | UInt64(bytes[index]) }
    position += 8
    return value
  }
  /// A number of the change order: so small that it can be counted on from for ever.
  public mutating func sequence() throws -> UInt64 {
    let value = try fixed()
    guard value < 1 << 62 else { throw Self.damaged }
    return value
  }
  public mutating func varint() throws -> UInt64 {
    var value: UInt64 = 0
    var shift: UInt64 = 0
    while true {
      let next = try byte()
      guard shift < 63 || next <= 1 else { throw Self.damaged }
      value |= UInt64(next & 0x7F) << shift
      if next & 0x80 == 0 { return value }
      shift += 7
    }
  }
  /// A number of things that take at least a byte each.
  public mutating func count() throws -> Int {
    let value = try varint()
    guard value <= UInt64(remaining) else { throw Self.damaged }
    return Int(value)
  }
  public mutating func data() throws -> Data {
    let length = try count()
    defer { position += length }
    return Data(bytes[position..<(position + length)])
  }
  public mutating func string() throws -> String {
    let length = try count()
    let slice = bytes[position..<(position + length)]
    guard let text = String(validating: slice, as: UTF8.self) else { throw Self.damaged }
    position += length
    return text
  }
  /// All that is left, as text.
  mutating func rest() throws -> String {
    defer { position = bytes.count }
    guard let text = String(validating: bytes[position...], as: UTF8.self) else {
      throw Self.damaged
    }
    return text
  }
  public mutating func identity<Identity: SixteenBytes>(_ type: Identity.Type) throws -> Identity {
    let high = try fixed()
    return Identity(high: high, low: try fixed())
  }
  public mutating func stamp() throws -> Stamp {
    let clock = ClockReading(bits: try fixed())
    return Stamp(clock: clock, store: try identity(StoreID.self))
  }
  public mutating func seen() throws -> SeenWrites { try seen(count: UInt64(count())) }

  private mutating func seen(count: UInt64) throws -> SeenWrites {
    guard count <= UInt64(remaining) else { throw Self.damaged }
    var readings: [StoreID: ClockReading] = [:]
    for _ in 0..<count {
      let store = try identity(StoreID.self)
      readings[store] = ClockReading(bits: try fixed())
    }
    return SeenWrites(readings)
  }
  public mutating func write() throws -> PropertyWrite {
    let stamp = try stamp()
    let count = try varint()
    let seen = try seen(count: count & ~byRuleFlag)
    return PropertyWrite(
      stamp: stamp, seen: seen, lastMeant: count & byRuleFlag == 0 ? nil : try self.stamp())
  }
}
