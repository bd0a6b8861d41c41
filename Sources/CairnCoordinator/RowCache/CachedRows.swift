import CRuntime
import CairnStore

/// One row of the cache.
struct CachedRow {
  var snapshot: RowSnapshot?
  var references: Int
  var readAt: UInt64

  static var empty: CachedRow { CachedRow(snapshot: nil, references: 0, readAt: 0) }
  /// Whether there is nothing in it: entries without row and holders do not stay.
  var isEmpty: Bool { references <= 0 && snapshot == nil }
  /// Takes a row that was just read; one that may be older than what is known, because there was a
  /// commit since, only in place of a row that is older still.
  @inline(__always)
  mutating func take(_ row: consuming RowSnapshot, readAt time: UInt64, wasCommitted: Bool) {
    if wasCommitted, !(snapshot.map { $0.version <= row.version } ?? false) { return }
    snapshot = row
    readAt = time
  }

  /// Counts one holder more.
  @inline(__always)
  mutating func retain(at time: UInt64) {
    if isEmpty { readAt = time }
    references += 1
  }

  /// Whether it is a row whose object no context holds.
  var isUnclaimed: Bool { references <= 0 && snapshot != nil }
}

/// An open-addressing hash table from row keys to cached rows.
///
/// A fetch asks it twice per row, where a `Dictionary` costs three times as much. Linear probing with
/// backward-shift deletion, so there are no tombstones; see ``KeyPlacement``.
struct CachedRows {
  private(set) var count = 0
  /// How many rows no context holds.
  private(set) var unclaimedCount = 0
  /// Key and row side by side: one line of the processor's cache has two.
  private struct Entry {
    var key: Int64
    var row: CachedRow

    static var empty: Entry { Entry(key: 0, row: .empty) }
  }
  private var entries: ContiguousArray<Entry> = []

  @inline(__always)
  private static func find(_ key: Int64, in entries: UnsafeBufferPointer<Entry>) -> Int {
    let mask = entries.count - 1
    var index = KeyPlacement.home(of: key, capacity: entries.count)
    while !entries[index].row.isEmpty, entries[index].key != key { index = (index + 1) & mask }
    return index
  }

  @inline(__always)
  subscript(key: Int64) -> CachedRow? {
    if count == 0 { return nil }
    return entries.withUnsafeBufferPointer { entries in
      let row = entries[Self.find(key, in: entries)].row
      return row.isEmpty ? nil : row
    }
  }

  /// Asks for the memory where a key's row is or will be, because a reference that is counted
  /// meanwhile keeps the processor from asking for it by itself.
  @inline(__always)
  func fetchAhead(_ key: Int64) {
    entries.withUnsafeBufferPointer { entries in
      guard let start = entries.baseAddress else { return }
      cairn_fetch_ahead(start + KeyPlacement.home(of: key, capacity: entries.count))
    }
  }

  /// Changes the row of a key in place; an empty one when there was none.
  @inline(__always)
  mutating func change(_ key: Int64, _ body: (inout CachedRow) -> Void) {
    if KeyPlacement.isFull(count: count, capacity: entries.count) { grow() }
    let (new, newUnclaimed) = entries.withUnsafeMutableBufferPointer { entries in
      let index = Self.find(key, in: UnsafeBufferPointer(entries))
      let wasEmpty = entries[index].row.isEmpty
      let wasUnclaimed = entries[index].row.isUnclaimed
      body(&entries[index].row)
      let isEmpty = entries[index].row.isEmpty
      let isUnclaimed = entries[index].row.isUnclaimed
      if isEmpty {
        if !wasEmpty { Self.remove(at: index, from: entries) }
      } else if wasEmpty {
        entries[index].key = key
      }
      return (
        (isEmpty ? 0 : 1) - (wasEmpty ? 0 : 1), (isUnclaimed ? 1 : 0) - (wasUnclaimed ? 1 : 0)
      )
    }
    count += new
    unclaimedCount += newUnclaimed
  }

  /// Takes a row as ``CachedRow/take(_:readAt:wasCommitted:)`` does, and counts a holder of it.
  ///
  /// What ``change(_:_:)`` could do as well, but a closure counts one reference more to the row.
  @inline(__always)
  mutating func take(
    _ row: consuming RowSnapshot, for key: Int64, isHeld: Bool, readAt time: UInt64,
    wasCommitted: Bool
  ) {
    if KeyPlacement.isFull(count: count, capacity: entries.count) { grow() }
    let index = entries.withUnsafeBufferPointer { Self.find(key, in: $0) }
    let (wasEmpty, wasUnclaimed) = (entries[index].row.isEmpty, entries[index].row.isUnclaimed)
    entries[index].row.take(row, readAt: time, wasCommitted: wasCommitted)
    if isHeld { entries[index].row.retain(at: time) }
    if wasEmpty, !entries[index].row.isEmpty {
      entries[index].key = key
      count += 1
    }
    unclaimedCount += (entries[index].row.isUnclaimed ? 1 : 0) - (wasUnclaimed ? 1 : 0)
  }

  /// Closes the gap that an emptied row leaves.
  private static func remove(
    at position: Int, from entries: UnsafeMutableBufferPointer<Entry>
  ) {
    let mask = entries.count - 1
    var hole = position
    entries[hole].row = .empty
    var index = (hole + 1) & mask
    while !entries[index].row.isEmpty {
      // The row may move into the hole unless its home lies between the hole and itself.
      let home = KeyPlacement.home(of: entries[index].key, capacity: entries.count)
      let distanceToHome = (index - home) & mask
      let distanceToHole = (index - hole) & mask
      if distanceToHome >= distanceToHole {
        entries.swapAt(hole, index)
        hole = index
      }
      index = (index + 1) & mask
    }
  }

  /// Makes room for so many more rows.
  mutating func reserve(_ more: Int) {
    let capacity = KeyPlacement.capacity(for: count + more, atLeast: entries.count)
    if capacity > entries.count { rebuild(capacity: capacity) { _ in true } }
  }

  private mutating func grow() { rebuild(capacity: max(16, entries.count * 2)) { _ in true } }

  /// Drops the rows that no context holds.
  mutating func removeUnclaimed() {
    if unclaimedCount == 0 { return }
    let left = count - unclaimedCount
    let capacity = KeyPlacement.capacity(for: left, atLeast: 16)
    rebuild(capacity: capacity) { !$0.isUnclaimed }
    (count, unclaimedCount) = (left, 0)
  }

  private mutating func rebuild(capacity: Int, keeping: (borrowing CachedRow) -> Bool) {
    var old = ContiguousArray(repeating: Entry.empty, count: capacity)
    swap(&old, &entries)
    entries.withUnsafeMutableBufferPointer { entries in
      old.withUnsafeMutableBufferPointer { old in
        // Exchanged, not copied: a reference more to each row would be looked up in memory twice.
        for index in old.indices where !old[index].row.isEmpty && keeping(old[index].row) {
          let place = Self.find(old[index].key, in: UnsafeBufferPointer(entries))
          swap(&old[index], &entries[place])
        }
      }
    }
  }
}
