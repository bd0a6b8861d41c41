// Writes JSON: compact, keys in order, the same bytes for the same value.

extension JSONValue {
  /// The UTF-8 form without white space; keys sorted, NUL and other control characters escaped.
  ///
  /// NaN and infinities, which JSON has no form for, are written as ``exact(_:)-(Double)`` does.
  public func bytes() -> [UInt8] {
    var output: [UInt8] = []
    append(to: &output)
    return output
  }

  /// The text of ``bytes()``.
  public var text: String { String(decoding: bytes(), as: UTF8.self) }

  /// Appends the form of ``bytes()`` to `output`.
  public func append(to output: inout [UInt8]) {
    switch self {
    case .null: output.append(contentsOf: "null".utf8)
    case .bool(let value): output.append(contentsOf: (value ? "true" : "false").utf8)
    case .integer(let value): output.append(contentsOf: String(value).utf8)
    case .number(let value): Self.append(number: value, to: &output)
    case .string(let text): Self.append(string: text, to: &output)
    case .array(let elements):
      output.append(UInt8(ascii: "["))
      for (index, element) in elements.enumerated() {
        if index > 0 { output.append(UInt8(ascii: ",")) }
        element.append(to: &output)
      }
      output.append(UInt8(ascii: "]"))
    case .object(let members):
      output.append(UInt8(ascii: "{"))
      var isFirst = true
      for (key, value) in members.sorted(by: { $0.key < $1.key }) {
        if !isFirst { output.append(UInt8(ascii: ",")) }
        isFirst = false
        Self.append(string: key, to: &output)
        output.append(UInt8(ascii: ":"))
        value.append(to: &output)
      }
      output.append(UInt8(ascii: "}"))
    }
  }

  private static func append(number value: Double, to output: inout [UInt8]) {
    guard value.isFinite else { return exact(value).append(to: &output) }
    // A whole number keeps its ".0", so that it is read back as the kind it was.
    output.append(contentsOf: value.description.utf8)
  }

  private static let hexadecimalDigits = Array("0123456789abcdef".utf8)

  private static func append(string text: String, to output: inout [UInt8]) {
    output.append(UInt8(ascii: "\""))
    var text = text
    text.withUTF8 { bytes in
      let isPlain = bytes.allSatisfy {
        $0 >= 0x20 && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") && $0 != 0x7F
      }
      if isPlain { output.append(contentsOf: bytes) } else { appendEscaped(bytes, to: &output) }
    }
    output.append(UInt8(ascii: "\""))
  }

  private static func appendEscaped(
    _ bytes: UnsafeBufferPointer<UInt8>, to output: inout [UInt8]
  ) {
    for byte in bytes {
      switch byte {
      case UInt8(ascii: "\""): output.append(contentsOf: "\\\"".utf8)
      case UInt8(ascii: "\\"): output.append(contentsOf: "\\\\".utf8)
      case 0x0A: output.append(contentsOf: "\\n".utf8)
      case 0x0D: output.append(contentsOf: "\\r".utf8)
      case 0x09: output.append(contentsOf: "\\t".utf8)
      case 0..<0x20, 0x7F:
        output.append(contentsOf: "\\u00".utf8)
        output.append(hexadecimalDigits[Int(byte >> 4)])
        output.append(hexadecimalDigits[Int(byte & 15)])
      default: output.append(byte)
      }
    }
  }
}

extension JSONValue: CustomStringConvertible {
  public var description: String { text }
}
