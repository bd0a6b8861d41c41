import Foundation

/// Sixteen bytes that identify something, compared as an unsigned big-endian number.
public protocol SixteenBytes: Hashable, Comparable, Sendable, CustomStringConvertible {
  var high: UInt64 { get }
  var low: UInt64 { get }
  init(high: UInt64, low: UInt64)
}

extension SixteenBytes {
  public init(uuid: UUID) {
    let bytes = uuid.uuid
    func word(_ parts: [UInt8]) -> UInt64 { parts.reduce(0) { $0 << 8 | UInt64($1) } }
    self.init(
      high: word([
        bytes.0, bytes.1, bytes.2, bytes.3, bytes.4, bytes.5, bytes.6, bytes.7,
      ]),
      low: word([
        bytes.8, bytes.9, bytes.10, bytes.11, bytes.12, bytes.13, bytes.14, bytes.15,
      ]))
  }

  /// Reads the usual text form; nil when it is not a UUID.
  ///
  /// Not by Foundation, which scans with a format: each step of sync reads the identities of its stores.
  public init?(_ text: String) {
    var words: (UInt64, UInt64) = (0, 0)
    var place = 0
    for byte in text.utf8 {
      defer { place += 1 }
      if [8, 13, 18, 23].contains(place) {
        guard byte == UInt8(ascii: "-") else { return nil }
        continue
      }
      guard place < 36, let digit = Self.digit(byte) else { return nil }
      if place < 18 { words.0 = words.0 << 4 | digit } else { words.1 = words.1 << 4 | digit }
    }
    guard place == 36 else { return nil }
    self.init(high: words.0, low: words.1)
  }

  private static func digit(_ byte: UInt8) -> UInt64? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt64(byte - UInt8(ascii: "0"))
    case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt64(byte - UInt8(ascii: "a") + 10)
    case UInt8(ascii: "A")...UInt8(ascii: "F"): UInt64(byte - UInt8(ascii: "A") + 10)
    default: nil
    }
  }

  public var uuid: UUID {
    func byte(_ word: UInt64, _ index: UInt64) -> UInt8 {
      UInt8(truncatingIfNeeded: word >> (56 - 8 * index))
    }
    return UUID(
      uuid: (
        byte(high, 0), byte(high, 1), byte(high, 2), byte(high, 3),
        byte(high, 4), byte(high, 5), byte(high, 6), byte(high, 7),
        byte(low, 0), byte(low, 1), byte(low, 2), byte(low, 3),
        byte(low, 4), byte(low, 5), byte(low, 6), byte(low, 7)
      ))
  }

  public static func < (a: Self, b: Self) -> Bool {
    a.high == b.high ? a.low < b.low : a.high < b.high
  }

  public var description: String { uuid.uuidString }
}

/// The identity of a store: its UUID, the same for every daemon that opens it.
public struct StoreID: SixteenBytes {
  public let high: UInt64
  public let low: UInt64
  public init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }
}

/// The identity of a record, the same in every store: a UUID of version 7, whose first 48 bits are
/// the milliseconds since 1970 at which it was made.
public struct RecordID: SixteenBytes {
  public let high: UInt64
  public let low: UInt64
  public init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  /// A new ID for the given time with 74 bits out of two random words.
  public init(milliseconds: UInt64, random: (UInt64, UInt64)) {
    high = min(milliseconds, ClockReading.end) << 16 | 0x7000 | (random.0 & 0x0FFF)
    low = 0x8000_0000_0000_0000 | (random.1 & 0x3FFF_FFFF_FFFF_FFFF)
  }

  /// The time at which the ID was made, in milliseconds since 1970.
  public var milliseconds: UInt64 { high >> 16 }
}
