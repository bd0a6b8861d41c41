import CairnStore
import Foundation

/// The sidecar of a store in memory: ordered maps from bytes to bytes.
struct SidecarMaps {
  private struct Map {
    var values: [Data: Data] = [:]
    /// Ascending.
    var keys: [Data] = []

    /// The first place whose key is not smaller.
    func place(of key: Data) -> Int {
      var low = 0
      var high = keys.count
      while low < high {
        let middle = (low + high) / 2
        if keys[middle].lexicographicallyPrecedes(key) { low = middle + 1 } else { high = middle }
      }
      return low
    }
  }
  private var maps: [String: Map] = [:]

  subscript(key: SidecarKey) -> Data? { maps[key.map]?.values[key.key] }

  /// The first entry that is not as an operation requires, before any is applied.
  func firstUnmet(of operations: [SidecarOperation]) -> SidecarKey? {
    for operation in operations {
      if case .require(let key, let value) = operation, self[key] != value { return key }
    }
    return nil
  }

  /// - Parameter transaction: The number under which history has the commit; nil without history.
  mutating func apply(_ operations: [SidecarOperation], transaction: Int64?) {
    for operation in operations {
      switch operation {
      case .put(let key, let value): put(value, at: key)
      case .putAll(let run):
        run.forEach { put(Data($1), at: SidecarKey(map: run.map, key: Data($0))) }
      case .putAtTransaction(let map, let value):
        if let transaction { put(value, at: SidecarKey(map: map, transaction: transaction)) }
      case .add(let key, let numbers):
        if let sum = SidecarOperation.sum(numbers, self[key]) {
          put(sum, at: key)
        } else {
          remove(key)
        }
      case .remove(let key): remove(key)
      case .require:
        continue
      }
    }
  }

  private mutating func remove(_ key: SidecarKey) {
    guard maps[key.map]?.values.removeValue(forKey: key.key) != nil,
      let place = maps[key.map]?.place(of: key.key)
    else { return }
    maps[key.map]?.keys.remove(at: place)
  }

  private mutating func put(_ value: Data, at key: SidecarKey) {
    let isNew = maps[key.map, default: Map()].values.updateValue(value, forKey: key.key) == nil
    if isNew, let place = maps[key.map]?.place(of: key.key) {
      maps[key.map]?.keys.insert(key.key, at: place)
    }
  }

  func entries(
    of name: String, from lower: Data?, to upper: Data?, limit: Int, except value: Data?
  ) -> [(key: Data, value: Data)] {
    guard let map = maps[name] else { return [] }
    let start = lower.map(map.place(of:)) ?? 0
    let end = upper.map(map.place(of:)) ?? map.keys.count
    guard start < end else { return [] }
    var found: [(key: Data, value: Data)] = []
    for key in map.keys[start..<end] {
      guard let stored = map.values[key], stored != value else { continue }
      found.append((key, stored))
      if limit > 0, found.count == limit { break }
    }
    return found
  }
}
