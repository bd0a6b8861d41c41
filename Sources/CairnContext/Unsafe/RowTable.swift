import CairnCoordinator
import CairnModel

/// An open-addressing hash table from 64-bit keys to addresses of objects; 0 is no object.
///
/// Measured three times faster than a `Dictionary` for the one question a fetch asks per row.
/// Linear probing with backward-shift deletion, so there are no tombstones; see ``KeyPlacement``.
struct RowTable {
  /// Key and address side by side: one line of the processor's cache has four.
  private struct Entry {
    var key: Int64
    var value: UInt
  }

  private(set) var count = 0
  private var entries: ContiguousArray<Entry> = []

  /// Where a key is, or the free place where it belongs.
  @inline(__always)
  private static func find(_ key: Int64, in entries: UnsafeBufferPointer<Entry>) -> Int {
    let mask = entries.count - 1
    var index = KeyPlacement.home(of: key, capacity: entries.count)
    while entries[index].value != 0, entries[index].key != key { index = (index + 1) & mask }
    return index
  }

  subscript(key: Int64) -> UInt {
    @inline(__always) get {
      if count == 0 { return 0 }
      return entries.withUnsafeBufferPointer { $0[Self.find(key, in: $0)].value }
    }
    set {
      if newValue != 0 {
        if KeyPlacement.isFull(count: count, capacity: entries.count) {
          grow(to: max(16, entries.count * 2))
        }
        let isNew = entries.withUnsafeMutableBufferPointer { entries in
          let index = Self.find(key, in: UnsafeBufferPointer(entries))
          let isNew = entries[index].value == 0
          entries[index] = Entry(key: key, value: newValue)
          return isNew
        }
        if isNew { count += 1 }
      } else if count > 0 {
        let wasThere = entries.withUnsafeMutableBufferPointer { Self.remove(key, from: $0) }
        if wasThere { count -= 1 }
      }
    }
  }

  /// Gives a key that has no address its own; what it has already otherwise.
  mutating func add(_ value: UInt, for key: Int64) -> UInt {
    if KeyPlacement.isFull(count: count, capacity: entries.count) {
      grow(to: max(16, entries.count * 2))
    }
    let known = entries.withUnsafeMutableBufferPointer { entries in
      let index = Self.find(key, in: UnsafeBufferPointer(entries))
      let known = entries[index].value
      if known == 0 { entries[index] = Entry(key: key, value: value) }
      return known
    }
    if known == 0 { count += 1 }
    return known
  }

  /// Takes out what a key has, if it is that.
  mutating func remove(_ value: UInt, for key: Int64) {
    if count == 0 || value == 0 { return }
    let wasThere = entries.withUnsafeMutableBufferPointer { Self.remove(key, value, from: $0) }
    if wasThere { count -= 1 }
  }

  /// Gives many keys their addresses, none of which is 0.
  mutating func set(_ keys: Int, _ pair: (Int) -> (key: Int64, value: UInt)) {
    reserve(more: keys)
    count += entries.withUnsafeMutableBufferPointer { entries in
      var new = 0
      for place in 0..<keys {
        let (key, value) = pair(place)
        let index = Self.find(key, in: UnsafeBufferPointer(entries))
        if entries[index].value == 0 { new += 1 }
        entries[index] = Entry(key: key, value: value)
      }
      return new
    }
  }

  /// Takes out what each of many keys has, if it is what stands beside the key.
  ///
  /// What was in the way of others is closed up once at the end, where there is much of it.
  mutating func remove(_ keys: Int, _ pair: (Int) -> (key: Int64, value: UInt)) {
    if keys * 2 < count {
      for place in 0..<keys {
        let (key, value) = pair(place)
        remove(value, for: key)
      }
      return
    }
    if count == 0 { return }
    // An address that no object has: it keeps the way open to those behind it.
    let gone: UInt = 1
    let taken = entries.withUnsafeMutableBufferPointer { entries in
      var taken = 0
      for place in 0..<keys {
        let (key, value) = pair(place)
        let index = Self.find(key, in: UnsafeBufferPointer(entries))
        if value == 0 || entries[index].value != value { continue }
        entries[index].value = gone
        taken += 1
      }
      return taken
    }
    count -= taken
    if count == 0 { return removeAll() }
    if taken == 0 { return }
    let left = entries
    entries = ContiguousArray(repeating: Entry(key: 0, value: 0), count: left.count)
    entries.withUnsafeMutableBufferPointer { entries in
      for entry in left where entry.value > gone {
        entries[Self.find(entry.key, in: UnsafeBufferPointer(entries))] = entry
      }
    }
  }

  /// - Parameter value: What the key must have; 0 for anything.
  private static func remove(
    _ key: Int64, _ value: UInt = 0, from entries: UnsafeMutableBufferPointer<Entry>
  ) -> Bool {
    let mask = entries.count - 1
    var hole = find(key, in: UnsafeBufferPointer(entries))
    guard entries[hole].value != 0, value == 0 || entries[hole].value == value else { return false }
    entries[hole].value = 0
    var index = (hole + 1) & mask
    while entries[index].value != 0 {
      let home = KeyPlacement.home(of: entries[index].key, capacity: entries.count)
      // The entry may move into the hole unless its home lies between the hole and itself.
      let distanceToHome = (index - home) & mask
      let distanceToHole = (index - hole) & mask
      if distanceToHome >= distanceToHole {
        entries[hole] = entries[index]
        entries[index].value = 0
        hole = index
      }
      index = (index + 1) & mask
    }
    return true
  }

  /// Makes room for so many more.
  mutating func reserve(more: Int) {
    let capacity = KeyPlacement.capacity(for: count + more, atLeast: entries.count)
    if capacity > entries.count { grow(to: capacity) }
  }

  private mutating func grow(to capacity: Int) {
    let old = entries
    entries = ContiguousArray(repeating: Entry(key: 0, value: 0), count: capacity)
    entries.withUnsafeMutableBufferPointer { entries in
      for entry in old where entry.value != 0 {
        entries[Self.find(entry.key, in: UnsafeBufferPointer(entries))] = entry
      }
    }
  }

  mutating func removeAll() { self = RowTable() }

  /// All addresses.
  var all: [UInt] { entries.compactMap { $0.value == 0 ? nil : $0.value } }
}

/// Permanent IDs by the numbers of the temporary ones they replaced.
struct SuccessorTable {
  /// Place in ``ids`` plus one, by number.
  private var places = RowTable()
  private var ids: [ManagedObjectID] = []

  func id(for number: UInt64) -> ManagedObjectID? {
    let place = places[Int64(bitPattern: number)]
    return place == 0 ? nil : ids[Int(place) - 1]
  }

  mutating func set(_ id: ManagedObjectID, for number: UInt64) {
    ids.append(id)
    places[Int64(bitPattern: number)] = UInt(ids.count)
  }
}
