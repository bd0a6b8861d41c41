/// The clock of one store: follows the time of its transactions and everything it has received,
/// and never goes backwards.
public struct HybridLogicalClock: Hashable, Sendable {
  /// The greatest reading handed out or received.
  public private(set) var last: ClockReading

  public init(last: ClockReading = ClockReading(bits: 0)) { self.last = last }

  /// The reading for a write made at the given time, greater than all before it.
  ///
  /// - Parameters:
  ///   - milliseconds: When the writer says it wrote.
  ///   - limit: The latest time to believe, normally now plus the allowed skew; one process with a
  ///     wild clock must not drag the store's clock into the future.
  public mutating func tick(milliseconds: UInt64, limit: UInt64) -> ClockReading {
    let physical = ClockReading(milliseconds: min(milliseconds, limit))
    last = max(physical, ClockReading(bits: last.bits &+ 1))
    return last
  }

  /// Takes note of a reading made elsewhere, so that later writes here are greater.
  public mutating func receive(_ reading: ClockReading) {
    last = max(last, reading)
  }

  /// Whether a reading from elsewhere is further ahead than allowed.
  public static func isTooFarAhead(
    _ reading: ClockReading, now: UInt64, allowedSkew: UInt64
  ) -> Bool {
    reading.milliseconds > now &+ allowedSkew
  }
}
