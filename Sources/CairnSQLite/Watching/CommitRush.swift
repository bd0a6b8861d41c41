/// How long a watch rests after a commit, as a value: not at all where commits come one by one, longer and longer
/// where programs commit without pause.
///
/// The kernel tells of each page that is written, at the expense of the program that writes it, and wakes the
/// process that listens. Of a hundred commits a second it is enough to hear five times.
struct CommitRush: Hashable {
  /// Commits of others in a row, each soon after the watch had begun to listen again.
  private var count = 0
  /// When it began to listen; in nanoseconds of a clock that only goes on, as all times here.
  private var listensSince: UInt64?

  /// A commit that comes so soon after the one before, or after a rest, follows it without pause.
  private static let soon: UInt64 = 12_000_000
  private static let first: UInt64 = 5_000_000
  private static let longest: UInt64 = 200_000_000

  /// A commit of another program was noticed.
  ///
  /// - Returns: How long to rest.
  mutating func noticed(at now: UInt64) -> UInt64 {
    if let listensSince, now < listensSince + Self.soon { count += 1 } else { count = 0 }
    let rest = count == 0 ? 0 : min(Self.longest, Self.first << UInt64(min(count - 1, 8)))
    listensSince = now + rest
    return rest
  }
}
