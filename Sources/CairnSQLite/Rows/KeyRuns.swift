/// Keys in ascending order, as the ranges of those that follow one another: SQLite goes through a
/// range in less than half the time that it takes for as many single keys, listed or not.
struct KeyRuns {
  private(set) var ranges: [ClosedRange<Int64>] = []

  init(_ keys: [Int64]) {
    let keys = Self.sorted(keys)
    var next = 0
    while next < keys.count {
      let first = keys[next]
      var last = first
      next += 1
      while next < keys.count, keys[next] == last || keys[next] == last &+ 1 {
        last = keys[next]
        next += 1
      }
      ranges.append(first...last)
    }
  }

  /// Runs in any order, which may overlap.
  init(merging runs: [ClosedRange<Int64>]) {
    let isSorted = runs.indices.dropFirst().allSatisfy {
      runs[$0 - 1].upperBound < runs[$0].lowerBound
    }
    if isSorted {
      ranges = runs
      return
    }
    for run in runs.sorted(by: { $0.lowerBound < $1.lowerBound }) {
      if let last = ranges.last, run.lowerBound <= last.upperBound {
        ranges[ranges.count - 1] = last.lowerBound...max(last.upperBound, run.upperBound)
      } else {
        ranges.append(run)
      }
    }
  }

  /// How many keys there are.
  var count: Int { ranges.reduce(0) { $0 + $1.count } }

  func contains(_ key: Int64) -> Bool {
    var (low, high) = (0, ranges.count)
    while low < high {
      let middle = (low + high) / 2
      if ranges[middle].upperBound < key { low = middle + 1 } else { high = middle }
    }
    return low < ranges.count && ranges[low].lowerBound <= key
  }

  /// The keys of both; nil when they have one in common.
  func joined(with others: KeyRuns) -> KeyRuns? {
    var joined = KeyRuns([])
    joined.ranges.reserveCapacity(ranges.count + others.ranges.count)
    var (mine, other) = (0, 0)
    while mine < ranges.count || other < others.ranges.count {
      let next: ClosedRange<Int64>
      if other == others.ranges.count
        || mine < ranges.count && ranges[mine].lowerBound < others.ranges[other].lowerBound
      {
        next = ranges[mine]
        mine += 1
      } else {
        next = others.ranges[other]
        other += 1
      }
      if let last = joined.ranges.last {
        if next.lowerBound <= last.upperBound { return nil }
        if next.lowerBound == last.upperBound + 1 {
          joined.ranges[joined.ranges.count - 1] = last.lowerBound...next.upperBound
          continue
        }
      }
      joined.ranges.append(next)
    }
    return joined
  }

  private static func sorted(_ keys: [Int64]) -> [Int64] {
    for place in keys.indices.dropFirst() where keys[place - 1] > keys[place] {
      return keys.sorted()
    }
    return keys
  }

  /// So many keys at a time that a list of them is a parameter of a sensible size.
  var portions: [KeyRange] {
    var portions: [KeyRange] = []
    var singles: [Int64] = []
    func list() {
      if !singles.isEmpty { portions.append(.list(singles)) }
      singles = []
    }
    for range in ranges {
      if range.upperBound &- range.lowerBound >= 3 {
        portions.append(.range(range))
      } else {
        singles += range
        if singles.count >= 20_000 { list() }
      }
    }
    list()
    return portions
  }
}

/// Some keys, as a statement takes them.
enum KeyRange {
  case range(ClosedRange<Int64>)
  case list([Int64])

  /// The condition on a column: of the first parameter, or the first and the second.
  func condition(on column: String) -> String {
    switch self {
    case .range: return "\(column) BETWEEN ?1 AND ?2"
    case .list: return "\(column) IN (SELECT value FROM json_each(?1))"
    }
  }

  func bind(to statement: SQLiteStatement) {
    switch self {
    case .range(let keys):
      statement.bind(keys.lowerBound, at: 1)
      statement.bind(keys.upperBound, at: 2)
    case .list(let keys): statement.bind(KeyList.json(keys), at: 1)
    }
  }
}
