import CairnStore
import Foundation

/// A sum of digests, which does not depend on the order in which they are added, and from which they can
/// be taken away again.
struct DigestSum: Hashable, Sendable {
  /// How many.
  var count: UInt64 = 0
  var high: UInt64 = 0
  var low: UInt64 = 0
  /// The sum of the keys of the objects, which are others in every store.
  var keys: UInt64 = 0

  init() {}

  init(_ hash: DigestHash, key: UInt64 = 0) {
    count = 1
    (high, low) = hash.words
    keys = key
  }

  /// Whether two stores have the same behind it.
  func matches(_ other: DigestSum) -> Bool {
    count == other.count && high == other.high && low == other.low
  }

  var isZero: Bool { self == DigestSum() }

  static func += (a: inout DigestSum, b: DigestSum) {
    a.count &+= b.count
    a.high &+= b.high
    a.low &+= b.low
    a.keys &+= b.keys
  }

  static func -= (a: inout DigestSum, b: DigestSum) {
    a.count &-= b.count
    a.high &-= b.high
    a.low &-= b.low
    a.keys &-= b.keys
  }

  /// As ``CairnStore/SidecarOperation/add(_:_:)`` takes them.
  var numbers: [UInt64] { [count, high, low, keys] }

  init(decoding data: Data) throws {
    var reader = ByteReader(data)
    count = try reader.fixed()
    high = try reader.fixed()
    low = try reader.fixed()
    keys = try reader.fixed()
  }
}

/// Sums by bucket; those of one bucket mostly come one after the other.
struct DigestSums {
  private var earlier: [DigestBucket: DigestSum] = [:]
  private var last: (bucket: DigestBucket, sum: DigestSum)?

  var byBucket: [DigestBucket: DigestSum] {
    var all = earlier
    if let last { all[last.bucket, default: DigestSum()] += last.sum }
    return all
  }

  mutating func add(_ sum: DigestSum, to bucket: DigestBucket) {
    turn(to: bucket)
    last?.sum += sum
  }

  mutating func subtract(_ sum: DigestSum, from bucket: DigestBucket) {
    turn(to: bucket)
    last?.sum -= sum
  }

  private mutating func turn(to bucket: DigestBucket) {
    if last?.bucket == bucket { return }
    if let last { earlier[last.bucket, default: DigestSum()] += last.sum }
    last = (bucket, DigestSum())
  }
}

/// 128 bits of what was put into it: other content practically never has the same.
///
/// It guards against accidents, not against forgery.
struct DigestHash: Hashable, Sendable {
  private var first: UInt64 = 0x2D35_8DCC_AA6C_78A5
  private var second: UInt64 = 0x8BB8_4B93_962E_ACC9

  var words: (UInt64, UInt64) { (first, second) }

  mutating func add(_ word: UInt64) {
    first = (first ^ word) &* 0x9E37_79B9_7F4A_7C15
    first ^= first >> 32
    second = (second ^ word.byteSwapped) &* 0xD6E8_FEB8_6659_FD93
    second ^= second >> 29
  }

  mutating func add(_ text: String) {
    var word: UInt64 = 0
    var count: UInt64 = 0
    for byte in text.utf8 {
      word = word << 8 | UInt64(byte)
      count += 1
      if count & 7 == 0 { add(word) }
    }
    add(word ^ count << 56)
  }

  mutating func add(_ id: some SixteenBytes) {
    add(id.high)
    add(id.low)
  }

  mutating func add(_ stamp: Stamp) {
    add(stamp.clock.bits)
    add(stamp.store)
  }

  /// Adds what parts say, whatever their order.
  mutating func add(_ parts: DigestSum) {
    add(parts.count)
    add(parts.high)
    add(parts.low)
  }
}
