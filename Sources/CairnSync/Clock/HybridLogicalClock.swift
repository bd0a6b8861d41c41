/// The clock of one store: follows the time of its transactions and everything it has received.
///
/// It never goes backwards but once the machine's clock has fallen behind it by more than the allowed
/// skew: it was wrong then, and writes stamped after it would be held back everywhere for as long.
/// A write that replaces a value stays later than that all the same, see ``Stamp/after(_:)``.
public struct HybridLogicalClock: Hashable, Sendable {
  /// The greatest reading handed out or received.
  public private(set) var last: ClockReading

  public init(last: ClockReading = ClockReading(bits: 0)) { self.last = last }

  /// The reading for a write made at the given time, greater than all before it that are believed.
  ///
  /// - Parameters:
  ///   - milliseconds: When the writer says it wrote.
  ///   - limit: The latest time to believe, normally now plus the allowed skew; one process with a
  ///     wild clock must not drag the store's clock into the future.
  public mutating func tick(milliseconds: UInt64, limit: UInt64) -> ClockReading {
    let physical = ClockReading(milliseconds: min(milliseconds, limit))
    last = isAhead(of: limit) ? physical : max(physical, last.next)
    return last
  }

  /// Takes note of a reading made elsewhere, so that later writes here are greater; of one that is not
  /// believed only what is believed.
  public mutating func receive(_ reading: ClockReading, limit: UInt64) {
    if reading.milliseconds <= limit { last = max(last, reading) }
  }

  /// Goes on from where another process has brought the same store's clock.
  mutating func follow(_ other: HybridLogicalClock) { last = max(last, other.last) }

  /// Whether the clock runs before the latest time to believe.
  public func isAhead(of limit: UInt64) -> Bool { last.milliseconds > limit }
}
