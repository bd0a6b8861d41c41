import Foundation

/// The place of a member in an ordered relationship: a binary fraction between 0 and 1 as bytes,
/// compared byte by byte.
///
/// There is always room between two different keys, and two writers who insert at the same place
/// get different keys, because each key ends with bytes of its record.
public struct PositionKey: Hashable, Sendable, Comparable {
  public let bytes: [UInt8]

  init(bytes: [UInt8]) { self.bytes = bytes }

  /// Reads stored bytes; nil when they are not a key (empty, or ending with zero).
  public init?(data: Data) {
    guard let last = data.last, last != 0 else { return nil }
    bytes = [UInt8](data)
  }

  public var data: Data { Data(bytes) }

  public static func < (a: Self, b: Self) -> Bool {
    a.bytes.lexicographicallyPrecedes(b.bytes)
  }

  /// A key strictly between two others; nil stands for the end of the list.
  ///
  /// - Precondition: `lower` is less than `upper` when both are given.
  public static func between(
    _ lower: PositionKey?, _ upper: PositionKey?, for record: RecordID
  ) -> PositionKey {
    let low = lower?.bytes ?? []
    let high = upper?.bytes
    var result: [UInt8] = []
    var index = 0
    var isBelowHigh = false
    while true {
      let a = index < low.count ? Int(low[index]) : 0
      var b = 256
      if !isBelowHigh, let high, index < high.count { b = Int(high[index]) }
      if b - a > 1 {
        result.append(UInt8(a + (b - a) / 2))
        break
      }
      result.append(UInt8(a))
      if b > a { isBelowHigh = true }
      index += 1
    }
    // Any extension stays between: it is greater than the prefix and the prefix already decides
    // against `upper`.
    for shift in stride(from: 24, through: 0, by: -8) {
      result.append(UInt8(truncatingIfNeeded: record.low >> UInt64(shift)))
    }
    result.append(1)
    return PositionKey(bytes: result)
  }
}
