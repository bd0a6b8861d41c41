/// A hybrid logical clock reading: 48 bits of milliseconds since 1970 and a 16-bit counter.
public struct ClockReading: Hashable, Comparable, Sendable {
  public let bits: UInt64
  public init(bits: UInt64) { self.bits = bits }
  public init(milliseconds: UInt64, counter: UInt16 = 0) {
    bits = (milliseconds & 0xFFFF_FFFF_FFFF) << 16 | UInt64(counter)
  }
  public var milliseconds: UInt64 { bits >> 16 }
  public var counter: UInt16 { UInt16(truncatingIfNeeded: bits) }
  public static func < (a: Self, b: Self) -> Bool { a.bits < b.bits }

  func advanced(milliseconds: UInt64) -> ClockReading {
    ClockReading(bits: bits &+ milliseconds << 16)
  }

  /// The reading after this one.
  public var next: ClockReading { ClockReading(bits: bits &+ 1) }

  /// The reading of rows that were there before sync was: earlier than every real write, so that
  /// a write of known age is never lost to one of unknown age.
  public static let beforeSync = ClockReading(milliseconds: 1)
}

/// When and by which store a value was written.
///
/// Stamps are totally ordered: clock, then store.
public struct Stamp: Hashable, Comparable, Sendable, CustomStringConvertible {
  public let clock: ClockReading
  public let store: StoreID
  public init(clock: ClockReading, store: StoreID) {
    self.clock = clock
    self.store = store
  }
  public static func < (a: Self, b: Self) -> Bool {
    a.clock == b.clock ? a.store < b.store : a.clock < b.clock
  }
  /// The stamp of a write whose writer had seen another: itself, or the first of its store that is later.
  ///
  /// The other is later than the writer's clock where one of the two clocks is or was wrong.
  public func after(_ other: Stamp) -> Stamp {
    self >= other ? self : Stamp(clock: other.clock.next, store: store)
  }

  public var description: String { "\(clock.milliseconds).\(clock.counter)@\(store)" }
}
