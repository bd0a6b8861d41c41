/// Many values of one type on their way into one parameter.
struct ArrayValue: ValueSink, Sendable {
  let type: PostgreSQLType
  var writer = BinaryWriter()
  private var count: Int32 = 0
  private var hasNull = false
  private var start = 0

  init(of type: PostgreSQLType) { self.type = type }

  var byteCount: Int { writer.bytes.count }

  mutating func begin(_ type: PostgreSQLType) {
    // The form of a value names the type for the array and for its values alike; no value decides it.
    precondition(type == self.type, "an array has values of one type")
    start = writer.bytes.count
    writer.append(Int32(0))
  }

  mutating func end() {
    writer.set(Int32(clamping: writer.bytes.count - start - 4), at: start)
    count += 1
  }

  mutating func appendNull(_ type: PostgreSQLType) {
    // As above.
    precondition(type == self.type, "an array has values of one type")
    writer.append(Int32(-1))
    hasNull = true
    count += 1
  }

  /// Begins anew, in the same memory.
  mutating func removeAll() {
    writer.removeAll()
    count = 0
    hasNull = false
  }

  /// Writes the array: dimensions, whether it has NULLs, the type, the length, the first index, the values.
  func append(to target: inout BinaryWriter) {
    target.append(Int32(count == 0 ? 0 : 1))
    target.append(Int32(hasNull ? 1 : 0))
    target.append(type.number)
    if count == 0 { return }
    target.append(count)
    target.append(Int32(1))
    target.append(bytes: writer.bytes)
  }
}
