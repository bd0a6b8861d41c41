// What passes moved, gathered for one log entry in a while.

/// Sums up passes until the log takes them.
struct PassSummary: Sendable, Hashable {
  /// What the passes of one replica moved.
  struct Sum: Sendable, Hashable {
    var passes = 0
    var pulled = 0
    var pushed = 0
    var conflicts = 0
    /// When the first of them ended, in milliseconds of any clock.
    var since: UInt64
  }

  private var sums: [String: Sum] = [:]

  var isEmpty: Bool { sums.isEmpty }

  /// Adds a pass; one that moved nothing is not counted.
  mutating func add(replica: String, pulled: Int, pushed: Int, conflicts: Int, now: UInt64) {
    guard pulled + pushed + conflicts > 0 else { return }
    var sum = sums[replica] ?? Sum(since: now)
    sum.passes += 1
    sum.pulled += pulled
    sum.pushed += pushed
    sum.conflicts += conflicts
    sums[replica] = sum
  }

  /// Takes out what was gathered, by the replicas' names.
  mutating func take() -> [(replica: String, sum: Sum)] {
    defer { sums = [:] }
    return sums.sorted { $0.key < $1.key }.map { (replica: $0.key, sum: $0.value) }
  }
}
