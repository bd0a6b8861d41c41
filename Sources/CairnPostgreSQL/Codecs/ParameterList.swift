/// The values of a statement, in the server's binary form.
package struct ParameterList: Sendable {
  /// The numbers of the types, of which the server does not have to guess.
  private(set) var types: [UInt32] = []
  private var writer = BinaryWriter()
  /// Nil for NULL.
  private var ranges: [Range<Int>?] = []

  // A value of no bytes needs an address too, or it would be NULL.
  package init() { writer.append(UInt8(0)) }

  var count: Int32 { Int32(clamping: types.count) }

  /// Adds a value that the closure writes.
  mutating func append(_ type: PostgreSQLType, _ write: (inout BinaryWriter) -> Void) {
    let start = writer.bytes.count
    write(&writer)
    types.append(type.number)
    ranges.append(start..<writer.bytes.count)
  }

  package mutating func append(null type: PostgreSQLType) {
    types.append(type.number)
    ranges.append(nil)
  }

  package mutating func append(_ number: Int64) { append(.bigint) { $0.append(number) } }
  package mutating func append(_ text: String) { append(.text) { $0.append(utf8: text) } }
  package mutating func append(_ flag: Bool) { append(.boolean) { $0.append(flag) } }
  package mutating func append(transactionID: Int64) {
    append(.transactionID) { $0.append(transactionID) }
  }
  package mutating func append(data: some Sequence<UInt8>) {
    append(.bytea) { $0.append(bytes: data) }
  }

  /// The values as libpq takes them: pointers, lengths, and 1 for the binary form.
  func withPointers<Result>(
    _ body: (
      _ values: [UnsafePointer<CChar>?], _ lengths: [Int32], _ formats: [Int32]
    ) throws -> Result
  ) rethrows -> Result {
    try writer.bytes.withUnsafeBytes { buffer in
      let values = ranges.map { range in
        range.flatMap { range in
          buffer.baseAddress.map { ($0 + range.lowerBound).assumingMemoryBound(to: CChar.self) }
        }
      }
      return try body(
        values, ranges.map { Int32(clamping: $0?.count ?? 0) },
        [Int32](repeating: 1, count: ranges.count))
    }
  }
}
