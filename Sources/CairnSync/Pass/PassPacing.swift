/// How long a link gathers commits before its next pass: not at all where they come one by one, longer and
/// longer where programs write without pause.
///
/// Each pass writes to the local store, and after each such commit another program's connection reads
/// anew what it had in memory. Without pacing a program with hundreds of saves a second pays for as many
/// passes.
struct PassPacing: Hashable, Sendable {
  private var pause: UInt64 = 0
  private var lastEnd: UInt64?
  /// The longest pause, in milliseconds; 0 for none.
  let limit: UInt64

  /// A pass that is asked for so soon after the one before, in milliseconds, follows writes without pause.
  private static let soon: UInt64 = 8
  /// After so long, in milliseconds, writes have paused; in between they become fewer.
  private static let late: UInt64 = 40
  private static let first: UInt64 = 5

  init(limit: UInt64) { self.limit = limit }

  mutating func passEnded(at now: UInt64) { lastEnd = now }

  /// The next pass is asked for.
  ///
  /// - Returns: Until when to gather.
  mutating func passWanted(at now: UInt64) -> UInt64 {
    // A clock that goes back says nothing.
    guard let lastEnd, now >= lastEnd, now - lastEnd < Self.late else {
      pause = 0
      return now
    }
    if now - lastEnd <= Self.soon {
      pause = min(limit, max(Self.first, pause * 2))
    } else {
      pause = pause / 2 < Self.first ? 0 : pause / 2
    }
    return now + pause
  }
}
