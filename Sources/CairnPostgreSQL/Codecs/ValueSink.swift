/// What takes values one after another: the parameters of a statement, the rows of a COPY, the elements of an array.
protocol ValueSink {
  /// Where the bytes of the value that was begun go.
  var writer: BinaryWriter { get set }
  mutating func begin(_ type: PostgreSQLType)
  mutating func end()
  mutating func appendNull(_ type: PostgreSQLType)
}

extension ValueSink {
  package mutating func append(_ number: Int64?) {
    guard let number else { return appendNull(.bigint) }
    begin(.bigint)
    writer.append(number)
    end()
  }
  package mutating func append(_ text: String?) {
    guard let text else { return appendNull(.text) }
    begin(.text)
    writer.append(text)
    end()
  }
  package mutating func append(_ flag: Bool?) {
    guard let flag else { return appendNull(.boolean) }
    begin(.boolean)
    writer.append(flag)
    end()
  }
  package mutating func append(double number: Double?) {
    guard let number else { return appendNull(.double) }
    begin(.double)
    writer.append(number)
    end()
  }
  package mutating func append(data: (some Sequence<UInt8>)?) {
    guard let data else { return appendNull(.bytea) }
    begin(.bytea)
    writer.append(bytes: data)
    end()
  }
}
