import Foundation

extension Decimal {
  /// The double nearest to the number, as SQL reads the number's text; NaN of what is none.
  ///
  /// Foundation's `doubleValue` on Linux is a neighbour of it for more than one price in four.
  package var nearestDouble: Double {
    if isNaN { return .nan }
    let exponent = exponent
    // Foundation gives whole numbers of 53 bits exactly, and powers of ten are exact up to the 22nd, so that
    // only one operation rounds.
    if abs(exponent) < Self.exactPowers.count {
      let power = Self.exactPowers[abs(exponent)]
      let digits = NSDecimalNumber(decimal: significand).doubleValue
      if digits < 0x1p53 {
        let size = exponent < 0 ? digits / power : digits * power
        return sign == .minus ? -size : size
      }
    }
    return Double("\(self)") ?? .nan
  }

  private static let exactPowers: [Double] = [
    1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
  ]
}

extension NSNumber {
  /// The number as a double; a decimal as the nearest one.
  package var nearestDouble: Double {
    (self as? NSDecimalNumber)?.decimalValue.nearestDouble ?? doubleValue
  }
}
