/// Where the tables of rows and objects begin to look for a key.
///
/// Keys are dense numbers that come in order. Eight neighbours share a cache line, which saves a miss
/// a question; the groups are scattered. Groups that stood side by side as well would be one run as
/// long as the table, and a removal has to go to the end of its run.
@usableFromInline package enum KeyPlacement {
  /// Whether a table is full enough to grow before it takes one entry more.
  ///
  /// A fifth stays free: enough for keys that lie as evenly as these, and a table twice as large as it
  /// needs to be misses the processor's caches twice as often.
  @inlinable @inline(__always)
  package static func isFull(count: Int, capacity: Int) -> Bool {
    (count + 1) * 5 > capacity * 4
  }

  /// The capacity for so many entries, at least what there is.
  package static func capacity(for count: Int, atLeast capacity: Int) -> Int {
    var capacity = max(16, capacity)
    while isFull(count: count, capacity: capacity) { capacity *= 2 }
    return capacity
  }

  /// How many neighbouring keys stand side by side.
  // Computed: a stored one keeps other modules from inlining what reads it.
  @inlinable static var group: Int { 8 }

  /// The place in a table with a capacity that is a power of two, 16 at least.
  @inlinable @inline(__always)
  package static func home(of key: Int64, capacity: Int) -> Int {
    // Multiples of the golden ratio's fraction lie as evenly as points can, for keys in a row and
    // for keys at a distance; the upper half of the second product makes a place of the fraction.
    let fraction = (UInt64(bitPattern: key) >> 3) &* 0x9E37_79B9_7F4A_7C15
    let place = fraction.multipliedFullWidth(by: UInt64(capacity / group)).high
    return Int(truncatingIfNeeded: place) * group + Int(truncatingIfNeeded: key & 7)
  }
}
