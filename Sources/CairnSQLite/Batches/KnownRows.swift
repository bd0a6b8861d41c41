import CairnModel

/// Rows by their hierarchy and key, to see which have been met before.
struct KnownRows {
  /// Keys of one hierarchy: those that came in large numbers, and the others.
  fileprivate struct Keys {
    var runs = KeyRuns([])
    var others: Set<Int64> = []
  }
  /// By the number of the hierarchy's root entity.
  private var keys: [Int: Keys] = [:]

  /// From so many on, keys are worth being looked at as runs.
  fileprivate static let manyKeys = 64

  var isEmpty: Bool { keys.isEmpty }

  /// - Returns: Those that were not there, each once.
  mutating func insert(_ ids: [ManagedObjectID]) -> [ManagedObjectID] {
    var new: [ManagedObjectID] = []
    var start = 0
    // They come in runs of one entity.
    while start < ids.count {
      let entity = ids[start].entity
      let end = ids[start...].firstIndex { $0.entity !== entity } ?? ids.count
      let run = ids[start..<end]
      if keys[entity.layout.rootNumber, default: Keys()].insert(run) {
        new += run
      } else {
        new += run.filter { id in
          id.rowKey.map { keys[entity.layout.rootNumber, default: Keys()].insert($0) } ?? false
        }
      }
      start = end
    }
    return new
  }
}

extension KnownRows.Keys {
  /// Takes many keys at once, if they are that and all of them are new; otherwise none.
  fileprivate mutating func insert(_ ids: ArraySlice<ManagedObjectID>) -> Bool {
    guard ids.count >= KnownRows.manyKeys, others.isEmpty else { return false }
    let new = KeyRuns(ids.compactMap(\.rowKey))
    guard new.count == ids.count, let joined = runs.joined(with: new) else { return false }
    runs = joined
    return true
  }

  /// - Returns: Whether it was not there.
  fileprivate mutating func insert(_ key: Int64) -> Bool {
    !runs.contains(key) && others.insert(key).inserted
  }
}
