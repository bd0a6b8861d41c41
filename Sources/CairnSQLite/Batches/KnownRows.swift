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
  mutating func insert(_ runs: [EntityRows]) -> [EntityRows] {
    var new: [EntityRows] = []
    for var run in runs {
      let root = run.entity.layout.rootNumber
      if !keys[root, default: Keys()].insert(run.keys) {
        run.keys = run.keys.filter { keys[root, default: Keys()].insert($0) }
      }
      if !run.keys.isEmpty { new.append(run) }
    }
    return new
  }
}

extension KnownRows.Keys {
  /// Takes many keys at once, if they are that and all of them are new; otherwise none.
  fileprivate mutating func insert(_ keys: [Int64]) -> Bool {
    guard keys.count >= KnownRows.manyKeys, others.isEmpty else { return false }
    let new = KeyRuns(keys)
    guard new.count == keys.count, let joined = runs.joined(with: new) else { return false }
    runs = joined
    return true
  }

  /// - Returns: Whether it was not there.
  fileprivate mutating func insert(_ key: Int64) -> Bool {
    !runs.contains(key) && others.insert(key).inserted
  }
}
