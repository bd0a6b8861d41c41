// Reads the text of a date byte by byte: imports read one or more a row.

/// The numbers in a text such as `2026-03-14T15:09:26.535+01:00`.
struct DateParts {
  let year: Int64
  /// 1 to 12.
  let month: Int64
  /// 1 to 31, whatever the month.
  let day: Int64
  let secondOfDay: Int64
  /// The part of a second that is written after it.
  let fraction: Double
  /// How many seconds the time's zone is ahead of UTC.
  let offset: Int64

  /// Nil when the whole text is not such a date: four digits of a year, or a sign and six to eleven; a fraction
  /// of any length or none; then Z or an offset.
  init?(scanning bytes: ByteView) {
    var scanner = DigitScanner(bytes: bytes)
    let yearSign = scanner.sign()
    guard let year = scanner.number(digits: yearSign == nil ? 4...4 : 6...11), scanner.skip("-"),
      let month = scanner.number(digits: 2), (1...12).contains(month), scanner.skip("-"),
      let day = scanner.number(digits: 2), (1...31).contains(day),
      scanner.skip("T") || scanner.skip("t"),
      let hour = scanner.number(digits: 2), hour < 24, scanner.skip(":"),
      let minute = scanner.number(digits: 2), minute < 60, scanner.skip(":"),
      let second = scanner.number(digits: 2), second <= 60
    else { return nil }
    self.year = (yearSign ?? 1) * year
    self.month = month
    self.day = day
    secondOfDay = hour * 3600 + minute * 60 + second
    if scanner.skip(".") {
      guard let fraction = scanner.fraction() else { return nil }
      self.fraction = fraction
    } else {
      fraction = 0
    }
    if let sign = scanner.sign() {
      guard let hours = scanner.number(digits: 2), hours < 24, scanner.skip(":"),
        let minutes = scanner.number(digits: 2), minutes < 60
      else { return nil }
      offset = sign * (hours * 3600 + minutes * 60)
    } else {
      guard scanner.skip("Z") || scanner.skip("z") else { return nil }
      offset = 0
    }
    guard scanner.isAtEnd else { return nil }
  }
}

/// Reads ASCII digits.
private struct DigitScanner {
  let bytes: ByteView
  private var position = 0

  init(bytes: ByteView) { self.bytes = bytes }

  var isAtEnd: Bool { position == bytes.count }

  private var current: UInt8? { isAtEnd ? nil : bytes[position] }

  private var digit: Int64? {
    guard let byte = current, (0x30...0x39).contains(byte) else { return nil }
    return Int64(byte - 0x30)
  }

  /// Passes over the character, if it is next.
  mutating func skip(_ character: Unicode.Scalar) -> Bool {
    guard let byte = current, UInt32(byte) == character.value else { return false }
    position += 1
    return true
  }

  /// 1 or -1 for a sign, nil when none is next.
  mutating func sign() -> Int64? {
    if skip("+") { return 1 }
    return skip("-") ? -1 : nil
  }

  /// Exactly so many digits.
  mutating func number(digits count: Int) -> Int64? { number(digits: count...count) }

  /// At least and at most so many digits.
  mutating func number(digits count: ClosedRange<Int>) -> Int64? {
    let start = position
    var value: Int64 = 0
    while position - start < count.upperBound, let digit {
      value = value * 10 + digit
      position += 1
    }
    return position - start < count.lowerBound ? nil : value
  }

  /// The digits after the point as a part of one; nil when there is none.
  mutating func fraction() -> Double? {
    let start = position
    var value: Int64 = 0
    var scale = 1.0
    while let digit {
      position += 1
      guard position - start <= 15 else { continue }
      value = value * 10 + digit
      scale *= 10
    }
    guard position > start else { return nil }
    // So many digits and their power of ten are exact, so that dividing rounds once.
    if position - start <= 15 { return Double(value) / scale }
    return Double("0." + String(decoding: bytes.part(start..<position), as: UTF8.self))
  }
}
