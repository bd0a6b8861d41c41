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
    if let prefix = beyond(lower, upper) { return PositionKey(prefix: prefix, record) }
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
    return PositionKey(prefix: result, record)
  }

  /// Any extension of a prefix stays between: it is greater than the prefix, and the prefix already
  /// decides against what is above it.
  private init(prefix: [UInt8], _ record: RecordID) {
    var bytes = prefix
    for shift in stride(from: 24, through: 0, by: -8) {
      bytes.append(UInt8(truncatingIfNeeded: record.low >> UInt64(shift)))
    }
    bytes.append(1)
    self.bytes = bytes
  }

  /// Three bytes beyond the one end that is given, so that keys at the ends do not grow; nil
  /// between two keys, or when that part of the range is used up.
  private static func beyond(_ lower: PositionKey?, _ upper: PositionKey?) -> [UInt8]? {
    func first(_ key: PositionKey) -> Int {
      (0..<3).reduce(0) { $0 << 8 | (key.bytes.count > $1 ? Int(key.bytes[$1]) : 0) }
    }
    let value: Int
    switch (lower, upper) {
    case (nil, nil): value = 1 << 23
    case (let lower?, nil): value = first(lower) + 1
    case (nil, let upper?): value = first(upper) - 1
    case (_?, _?): return nil
    }
    guard value > 0, value < 1 << 24 else { return nil }
    return [value >> 16, value >> 8, value].map { UInt8(truncatingIfNeeded: $0) }
  }

  // MARK: Lists

  /// The keys that members need in a new order, given those they have: as few as possible change.
  ///
  /// - Returns: By index, only the new ones.
  static func assign(
    _ members: [(record: RecordID, key: PositionKey?)]
  ) -> [Int: PositionKey] {
    let kept = longestIncreasing(members.map(\.key))
    var result: [Int: PositionKey] = [:]
    var index = 0
    var previous: PositionKey?
    while index < members.count {
      if kept.contains(index) {
        previous = members[index].key
        index += 1
        continue
      }
      var end = index
      while end < members.count, !kept.contains(end) { end += 1 }
      let next = end < members.count ? members[end].key : nil
      fill(index..<end, previous, next, members, &result)
      index = end
    }
    return result
  }

  private static func fill(
    _ range: Range<Int>, _ lower: PositionKey?, _ upper: PositionKey?,
    _ members: [(record: RecordID, key: PositionKey?)], _ result: inout [Int: PositionKey]
  ) {
    if range.isEmpty { return }
    if upper == nil {
      var last = lower
      for place in range {
        last = between(last, nil, for: members[place].record)
        result[place] = last
      }
    } else if lower == nil {
      var first = upper
      for place in range.reversed() {
        first = between(nil, first, for: members[place].record)
        result[place] = first
      }
    } else {
      // From the middle outwards, so that keys grow with the logarithm of the number.
      let middle = range.lowerBound + range.count / 2
      let key = between(lower, upper, for: members[middle].record)
      result[middle] = key
      fill(range.lowerBound..<middle, lower, key, members, &result)
      fill((middle + 1)..<range.upperBound, key, upper, members, &result)
    }
  }

  /// The indexes of a longest strictly increasing run.
  private static func longestIncreasing(_ keys: [PositionKey?]) -> Set<Int> {
    var tails: [Int] = []
    var before = [Int](repeating: -1, count: keys.count)
    for (index, key) in keys.enumerated() {
      guard let key else { continue }
      var (low, high) = (0, tails.count)
      while low < high {
        let middle = (low + high) / 2
        if let tail = keys[tails[middle]], tail < key { low = middle + 1 } else { high = middle }
      }
      if low > 0 { before[index] = tails[low - 1] }
      if low == tails.count { tails.append(index) } else { tails[low] = index }
    }
    var result: Set<Int> = []
    var next = tails.last ?? -1
    while next >= 0 {
      result.insert(next)
      next = before[next]
    }
    return result
  }
}
