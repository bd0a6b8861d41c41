// Turns JSON values into Codable values, and says which member does not fit.

/// Decodes Codable values from a ``JSONValue``.
public enum JSONValueDecoder {
  /// Reads `value` as a `Value`.
  ///
  /// - Throws: `DecodingError`; ``memberName(of:)`` tells which member was wrong.
  public static func decode<Value: Decodable>(_ type: Value.Type, from value: JSONValue) throws
    -> Value
  {
    try decodeAny(type, from: value, path: [])
  }

  /// The dotted name of the member that a decoding error is about.
  public static func memberName(of error: DecodingError) -> String {
    func name(_ path: [any CodingKey]) -> String {
      path.map { $0.intValue.map { "[\($0)]" } ?? $0.stringValue }.joined(separator: ".")
        .replacing(".[", with: "[")
    }
    switch error {
    case .typeMismatch(_, let context), .valueNotFound(_, let context),
      .dataCorrupted(let context):
      return name(context.codingPath)
    case .keyNotFound(let key, let context): return name(context.codingPath + [key])
    @unknown default: return ""
    }
  }

  /// What a value is without decoding: itself, or the rows of a message.
  private static func ready<Value>(_ value: JSONValue, as type: Value.Type) -> Value? {
    if type == JSONValue.self { return value as? Value }
    if type == [[String: JSONValue]].self, case .array(let elements) = value {
      let rows = elements.compactMap(\.objectValue)
      return rows.count == elements.count ? rows as? Value : nil
    }
    return nil
  }

  fileprivate static func decodeAny<Value: Decodable>(
    _ type: Value.Type, from value: JSONValue, path: [any CodingKey]
  ) throws -> Value {
    if let same = ready(value, as: type) { return same }
    return try Value(from: ValueDecoder(value: value, codingPath: path))
  }
}

private struct ValueDecoder: Decoder {
  let value: JSONValue
  let codingPath: [any CodingKey]
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    guard case .object(let members) = value else { throw mismatch("an object", value, codingPath) }
    return KeyedDecodingContainer(KeyedReader(members: members, codingPath: codingPath))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    guard case .array(let elements) = value else { throw mismatch("an array", value, codingPath) }
    return UnkeyedReader(elements: elements, codingPath: codingPath)
  }

  func singleValueContainer() -> any SingleValueDecodingContainer {
    SingleReader(value: value, codingPath: codingPath)
  }
}

private func mismatch(_ expected: String, _ value: JSONValue, _ path: [any CodingKey])
  -> DecodingError
{
  .typeMismatch(
    JSONValue.self,
    .init(codingPath: path, debugDescription: "\(expected) is wanted, not \(value.kindName)"))
}

private struct IndexKey: CodingKey {
  let intValue: Int?
  var stringValue: String { intValue.map(String.init) ?? "" }
  init(index: Int) { intValue = index }
  init?(intValue: Int) { self.intValue = intValue }
  init?(stringValue: String) { nil }
}

private struct KeyedReader<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let members: [String: JSONValue]
  let codingPath: [any CodingKey]
  var allKeys: [Key] { members.keys.compactMap { Key(stringValue: $0) } }

  func contains(_ key: Key) -> Bool { members[key.stringValue] != nil }

  func decodeNil(forKey key: Key) throws -> Bool { try member(key) == .null }

  func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
    try JSONValueDecoder.decodeAny(type, from: try member(key), path: codingPath + [key])
  }

  func nestedContainer<NestedKey: CodingKey>(keyedBy type: NestedKey.Type, forKey key: Key) throws
    -> KeyedDecodingContainer<NestedKey>
  {
    try ValueDecoder(value: try member(key), codingPath: codingPath + [key])
      .container(keyedBy: type)
  }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    try ValueDecoder(value: try member(key), codingPath: codingPath + [key]).unkeyedContainer()
  }

  func superDecoder() throws -> any Decoder {
    ValueDecoder(value: .object(members), codingPath: codingPath)
  }

  func superDecoder(forKey key: Key) throws -> any Decoder {
    ValueDecoder(value: try member(key), codingPath: codingPath + [key])
  }

  private func member(_ key: Key) throws -> JSONValue {
    guard let value = members[key.stringValue] else {
      throw DecodingError.keyNotFound(
        key, .init(codingPath: codingPath, debugDescription: "it is missing"))
    }
    return value
  }
}

private struct UnkeyedReader: UnkeyedDecodingContainer {
  let elements: [JSONValue]
  let codingPath: [any CodingKey]
  var currentIndex = 0
  var count: Int? { elements.count }
  var isAtEnd: Bool { currentIndex >= elements.count }

