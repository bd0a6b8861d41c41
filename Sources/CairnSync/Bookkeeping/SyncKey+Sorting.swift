import CairnStore

// The order of keys as the maps have them: a store that takes them so goes from page to page.

extension SyncKey {
  static func sorted(_ keys: [SidecarKey]) -> [SidecarKey] { sorted(keys, by: \.self) }

  /// Sorts map by map, and in a map by the bytes of the keys.
  static func sorted<Element>(
    _ elements: [Element], by key: (Element) -> SidecarKey
  ) -> [Element] {
    if elements.count < 2 { return elements }
    var maps: [String] = []
    var ranks: [KeyRank] = []
    ranks.reserveCapacity(elements.count)
    for (index, element) in elements.enumerated() {
      let key = key(element)
      // Keys come in runs, from few maps.
      let place =
        maps.lastIndex(of: key.map)
        ?? {
          maps.append(key.map)
          return maps.count - 1
        }()
      ranks.append(KeyRank(key.words, map: UInt32(place), index: UInt32(index)))
    }
    let order = maps.indices.sorted { maps[$0] < maps[$1] }
    var places = [UInt32](repeating: 0, count: maps.count)
    for (place, index) in order.enumerated() { places[index] = UInt32(place) }
    for index in ranks.indices { ranks[index].map = places[Int(ranks[index].map)] }
    ranks.sort { a, b in
      if a.map != b.map { return a.map < b.map }
      if a.first != b.first { return a.first < b.first }
      if a.second != b.second { return a.second < b.second }
      if a.third != b.third { return a.third < b.third }
      return key(elements[Int(a.index)]) < key(elements[Int(b.index)])
    }
    return ranks.map { elements[Int($0.index)] }
  }
}

/// What most comparisons of two keys need: a value without references, since sorting moves them about.
private struct KeyRank {
  let first: UInt64
  let second: UInt64
  let third: UInt64
  /// The place of the map, by its name.
  var map: UInt32
  /// Where the key stands in what is sorted.
  let index: UInt32

  init(_ words: SidecarKey.Words, map: UInt32, index: UInt32) {
    (first, second, third) = (words.first, words.second, words.third)
    self.map = map
    self.index = index
  }
}
