/// Which earlier writes a writer had seen: for each store the greatest of its readings.
///
/// A store's own earlier writes count as seen and are not listed. This is what tells a conflict
/// (neither writer had seen the other) from an ordinary overwrite.
public struct SeenWrites: Hashable, Sendable {
  public private(set) var readings: [StoreID: ClockReading]

  public init(_ readings: [StoreID: ClockReading] = [:]) { self.readings = readings }

  /// No writer wrote what a migration filled in: there is nothing to see.
  public func covers(_ stamp: Stamp) -> Bool {
    if stamp == PropertyWrite.filledIn.stamp { return true }
    return readings[stamp.store].map { $0 >= stamp.clock } ?? false
  }

  public mutating func insert(_ stamp: Stamp) {
    readings[stamp.store] = max(readings[stamp.store] ?? stamp.clock, stamp.clock)
  }

  public mutating func formUnion(_ other: SeenWrites) {
    for (store, clock) in other.readings {
      readings[store] = max(readings[store] ?? clock, clock)
    }
  }

  public mutating func remove(_ store: StoreID) { readings[store] = nil }
}

/// One write of one property: its stamp and what its writer had seen of that property.
public struct PropertyWrite: Hashable, Sendable {
  public let stamp: Stamp
  public let seen: SeenWrites
  /// For a nullification that a delete rule made: the last write before it that its writer meant; nil
  /// for a write that its writer meant.
  ///
  /// Only what a writer meant brings a deleted record back.
  public let lastMeant: Stamp?
  public init(stamp: Stamp, seen: SeenWrites = SeenWrites(), lastMeant: Stamp? = nil) {
    self.stamp = stamp
    self.seen = seen
    self.lastMeant = lastMeant
  }

  /// The last write of the property that its writer meant.
  public var meant: Stamp { lastMeant ?? stamp }

  /// A write at `stamp`, or as soon after it as it takes, by a writer who saw this write as the current
  /// one.
  ///
  /// - Parameter byRule: Whether a delete rule made the write.
  public func overwritten(at stamp: Stamp, byRule: Bool = false) -> PropertyWrite {
    let stamp = stamp.after(self.stamp)
    var seen = self.seen
    seen.insert(self.stamp)
    seen.remove(stamp.store)
    return PropertyWrite(stamp: stamp, seen: seen, lastMeant: byRule ? meant : nil)
  }

  /// A write as soon after this one, by a writer who saw not its value but the one that this write replaced.
  func overwrittenUnseen(at stamp: Stamp, byRule: Bool = false) -> PropertyWrite {
    let stamp = stamp.after(self.stamp)
    var seen = self.seen
    seen.remove(stamp.store)
    return PropertyWrite(stamp: stamp, seen: seen, lastMeant: byRule ? meant : nil)
  }

  /// Whether the writer knew of the other write.
  public func hasSeen(_ other: PropertyWrite) -> Bool {
    if stamp == other.stamp { return true }
    if stamp.store == other.stamp.store { return stamp.clock > other.stamp.clock }
    return seen.covers(other.stamp)
  }

  /// Whether both are one write, which a program made.
  func isWritten(with other: PropertyWrite) -> Bool {
    stamp == other.stamp && stamp != PropertyWrite.filledIn.stamp
  }

  /// Whether neither writer knew of the other's write.
  public func isConcurrent(with other: PropertyWrite) -> Bool {
    !hasSeen(other) && !other.hasSeen(self)
  }
}
