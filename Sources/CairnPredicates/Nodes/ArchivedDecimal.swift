import Foundation

/// A decimal as `NSDecimalNumber` archives it: a mantissa of at most eight 16-bit words, the least significant
/// first, and a decimal exponent.
package struct ArchivedDecimal {
  /// Sixteen bytes, whatever the length.
  package let mantissa: Data
  package let exponent: Int
  /// How many words of the mantissa count.
  package let length: Int
  package let isNegative: Bool
  /// `NS.mantissa.bo`: 1 is little-endian, 2 big-endian.
  package let byteOrder: Int

  package init(mantissa: Data, exponent: Int, length: Int, isNegative: Bool, byteOrder: Int) {
    self.mantissa = mantissa
    self.exponent = exponent
    self.length = length
    self.isNegative = isNegative
    self.byteOrder = byteOrder
  }

  package init(_ decimal: Decimal) {
    var words: [UInt16] = []
    var rest = decimal.isNaN ? 0 : abs(decimal.significand)
    while rest > 0, words.count < 8 {
      var quotient = rest / 65536
      var whole = Decimal()
      NSDecimalRound(&whole, &quotient, 0, .down)
      words.append(UInt16(truncating: (rest - whole * 65536) as NSDecimalNumber))
      rest = whole
    }
    var bytes = Data()
    for word in words + Array(repeating: 0, count: 8 - words.count) {
      bytes.append(UInt8(word & 0xFF))
      bytes.append(UInt8(word >> 8))
    }
    self.init(
      mantissa: bytes, exponent: decimal.isNaN ? 0 : decimal.exponent, length: words.count,
      isNegative: decimal.isNaN || decimal.sign == .minus, byteOrder: 1)
  }

  /// The number; nil where the parts are none.
  package var decimal: Decimal? {
    guard mantissa.count <= 16, (-128...127).contains(exponent), (0...8).contains(length) else {
      return nil
    }
    if length == 0, isNegative { return .nan }
    let octets = [UInt8](mantissa)
    var result = Decimal(0)
    for word in (0..<min(length, octets.count / 2)).reversed() {
      let (low, high) = byteOrder == 2 ? (2 * word + 1, 2 * word) : (2 * word, 2 * word + 1)
      result = result * 65536 + Decimal(UInt32(octets[low]) | UInt32(octets[high]) << 8)
    }
    return Decimal(sign: isNegative ? .minus : .plus, exponent: exponent, significand: result)
  }
}
