/// Looks now and then at what is at rest, and tells once when nothing has been done for a while.
struct Rest: Hashable, Sendable {
  private var seen = 0
  private var told = 0
  private var isLooking = false

  /// - Returns: False while another look is under way: a file that hangs holds up its own alone.
  mutating func beginLook() -> Bool {
    defer { isLooking = true }
    return !isLooking
  }

  mutating func endLook() { isLooking = false }

  /// - Parameter work: How much has been done so far.
  /// - Returns: True the first time that this is as much as the time before.
  mutating func isOver(after work: Int) -> Bool {
    defer { seen = work }
    guard work == seen, work != told else { return false }
    told = work
    return true
  }
}
