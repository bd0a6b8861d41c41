// How often a local store whose disk fails is opened anew.

/// Lets a store be opened anew at once, and less and less often while that helps for a short time only.
struct ReopeningPace: Hashable, Sendable {
  private static let shortest: UInt64 = 10
  private static let longest: UInt64 = 600
  private static let second: UInt64 = 1_000_000_000

  private var last: UInt64?
  private var pause = shortest

  /// - Parameter now: Nanoseconds of a clock that does not jump.
  /// - Returns: Whether it is to be opened anew now.
  mutating func begins(now: UInt64) -> Bool {
    guard let last else {
      self.last = now
      return true
    }
    let passed = (now - min(now, last)) / Self.second
    guard passed >= pause else { return false }
    pause = passed > Self.longest ? Self.shortest : min(pause * 2, Self.longest)
    self.last = now
    return true
  }
}
