import CairnStore
import Foundation

// The order of keys as the maps have them: a store that takes them so goes from page to page.

extension SyncKey {
  static func sorted(_ keys: [SidecarKey]) -> [SidecarKey] { sorted(keys, by: \.self) }

  /// Sorts map by map, and in a map by the bytes of the keys.
  ///
  /// The keys of one map mostly begin with the same bytes, such as an entity's name; the sixteen that follow
  /// are compared as two numbers, and what is equal by these byte by byte.
  static func sorted<Element>(
    _ elements: [Element], by key: (Element) -> SidecarKey
  ) -> [Element] {
    if elements.count < 2 { return elements }
    let keys = elements.map(key)
    var lists = KeyLists()
    for key in keys { lists.note(key) }
    let places = lists.places()
    var ranks: [KeyRank] = []
    ranks.reserveCapacity(keys.count)
    for index in keys.indices {
      let list = lists.index(of: keys[index].map)
      ranks.append(
        KeyRank(keys[index].key, after: lists.common(list), list: places[list], index: index))
    }
    ranks.sort { a, b in
      if a.list != b.list { return a.list < b.list }
      if a.high != b.high { return a.high < b.high }
      if a.low != b.low { return a.low < b.low }
      return keys[a.index].key.lexicographicallyPrecedes(keys[b.index].key)
    }
    return ranks.map { elements[$0.index] }
  }
}

/// What most comparisons of two keys need.
private struct KeyRank {
  let list: Int
  let high: UInt64
  let low: UInt64
  /// Where the key stands in what is sorted.
  let index: Int

  init(_ key: Data, after common: Int, list: Int, index: Int) {
    self.list = list
    self.index = index
    (high, low) = key.withUnsafeBytes { bytes in
      (Self.word(bytes, at: common), Self.word(bytes, at: common + 8))
    }
  }

  /// Eight bytes as a number that is ordered as they are; zeros stand for those past the end.
  private static func word(_ bytes: UnsafeRawBufferPointer, at start: Int) -> UInt64 {
    if start + 8 <= bytes.count {
      return UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: start, as: UInt64.self))
    }
    var word: UInt64 = 0
    for index in start..<start + 8 {
      word = word << 8 | (index < bytes.count ? UInt64(bytes[index]) : 0)
    }
    return word
  }
}

/// The maps among some keys, and how many bytes the keys of each have in common at their beginning.
private struct KeyLists {
  private var maps: [String] = []
  private var first: [Data] = []
  private var common: [Int] = []
  /// The map that was asked for last: keys come in runs.
  private var last = 0

  mutating func note(_ key: SidecarKey) {
    guard let index = find(key.map) else {
      last = maps.count
      maps.append(key.map)
      first.append(key.key)
      return common.append(key.key.count)
    }
    last = index
    if common[index] == 0 { return }
    common[index] = Self.common(first[index], key.key, atMost: common[index])
  }

  private static func common(_ a: Data, _ b: Data, atMost most: Int) -> Int {
    a.withUnsafeBytes { (a: UnsafeRawBufferPointer) in
      b.withUnsafeBytes { (b: UnsafeRawBufferPointer) in
        let end = min(most, b.count)
        var count = 0
        while count < end, a[count] == b[count] { count += 1 }
        return count
      }
    }
  }

  private func find(_ map: String) -> Int? {
    if last < maps.count, maps[last] == map { return last }
    return maps.firstIndex(of: map)
  }

  func index(of map: String) -> Int { find(map) ?? 0 }

  func common(_ index: Int) -> Int { common[index] }

  /// Where each of the maps comes by its name.
  func places() -> [Int] {
    let order = maps.indices.sorted { maps[$0] < maps[$1] }
    var places = [Int](repeating: 0, count: maps.count)
    for (place, index) in order.enumerated() { places[index] = place }
    return places
  }
}
