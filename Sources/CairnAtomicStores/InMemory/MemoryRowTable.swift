import CairnModel
import CairnStore

/// The rows of one entity hierarchy, in the order of their keys.
struct MemoryRowTable {
  private(set) var rows: [Int64: RowSnapshot] = [:]
  /// All keys ascending; those of deleted rows stay until there are many.
  private var keys: [Int64] = []
  private var lastKey: Int64 = 0

  /// A key that no row has or had.
  ///
  /// - Throws: 134030 when there is none.
  mutating func nextKey() throws -> Int64 {
    lastKey = try MemoryTables.key(after: lastKey)
    return lastKey
  }

  subscript(key: Int64) -> RowSnapshot? { rows[key] }

  mutating func set(_ row: RowSnapshot, at key: Int64) {
    lastKey = max(lastKey, key)
    if rows.updateValue(row, forKey: key) == nil { insertKey(key) }
  }

  mutating func remove(at key: Int64) {
    guard rows.removeValue(forKey: key) != nil else { return }
    if keys.count > 64, keys.count > 2 * rows.count { keys.removeAll { rows[$0] == nil } }
  }

  private mutating func insertKey(_ key: Int64) {
    guard let last = keys.last, key <= last else {
      keys.append(key)
      return
    }
    var low = 0
    var high = keys.count
    while low < high {
      let middle = (low + high) / 2
      if keys[middle] < key { low = middle + 1 } else { high = middle }
    }
    if keys[low] != key { keys.insert(key, at: low) }
  }

  /// The rows in the order of their keys.
  var inOrder: some Sequence<RowSnapshot> { keys.lazy.compactMap { rows[$0] } }
}
