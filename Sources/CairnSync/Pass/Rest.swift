/// Says at a look whether work has come to rest, once each time, or has gone on for ``longWork`` looks in a row.
struct Rest: Hashable, Sendable {
  private var seen = 0
  private var told = 0
  private var isLooking = false
  /// How many looks in a row have found work.
  private var busy = 0

  /// - Returns: False while another look is under way: a file that hangs holds up its own alone.
  mutating func beginLook() -> Bool {
    defer { isLooking = true }
    return !isLooking
  }

  mutating func endLook() { isLooking = false }

  enum Finding: Hashable, Sendable {
    /// Something is being done, or nothing since this was told.
    case nothingNew
    /// Nothing has been done since the look before.
    case rest
    /// Something was done before each of many looks.
    case longWork
  }

  /// So many looks with work make long work: five minutes of them, as often as the daemon looks.
  static let longWork = 60

  /// - Parameter work: How much has been done so far.
  mutating func finding(after work: Int) -> Finding {
    defer { seen = work }
    if work == seen {
      busy = 0
      guard work != told else { return .nothingNew }
      told = work
      return .rest
    }
    busy += 1
    guard busy == Self.longWork else { return .nothingNew }
    busy = 0
    return .longWork
  }
}
