import CairnStore

/// One row of the cache.
struct CachedRow {
  var snapshot: RowSnapshot?
  var references: Int
  var readAt: UInt64

  static var empty: CachedRow { CachedRow(snapshot: nil, references: 0, readAt: 0) }
  /// Whether there is nothing in it: entries without row and holders do not stay.
  var isEmpty: Bool { references <= 0 && snapshot == nil }
  /// Whether it is a row whose object nobody holds.
  var isUnclaimed: Bool { references <= 0 && snapshot != nil }
}

/// An open-addressing hash table from row keys to cached rows.
///
/// A fetch asks it twice per row, where a `Dictionary` costs three times as much. Linear probing with
/// backward-shift deletion, so there are no tombstones; see ``KeyPlacement``.
struct CachedRows {
  private(set) var count = 0
  /// How many rows nobody holds.
  private(set) var unclaimedCount = 0
  private var keys: [Int64] = []
  private var rows: [CachedRow] = []
  private var mask = 0

  @inline(__always)
  private func home(_ key: Int64) -> Int { KeyPlacement.home(of: key, capacity: mask + 1) }

  private func find(_ key: Int64) -> Int {
    var index = home(key)
    while !rows[index].isEmpty, keys[index] != key { index = (index + 1) & mask }
    return index
  }

  subscript(key: Int64) -> CachedRow? {
    if count == 0 { return nil }
    let index = find(key)
    return rows[index].isEmpty ? nil : rows[index]
  }

  /// Changes the row of a key in place; an empty one when there was none.
  @inline(__always)
  mutating func change(_ key: Int64, _ body: (inout CachedRow) -> Void) {
    if (count + 1) * 2 > keys.count { grow() }
    let index = find(key)
    let wasEmpty = rows[index].isEmpty
    let wasUnclaimed = rows[index].isUnclaimed
    body(&rows[index])
    let isEmpty = rows[index].isEmpty
    let isUnclaimed = rows[index].isUnclaimed
    if wasUnclaimed != isUnclaimed { unclaimedCount += isUnclaimed ? 1 : -1 }
    if wasEmpty, !isEmpty {
      keys[index] = key
      count += 1
    } else if !wasEmpty, isEmpty {
      remove(at: index)
    }
  }

  /// Closes the gap that an emptied row leaves.
  private mutating func remove(at position: Int) {
    count -= 1
    var hole = position
    rows[hole] = .empty
    var index = (hole + 1) & mask
    while !rows[index].isEmpty {
      // The row may move into the hole unless its home lies between the hole and itself.
      let distanceToHome = (index - home(keys[index])) & mask
      let distanceToHole = (index - hole) & mask
      if distanceToHome >= distanceToHole {
        keys[hole] = keys[index]
        rows.swapAt(hole, index)
        hole = index
      }
      index = (index + 1) & mask
    }
  }

  /// Makes room for so many more rows.
  mutating func reserve(_ more: Int) {
    var capacity = max(16, keys.count)
    while capacity < 2 * (count + more + 1) { capacity *= 2 }
    if capacity > keys.count { rebuild(capacity: capacity) { _ in true } }
  }

  private mutating func grow() { rebuild(capacity: max(16, keys.count * 2)) { _ in true } }

  /// Drops the rows that nobody holds.
  mutating func removeUnclaimed() {
    if unclaimedCount == 0 { return }
    let left = count - unclaimedCount
    var capacity = 16
    while capacity < 2 * (left + 1) { capacity *= 2 }
    rebuild(capacity: capacity) { !$0.isUnclaimed }
    (count, unclaimedCount) = (left, 0)
  }

  private mutating func rebuild(capacity: Int, keeping: (CachedRow) -> Bool) {
    let (oldKeys, oldRows) = (keys, rows)
    keys = Array(repeating: 0, count: capacity)
    rows = Array(repeating: .empty, count: capacity)
    mask = capacity - 1
    for index in oldKeys.indices where !oldRows[index].isEmpty && keeping(oldRows[index]) {
      let place = find(oldKeys[index])
      keys[place] = oldKeys[index]
      rows[place] = oldRows[index]
    }
  }
}
