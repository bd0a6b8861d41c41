import CairnModel
import Foundation

/// The place of one entry in a store's sidecar.
///
/// Keys come by the hundred thousand and are mostly short, so 32 bytes of one lie in place, as numbers that
/// are ordered as the bytes are; a longer key has its bytes beside.
public struct SidecarKey: Sendable, Hashable, Comparable {
  /// The name of the map: lower-case letters, digits and underscores.
  public let map: String
  /// The first 32 bytes as big-endian numbers, with zeros for those past the end.
  public let words: Words
  private let countInPlace: UInt8
  /// The whole key, where it is longer than what lies in place.
  private let long: LongKey?

  /// Four numbers without the alignment that a vector has.
  public struct Words: Sendable, Hashable {
    public var first: UInt64 = 0
    public var second: UInt64 = 0
    public var third: UInt64 = 0
    public var fourth: UInt64 = 0

    public init(
      _ first: UInt64 = 0, _ second: UInt64 = 0, _ third: UInt64 = 0, _ fourth: UInt64 = 0
    ) {
      (self.first, self.second, self.third, self.fourth) = (first, second, third, fourth)
    }
  }

  private final class LongKey: Sendable {
    let data: Data
    init(_ data: Data) { self.data = data }
  }

  static let bytesInPlace = 32

  /// The last 32 bytes of a key that is longer than that, as numbers.
  ///
  /// Long keys begin alike: with a number and the name of a relationship, say.
  public var lastWords: Words? {
    long?.data.withUnsafeBytes { bytes in
      let start = bytes.count - Self.bytesInPlace
      return Words(
        Self.word(bytes, at: start), Self.word(bytes, at: start + 8),
        Self.word(bytes, at: start + 16), Self.word(bytes, at: start + 24))
    }
  }

  /// How many bytes the key has.
  public var count: Int { long?.data.count ?? Int(countInPlace) }

  public init(map: String, key: Data) {
    self.map = map
    let isLong = key.count > Self.bytesInPlace
    countInPlace = isLong ? 0 : UInt8(key.count)
    long = isLong ? LongKey(key) : nil
    words = key.withUnsafeBytes { bytes in
      Words(
        Self.word(bytes, at: 0), Self.word(bytes, at: 8), Self.word(bytes, at: 16),
        Self.word(bytes, at: 24))
    }
  }

  /// A key of up to 32 bytes.
  ///
  /// - Parameters:
  ///   - words: The bytes as big-endian numbers, with zeros for those past the end.
  ///   - count: How many bytes the key has.
  public init(map: String, words: Words, count: Int) {
    precondition((0...Self.bytesInPlace).contains(count), "a longer key is made of its bytes")
    self.map = map
    self.words = words
    countInPlace = UInt8(count)
    long = nil
  }

  /// The key of a ``SidecarOperation/putAtTransaction(map:_:)``.
  public init(map: String, transaction number: Int64) {
    self.init(map: map, words: Words(UInt64(bitPattern: number)), count: 8)
  }

  /// Eight bytes as a number that is ordered as they are.
  private static func word(_ bytes: UnsafeRawBufferPointer, at start: Int) -> UInt64 {
    if start + 8 <= bytes.count {
      return UInt64(bigEndian: bytes.number(at: start))
    }
    var word: UInt64 = 0
    for index in start..<start + 8 {
      word = word << 8 | (index < bytes.count ? UInt64(bytes[index]) : 0)
    }
    return word
  }

  /// The bytes.
  public var key: Data { long?.data ?? withUnsafeBytes { Data($0) } }

  /// Calls a closure with the bytes, which are there until it returns.
  public func withUnsafeBytes<Result>(
    _ body: (UnsafeRawBufferPointer) throws -> Result
  ) rethrows -> Result {
    if let long { return try long.data.withUnsafeBytes(body) }
    let bytes = (
      words.first.bigEndian, words.second.bigEndian, words.third.bigEndian, words.fourth.bigEndian
    )
    return try Swift.withUnsafeBytes(of: bytes) {
      try body(UnsafeRawBufferPointer(rebasing: $0[..<count]))
    }
  }

  public static func == (a: Self, b: Self) -> Bool {
    a.words == b.words && a.countInPlace == b.countInPlace && a.map == b.map
      && a.long?.data == b.long?.data
  }

  // The map's name would cost as much again, and few keys are in more than one map.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(words.first)
    hasher.combine(words.second)
    if count > 16 {
      hasher.combine(words.third)
      hasher.combine(words.fourth)
    }
    if let long { hasher.combine(long.data) }
  }

  /// The order of the maps by their names, and in a map that of the bytes.
  public static func < (a: Self, b: Self) -> Bool {
    a.map == b.map ? a.precedes(b) : a.map < b.map
  }

  private func precedes(_ other: Self) -> Bool {
    if words.first != other.words.first { return words.first < other.words.first }
    if words.second != other.words.second { return words.second < other.words.second }
    if words.third != other.words.third { return words.third < other.words.third }
    if words.fourth != other.words.fourth { return words.fourth < other.words.fourth }
    guard long != nil, other.long != nil else { return count < other.count }
    return key.lexicographicallyPrecedes(other.key)
  }
}
