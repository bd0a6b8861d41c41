/// Finds out which records of a set are to blame for a failure that names none, by leaving out one
/// half, then the other, then all; what is left out and was not to blame is tried in parts.
///
/// The set goes through at the third failure at the latest, so one bad record holds up no link; that
/// its neighbours come a moment later than the rest of their transaction is the price.
struct CulpritTrial: Sendable, Hashable {
  private let records: [RecordID]
  /// Empty until something has failed, which is rare.
  private var halves: [Set<RecordID>] = [[], []]
  private var failures = 0

  init(_ records: some Sequence<RecordID>) { self.records = Array(records) }

  /// The records to leave out now.
  var left: Set<RecordID> {
    switch failures {
    case 0: return []
    case 1: return halves[0]
    case 2 where !halves[1].isEmpty: return halves[1]
    default: return halves[0].union(halves[1])
    }
  }

  /// What to try by itself, once the rest went through; a record alone has been found.
  var parts: [Set<RecordID>] {
    let left = left
    if left.count < 2 { return [] }
    if left.count < halves[0].count + halves[1].count { return [left] }
    return halves
  }

  /// Takes note of a failure.
  ///
  /// - Returns: False when nothing is left to leave out.
  mutating func next() -> Bool {
    if failures == 0 {
      let sorted = Set(records).sorted()
      let middle = (sorted.count + 1) / 2
      halves = [Set(sorted[..<middle]), Set(sorted[middle...])]
    }
    if halves[0].isEmpty { return false }
    let before = left
    failures += 1
    return left != before
  }
}
