/// Bytes as the server sends and takes them: big-endian, texts without an end mark.
struct BinaryWriter: Sendable {
  private(set) var bytes: [UInt8] = []

  mutating func append(_ number: some FixedWidthInteger) {
    withUnsafeBytes(of: number.bigEndian) { bytes.append(contentsOf: $0) }
  }
  mutating func append(_ flag: Bool) { bytes.append(flag ? 1 : 0) }
  mutating func append(_ number: Double) { append(number.bitPattern) }
  mutating func append(_ number: Float) { append(number.bitPattern) }
  mutating func append(bytes more: some Sequence<UInt8>) { bytes.append(contentsOf: more) }

  /// Adds a text; see ``StoredText``.
  mutating func append(_ text: String) {
    let isPlain = text.utf8.withContiguousStorageIfAvailable { StoredText.isPlain($0) }
    if isPlain ?? StoredText.isPlain(text.utf8) {
      bytes.append(contentsOf: text.utf8)
    } else {
      StoredText.append(text.utf8, to: &bytes)
    }
  }

  /// Overwrites four bytes that were left for a length.
  mutating func set(_ length: Int32, at position: Int) {
    withUnsafeBytes(of: length.bigEndian) { source in
      for index in 0..<4 { bytes[position + index] = source[index] }
    }
  }

  mutating func removeAll() { bytes.removeAll(keepingCapacity: true) }
}
