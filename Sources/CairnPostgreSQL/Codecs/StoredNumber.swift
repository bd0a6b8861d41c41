import Foundation

/// The binary form of `numeric`: groups of four decimal digits, where the first group stands, sign, and how many digits
/// are shown behind the point.
enum StoredNumber {
  private static let negative: UInt16 = 0x4000
  private static let positive: UInt16 = 0x0000

  /// Writes a decimal, all its digits; the caller keeps NaN out.
  static func append(_ decimal: Decimal, to writer: inout BinaryWriter) {
    var digits = Array("\(decimal.significand)".utf8).map { Int16($0) - 48 }
    var exponent = decimal.exponent
    // Groups begin at the decimal point.
    let surplus = ((exponent % 4) + 4) % 4
    digits += [Int16](repeating: 0, count: surplus)
    exponent -= surplus
    digits = [Int16](repeating: 0, count: (4 - digits.count % 4) % 4) + digits
    var groups = stride(from: 0, to: digits.count, by: 4).map { start in
      digits[start..<start + 4].reduce(Int16(0)) { $0 * 10 + $1 }
    }
    var weight = groups.count - 1 + exponent / 4
    while groups.first == 0 {
      groups.removeFirst()
      weight -= 1
    }
    while groups.last == 0 { groups.removeLast() }
    writer.append(Int16(groups.count))
    writer.append(Int16(groups.isEmpty ? 0 : weight))
    writer.append(decimal.sign == .minus && !groups.isEmpty ? negative : positive)
    writer.append(Int16(max(0, -decimal.exponent)))
    for group in groups { writer.append(group) }
  }

  /// The decimal of a number.
  ///
  /// - Returns: nil for NaN, infinity, and what is too large or small for a decimal; digits beyond the 38 that one
  ///   holds are rounded, as `Decimal` does when it reads text.
  static func decimal(_ bytes: UnsafeRawBufferPointer) -> Decimal? {
    guard bytes.count >= 8 else { return nil }
    func number(_ index: Int) -> Int16 {
      UnsafeRawBufferPointer(rebasing: bytes[(index * 2)..<(index * 2 + 2)]).number(as: Int16.self)
    }
    let (count, weight) = (Int(number(0)), Int(number(1)))
    let sign = UInt16(bitPattern: number(2))
    guard sign == positive || sign == negative, count >= 0, bytes.count >= 8 + count * 2 else {
      return nil
    }
    if count == 0 { return 0 }
    var text = (0..<count).map { index in
      let group = String(number(4 + index))
      return String(repeating: "0", count: max(0, 4 - group.count)) + group
    }.joined()
    var exponent = 4 * (weight - count + 1)
    while text.hasSuffix("0") {
      text.removeLast()
      exponent += 1
    }
    let decimal = Decimal(string: "\(sign == negative ? "-" : "")\(text)e\(exponent)")
    return decimal.flatMap { $0.isNaN ? nil : $0 }
  }
}
