extension ParameterList {
  /// The values as libpq takes them: pointers, lengths, and 1 for the binary form.
  func withPointers<Result>(
    _ body: (
      _ values: [UnsafePointer<CChar>?], _ lengths: [Int32], _ formats: [Int32]
    ) throws -> Result
  ) rethrows -> Result {
    try writer.bytes.withUnsafeBytes { buffer in
      let values = ranges.map { range in
        range.flatMap { range in
          UnsafeRawBufferPointer(rebasing: buffer[range.lowerBound...]).characters
        }
      }
      return try body(
        values, ranges.map { Int32(clamping: $0?.count ?? 0) },
        [Int32](repeating: 1, count: ranges.count))
    }
  }
}

extension UnsafeRawBufferPointer {
  /// The bytes as libpq takes them: signed, and with their number said beside them.
  var characters: UnsafePointer<CChar>? { baseAddress?.assumingMemoryBound(to: CChar.self) }
}
