// Guesses which name a mistyped one was meant to be.

/// Finds the known word that is closest to a mistyped one.
public enum NearestName {
  /// The other word with the fewest edits away, if that is close enough to be a guess worth showing.
  public static func find(_ word: String, among known: [String]) -> String? {
    let best = known.filter { $0 != word }.map {
      ($0, distance(word.lowercased(), $0.lowercased()))
    }
    .min { ($0.1, $0.0) < ($1.1, $1.0) }
    guard let best, best.1 <= max(2, word.count / 2), best.1 < best.0.count else { return nil }
    return best.0
  }

  /// Insertions, deletions, replacements and swaps of neighbours from one word to the other.
  static func distance(_ left: String, _ right: String) -> Int {
    let left = Array(left)
    let right = Array(right)
    guard !left.isEmpty, !right.isEmpty else { return max(left.count, right.count) }
    var beforePrevious: [Int] = []
    var previous = Array(0...right.count)
    for row in 1...left.count {
      var current = [row]
      for column in 1...right.count {
        let isSame = left[row - 1] == right[column - 1]
        var cost = min(
          previous[column] + 1, current[column - 1] + 1, previous[column - 1] + (isSame ? 0 : 1))
        if row > 1, column > 1, left[row - 1] == right[column - 2],
          left[row - 2] == right[column - 1]
        {
          cost = min(cost, beforePrevious[column - 2] + 1)
        }
        current.append(cost)
      }
      beforePrevious = previous
      previous = current
    }
    return previous[right.count]
  }
}
