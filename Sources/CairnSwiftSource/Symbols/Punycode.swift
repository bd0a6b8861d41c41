/// Names with letters beyond ASCII, as symbols spell them.
///
/// Source: RFC 3492, with `_` as delimiter and the digits `a…z`, `A…J`.
enum Punycode {
  static func encode(_ name: String) -> String {
    let input = name.unicodeScalars.map { Int($0.value) }
    var output = ""
    for scalar in name.unicodeScalars where scalar.isASCII { output.unicodeScalars.append(scalar) }
    let basic = output.unicodeScalars.count
    var handled = basic
    if basic > 0 { output += "_" }
    var code = 128
    var delta = 0
    var bias = 72
    while handled < input.count {
      guard let next = input.filter({ $0 >= code }).min() else { return output }
      delta += (next - code) * (handled + 1)
      code = next
      for value in input {
        if value < code { delta += 1 }
        guard value == code else { continue }
        var rest = delta
        var step = 36
        while true {
          let threshold = step <= bias ? 1 : min(step - bias, 26)
          if rest < threshold { break }
          output += digit(threshold + (rest - threshold) % (36 - threshold))
          rest = (rest - threshold) / (36 - threshold)
          step += 36
        }
        output += digit(rest)
        bias = adapted(delta, handled + 1, isFirst: handled == basic)
        delta = 0
        handled += 1
      }
      delta += 1
      code += 1
    }
    return output
  }

  private static func digit(_ value: Int) -> String {
    let letter =
      value < 26 ? UInt8(ascii: "a") + UInt8(value) : UInt8(ascii: "A") + UInt8(value - 26)
    return String(UnicodeScalar(letter))
  }

  private static func adapted(_ delta: Int, _ count: Int, isFirst: Bool) -> Int {
    var delta = isFirst ? delta / 700 : delta / 2
    delta += delta / count
    var result = 0
    while delta > 455 {
      delta /= 35
      result += 36
    }
    return result + 36 * delta / (delta + 38)
  }
}
