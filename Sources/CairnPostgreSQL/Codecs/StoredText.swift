/// How texts are kept, since the server's `text` has every character but U+0000.
///
/// U+0000 becomes U+0001 U+0001, and U+0001, which hardly any text has, U+0001 U+0002. All other texts are kept as they
/// are. Two texts are equal, and ordered by their bytes, as what is kept of them is.
enum StoredText {
  private static let mark: UInt8 = 1
  private static let zero: UInt8 = 1
  private static let one: UInt8 = 2

  /// Whether the text is kept as it is.
  static func isPlain(_ utf8: some Sequence<UInt8>) -> Bool { !utf8.contains { $0 <= mark } }

  static func append(_ utf8: some Sequence<UInt8>, to bytes: inout [UInt8]) {
    for byte in utf8 {
      if byte <= mark { bytes.append(mark) }
      bytes.append(byte == 0 ? zero : byte == mark ? one : byte)
    }
  }

  /// The text of what is kept.
  ///
  /// Other programs may write U+0001 in front of anything; it is that character then.
  static func text(_ bytes: UnsafeRawBufferPointer) -> String {
    guard bytes.contains(mark) else { return String(decoding: bytes, as: UTF8.self) }
    var plain: [UInt8] = []
    plain.reserveCapacity(bytes.count)
    var index = 0
    while index < bytes.count {
      let byte = bytes[index]
      let next = index + 1 < bytes.count ? bytes[index + 1] : nil
      if byte == mark, next == zero || next == one {
        plain.append(next == zero ? 0 : mark)
        index += 2
      } else {
        plain.append(byte)
        index += 1
      }
    }
    return String(decoding: plain, as: UTF8.self)
  }
}
