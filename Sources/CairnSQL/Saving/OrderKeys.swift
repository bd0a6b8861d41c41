/// The positions (`Z_FOK_…`) of an ordered relationship's members.
///
/// The first member gets 2048, each later one 1024 more; a member put between two gets their
/// midpoint. Everything is renumbered when a gap is used up.
package enum OrderKeys {
  package static let first: Int64 = 2048
  package static let step: Int64 = 1024

  /// New positions for members in their new order, given the positions they have now.
  ///
  /// As many members as possible keep their position.
  package static func assign(existing: [Int64?]) -> [Int64] {
    let kept = longestIncreasing(existing)
    var result = [Int64](repeating: 0, count: existing.count)
    var previous: Int64 = 0
    var index = 0
    while index < existing.count {
      if kept.contains(index), let value = existing[index] {
        result[index] = value
        previous = value
        index += 1
        continue
      }
      var end = index
      while end < existing.count, !kept.contains(end) { end += 1 }
      let count = Int64(end - index)
      if end == existing.count {
        let start = previous == 0 ? first - step : previous
        guard start <= Int64.max - step * (count + 1) else { return renumbered(existing.count) }
        for offset in 0..<count { result[index + Int(offset)] = start + step * (offset + 1) }
      } else {
        let next = existing[end] ?? 0
        let gap = (next - previous) / (count + 1)
        guard gap >= 1 else { return renumbered(existing.count) }
        for offset in 0..<count { result[index + Int(offset)] = previous + gap * (offset + 1) }
      }
      previous = result[end - 1]
      index = end
    }
    return result
  }

  private static func renumbered(_ count: Int) -> [Int64] {
    (0..<Int64(count)).map { first + step * $0 }
  }

  /// The indexes of a longest strictly increasing run of positive positions.
  private static func longestIncreasing(_ values: [Int64?]) -> Set<Int> {
    var tails: [Int] = []
    var before = [Int](repeating: -1, count: values.count)
    for (index, value) in values.enumerated() {
      guard let value, value > 0 else { continue }
      var (low, high) = (0, tails.count)
      while low < high {
        let middle = (low + high) / 2
        if (values[tails[middle]] ?? 0) < value { low = middle + 1 } else { high = middle }
      }
      if low > 0 { before[index] = tails[low - 1] }
      if low == tails.count { tails.append(index) } else { tails[low] = index }
    }
    var result: Set<Int> = []
    var next = tails.last ?? -1
    while next >= 0 {
      result.insert(next)
      next = before[next]
    }
    return result
  }
}
