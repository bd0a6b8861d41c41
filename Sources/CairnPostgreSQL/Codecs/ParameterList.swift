/// The values of a statement, in the server's binary form.
package struct ParameterList: ValueSink, Sendable {
  /// The numbers of the types, of which the server does not have to guess.
  private(set) var types: [UInt32] = []
  var writer = BinaryWriter()
  /// Nil for NULL.
  private(set) var ranges: [Range<Int>?] = []
  private var start = 0

  // A value of no bytes needs an address too, or it would be NULL.
  package init() { writer.append(UInt8(0)) }

  var count: Int32 { Int32(clamping: types.count) }
  var byteCount: Int { writer.bytes.count }

  mutating func begin(_ type: PostgreSQLType) {
    types.append(type.number)
    start = writer.bytes.count
  }

  mutating func end() { ranges.append(start..<writer.bytes.count) }

  package mutating func appendNull(_ type: PostgreSQLType) {
    types.append(type.number)
    ranges.append(nil)
  }

  package mutating func append(transactionID: Int64) {
    begin(.transactionID)
    writer.append(transactionID)
    end()
  }

  /// Adds many values of one type as an array, which `unnest` makes rows of.
  mutating func append(_ array: ArrayValue) {
    types.append(array.type.arrayNumber)
    start = writer.bytes.count
    array.append(to: &writer)
    end()
  }
}
