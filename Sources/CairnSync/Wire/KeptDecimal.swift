import Foundation

// A PostgreSQL store keeps all digits of a decimal, a SQLite store those of a double, and no write brings more of them
// into it (Decisions/0027-PostgreSQLTypes.md): such a value is the same in both.

extension WireValue {
  /// Whether a store that keeps decimals as doubles shows both as the same.
  func isKeptSame(as other: WireValue) -> Bool {
    if isSame(as: other) { return true }
    if case (.decimal(let a), .decimal(let b)) = (self, other) {
      return a.keptBySQLite == b.keptBySQLite
    }
    return false
  }

  static func areKeptSame(_ mine: WireValue?, _ theirs: WireValue?) -> Bool {
    guard let mine, let theirs else { return mine == nil && theirs == nil }
    return mine.isKeptSame(as: theirs)
  }

  /// Whether of two values of one write this one is taken: that of the greater bytes, and of two that are kept as the same
  /// the one with digits that not every store keeps.
  ///
  /// A total order, as joins need it: by what every store keeps, by having more than that, by all bytes.
  func outranks(_ other: WireValue) -> Bool {
    guard case (.decimal(let mine), .decimal(let theirs)) = (self, other) else {
      return other.canonicalBytes.lexicographicallyPrecedes(canonicalBytes)
    }
    let (kept, otherKept) = (mine.keptBySQLite, theirs.keptBySQLite)
    if kept != otherKept {
      return WireValue.decimal(otherKept).canonicalBytes
        .lexicographicallyPrecedes(WireValue.decimal(kept).canonicalBytes)
    }
    let (isMore, isOtherMore) = (mine != kept, theirs != otherKept)
    if isMore != isOtherMore { return isMore }
    return other.canonicalBytes.lexicographicallyPrecedes(canonicalBytes)
  }
}

extension Decimal {
  /// What a SQLite store keeps of the number: an integer of 64 bits as it is, all else as a double.
  var keptBySQLite: Decimal {
    if Decimal(NSDecimalNumber(decimal: self).int64Value) == self { return self }
    return Double("\(self)").flatMap { Decimal(shortest: $0) } ?? self
  }
}