  init(elements: [JSONValue], codingPath: [any CodingKey]) {
    self.elements = elements
    self.codingPath = codingPath
  }

  mutating func decodeNil() throws -> Bool {
    guard !isAtEnd, elements[currentIndex] == .null else { return false }
    currentIndex += 1
    return true
  }

  mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    let path = codingPath + [IndexKey(index: currentIndex)]
    let value = try JSONValueDecoder.decodeAny(type, from: try element(), path: path)
    currentIndex += 1
    return value
  }

  mutating func nestedContainer<NestedKey: CodingKey>(keyedBy type: NestedKey.Type) throws
    -> KeyedDecodingContainer<NestedKey>
  {
    defer { currentIndex += 1 }
    return try ValueDecoder(value: try element(), codingPath: codingPath).container(keyedBy: type)
  }

  mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
    defer { currentIndex += 1 }
    return try ValueDecoder(value: try element(), codingPath: codingPath).unkeyedContainer()
  }

  mutating func superDecoder() throws -> any Decoder {
    defer { currentIndex += 1 }
    return ValueDecoder(value: try element(), codingPath: codingPath)
  }

  private func element() throws -> JSONValue {
    guard !isAtEnd else {
      throw DecodingError.valueNotFound(
        JSONValue.self, .init(codingPath: codingPath, debugDescription: "the array is too short"))
    }
    return elements[currentIndex]
  }
}

private struct SingleReader: SingleValueDecodingContainer {
  let value: JSONValue
  let codingPath: [any CodingKey]

  func decodeNil() -> Bool { value == .null }

  func decode(_ type: Bool.Type) throws -> Bool {
    guard let bool = value.boolValue else { throw mismatch("a boolean", value, codingPath) }
    return bool
  }

  func decode(_ type: String.Type) throws -> String {
    guard let text = value.stringValue else { throw mismatch("a string", value, codingPath) }
    return text
  }

  func decode(_ type: Double.Type) throws -> Double {
    guard let number = value.exactDouble else { throw mismatch("a number", value, codingPath) }
    return number
  }

  func decode(_ type: Float.Type) throws -> Float { Float(try decode(Double.self)) }
  func decode(_ type: Int.Type) throws -> Int { try whole(type) }
  func decode(_ type: Int8.Type) throws -> Int8 { try whole(type) }
  func decode(_ type: Int16.Type) throws -> Int16 { try whole(type) }
  func decode(_ type: Int32.Type) throws -> Int32 { try whole(type) }
  func decode(_ type: Int64.Type) throws -> Int64 { try whole(type) }
  func decode(_ type: UInt.Type) throws -> UInt { try whole(type) }
  func decode(_ type: UInt8.Type) throws -> UInt8 { try whole(type) }
  func decode(_ type: UInt16.Type) throws -> UInt16 { try whole(type) }
  func decode(_ type: UInt32.Type) throws -> UInt32 { try whole(type) }
  func decode(_ type: UInt64.Type) throws -> UInt64 { try whole(type) }

  func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    try JSONValueDecoder.decodeAny(type, from: value, path: codingPath)
  }

  private func whole<Number: FixedWidthInteger>(_ type: Number.Type) throws -> Number {
    if case .string(let text) = value, let number = Number(text) { return number }
    guard let wide = value.exactInteger, let number = Number(exactly: wide) else {
      throw mismatch("a whole number in range", value, codingPath)
    }
    return number
  }
}

extension JSONValue: Codable {
  /// Decodes any JSON from any decoder.
  ///
  /// ``JSONValueDecoder`` takes a shorter way.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if container.decodeNil() {
      self = .null
    } else if let value = try? container.decode(Bool.self) {
      self = .bool(value)
    } else if let value = try? container.decode(Int64.self) {
      self = .integer(value)
    } else if let value = try? container.decode(Double.self) {
      self = .number(value)
    } else if let value = try? container.decode(String.self) {
      self = .string(value)
    } else if let value = try? container.decode([JSONValue].self) {
      self = .array(value)
    } else {
      self = .object(try container.decode([String: JSONValue].self))
    }
  }

  /// Encodes into any encoder.
  ///
  /// ``JSONValueEncoder`` takes a shorter way.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .null: try container.encodeNil()
    case .bool(let value): try container.encode(value)
    case .integer(let value): try container.encode(value)
    case .number(let value): try container.encode(value)
    case .string(let value): try container.encode(value)
    case .array(let value): try container.encode(value)
    case .object(let value): try container.encode(value)
    }
  }
}
