/// A hybrid logical clock reading: 48 bits of milliseconds since 1970 and a 16-bit counter.
///
/// It ends in the year 10889: a later time counts as that end and never begins at 1970 again.
public struct ClockReading: Hashable, Comparable, Sendable {
  /// The last time that a reading can have, in milliseconds since 1970.
  static let end: UInt64 = 0xFFFF_FFFF_FFFF
  /// The last time that a machine's clock is believed to show: a day before the end, since what replaces a value
  /// is stamped after it.
  static let lastTime = end - 86_400_000

  public let bits: UInt64
  public init(bits: UInt64) { self.bits = bits }
  public init(milliseconds: UInt64, counter: UInt16 = 0) {
    bits = min(milliseconds, Self.end) << 16 | UInt64(counter)
  }
  public var milliseconds: UInt64 { bits >> 16 }
  public var counter: UInt16 { UInt16(truncatingIfNeeded: bits) }
  public static func < (a: Self, b: Self) -> Bool { a.bits < b.bits }

  func advanced(milliseconds: UInt64) -> ClockReading {
    ClockReading(bits: bits &+ milliseconds << 16)
  }

  /// The reading after this one; of the last of all, itself.
  public var next: ClockReading { ClockReading(bits: bits == .max ? bits : bits + 1) }

  /// The reading of rows that were there before sync was: earlier than every real write, so that
  /// a write of known age is never lost to one of unknown age.
  public static let beforeSync = ClockReading(milliseconds: 1)
}

extension StoreID {
  /// The identity in a store's stamps since its clock went back for the nth time.
  ///
  /// Of one writer, the later write has the greater stamp: that is what tells who has seen which write
  /// (``SeenWrites``). Where a store has to give smaller stamps than before, it writes under another
  /// identity from then on.
  func writer(_ epoch: UInt64) -> StoreID { StoreID(high: high, low: low &+ epoch) }

  /// Whether this is the identity of a store in one of its epochs.
  ///
  /// Stores' UUIDs are random: two that are so near each other are those of one store.
  func isEpoch(of store: StoreID) -> Bool { high == store.high && low &- store.low < 1 << 32 }
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
