// Numbers of few digits without a detour through text: most that rows hold.

/// Reads numbers whose digits and power of ten are exact as they are.
enum JSONNumber {
  /// The value of a number in JSON's grammar; nil when reading it takes more care, or it has an
  /// exponent.
  static func short(_ bytes: ByteView, isWhole: Bool) -> JSONValue? {
    var digits = bytes[...]
    let isNegative = digits.first == UInt8(ascii: "-")
    if isNegative { digits = digits.dropFirst() }
    // Below 2^53, so that a double holds it, with a power of ten of 10^15 at most.
    guard digits.count <= 16 else { return nil }
    var value: Int64 = 0
    var scale: Double?
    for byte in digits {
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"):
        value = value * 10 + Int64(byte - UInt8(ascii: "0"))
        scale = scale.map { $0 * 10 }
      case UInt8(ascii: "."): scale = 1
      default: return nil
      }
    }
    if isWhole {
      // Minus zero is a number of its own.
      if isNegative, value == 0 { return nil }
      return .integer(isNegative ? -value : value)
    }
    guard let scale, value < 1 << 53 else { return nil }
    // Both are exact, so that dividing rounds once, as reading the text does.
    let number = Double(value) / scale
    return .number(isNegative ? -number : number)
  }
}
