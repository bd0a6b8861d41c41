import CairnModel

/// The IDs of rows in the order in which they were added: a number each, and the entity and store that
/// neighbours share once for all of them.
///
/// Most often the rows come in the order of their keys, and a key is found by halving. An index of
/// places is kept from the first one on that is out of order.
struct InstanceColumn {
  /// Where IDs of another entity or store begin.
  private struct Run {
    let start: Int
    let home: Int
  }
  private var homes: [ObjectHome] = []
  private var runs: [Run] = []
  private var keys: [Int64] = []
  private var index: PlaceIndex?

  var count: Int { keys.count }

  /// Adds an ID; false, and nothing is done, for one that is no row's.
  mutating func append(_ id: ManagedObjectID) -> Bool {
    guard let key = id.rowKey, let home = home(of: id, adding: id.rowHome) else { return false }
    if runs.last?.home != home { runs.append(Run(start: keys.count, home: home)) }
    if index == nil, homes.count > 1 || keys.last ?? key > key { makeIndex() }
    let runs = runs
    index?.add(keys.count, of: key, home, keys: keys) { Self.home(at: $0, in: runs) }
    keys.append(key)
    return true
  }

  /// The ID at a place.
  func id(at place: Int) -> ManagedObjectID {
    ManagedObjectID(home: homes[homeIndex(place)], rowKey: keys[place])
  }

  /// The places of an ID, in their order.
  func places(of id: ManagedObjectID) -> [Int] {
    guard let key = id.rowKey, let home = home(of: id) else { return [] }
    if let index { return index.places(of: key, home, keys: keys, homeAt: homeIndex) }
    var place = lowerBound(of: key)
    let first = place
    while place < keys.count, keys[place] == key { place += 1 }
    return Array(first..<place)
  }

  /// Whether the ID at a place is at none before.
  func isFirst(_ place: Int) -> Bool {
    if let index {
      return index.first(of: keys[place], homeIndex(place), keys: keys, homeAt: homeIndex) == place
    }
    return place == 0 || keys[place - 1] != keys[place]
  }

  // MARK: Homes

  private func home(of id: ManagedObjectID) -> Int? {
    homes.firstIndex { $0 === id.rowHome || $0.isOfRows(id.entity, in: id.storeIdentity) }
  }

  private mutating func home(of id: ManagedObjectID, adding new: ObjectHome?) -> Int? {
    if let last = runs.last, homes[last.home] === new { return last.home }
    if let known = home(of: id) { return known }
    guard let new else { return nil }
    homes.append(new)
    return homes.count - 1
  }

  private func homeIndex(_ place: Int) -> Int { Self.home(at: place, in: runs) }

  private static func home(at place: Int, in runs: [Run]) -> Int {
    if runs.count == 1 { return runs[0].home }
    var (low, high) = (0, runs.count)
    while high - low > 1 {
      let middle = (low + high) / 2
      if runs[middle].start <= place { low = middle } else { high = middle }
    }
    return runs[low].home
  }

  // MARK: Places

  private func lowerBound(of key: Int64) -> Int {
    var (low, high) = (0, keys.count)
    while low < high {
      let middle = (low + high) / 2
      if keys[middle] < key { low = middle + 1 } else { high = middle }
    }
    return low
  }

  private mutating func makeIndex() {
    var made = PlaceIndex()
    for place in keys.indices {
      made.add(place, of: keys[place], homeIndex(place), keys: keys, homeAt: homeIndex)
    }
    index = made
  }
}

/// The places of keys in a column: a table of the first and the last place of each key, and of each
/// place the next one of its key.
private struct PlaceIndex {
  /// One more than a place, so that 0 is none.
  private var first: [UInt32] = []
  private var last: [UInt32] = []
  private var next: [UInt32] = []
  private var distinct = 0

  /// Notes that a key is to be added at a place, behind all others.
  mutating func add(
    _ place: Int, of key: Int64, _ home: Int, keys: [Int64], homeAt: (Int) -> Int
  ) {
    if distinct * 4 >= first.count * 3 { grow(keys, homeAt) }
    next.append(0)
    let slot = slot(of: key, home, keys, homeAt)
    if first[slot] == 0 {
      first[slot] = UInt32(place + 1)
      distinct += 1
    } else {
      next[Int(last[slot]) - 1] = UInt32(place + 1)
    }
    last[slot] = UInt32(place + 1)
  }

  func places(of key: Int64, _ home: Int, keys: [Int64], homeAt: (Int) -> Int) -> [Int] {
    var result: [Int] = []
    var place = first[slot(of: key, home, keys, homeAt)]
    while place != 0 {
      result.append(Int(place) - 1)
      place = next[Int(place) - 1]
    }
    return result
  }

  func first(of key: Int64, _ home: Int, keys: [Int64], homeAt: (Int) -> Int) -> Int? {
    let place = first[slot(of: key, home, keys, homeAt)]
    return place == 0 ? nil : Int(place) - 1
  }

  /// Where a key is, or is to be put.
  private func slot(
    of key: Int64, _ home: Int, _ keys: [Int64], _ homeAt: (Int) -> Int
  ) -> Int {
    let mask = first.count - 1
    var slot = Self.hash(key, home) & mask
    while first[slot] != 0 {
      let place = Int(first[slot]) - 1
      if keys[place] == key, homeAt(place) == home { return slot }
      slot = (slot + 1) & mask
    }
    return slot
  }

  private static func hash(_ key: Int64, _ home: Int) -> Int {
    let mixed = (UInt64(bitPattern: key) &+ UInt64(home) << 48) &* 0x9E37_79B9_7F4A_7C15
    return Int(truncatingIfNeeded: mixed >> 20)
  }

  private mutating func grow(_ keys: [Int64], _ homeAt: (Int) -> Int) {
    let (oldFirst, oldLast) = (first, last)
    let capacity = max(64, oldFirst.count * 2)
    first = Array(repeating: 0, count: capacity)
    last = first
    for (head, tail) in zip(oldFirst, oldLast) where head != 0 {
      let place = Int(head) - 1
      let slot = slot(of: keys[place], homeAt(place), keys, homeAt)
      (first[slot], last[slot]) = (head, tail)
    }
  }
}
