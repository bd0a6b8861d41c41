import Foundation

extension Decimal {
  /// The shortest decimal that means the double, as SQLite stores read one; nil for infinity, for no number
  /// and for what is beyond all decimals.
  ///
  /// Foundation reads no exponent above 127. A decimal of many digits goes further, so the rest of the
  /// exponent moves into the digits.
  package init?(shortest value: Double) {
    guard value.isFinite else { return nil }
    let text = "\(value)"
    guard let decimal = Decimal(string: text) ?? Self.withLargeExponent(text) else { return nil }
    self = decimal
  }

  private static func withLargeExponent(_ text: String) -> Decimal? {
    let largest = 127
    let parts = text.split(separator: "e")
    guard parts.count == 2, let exponent = Int(parts[1]) else { return nil }
    let number = parts[0].split(separator: ".")
    let fraction = number.count == 2 ? number[1] : ""
    let zeros = exponent - fraction.count - largest
    // A decimal has at most 39 digits.
    guard (1...38).contains(zeros) else { return nil }
    return Decimal(
      string: "\(number[0])\(fraction)\(String(repeating: "0", count: zeros))e\(largest)")
  }
}
