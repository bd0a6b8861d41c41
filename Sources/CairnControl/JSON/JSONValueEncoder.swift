// Turns Codable values into JSON values.

/// Encodes a Codable value as a ``JSONValue``; optional members that are nil are left out.
///
/// For the plain structures of the wire: hand-written nested containers and super encoders, which
/// none of them uses, are written to nowhere.
public enum JSONValueEncoder {
  /// The JSON form of `value`.
  public static func encode(_ value: some Encodable) throws -> JSONValue {
    try encodeAny(value, path: [])
  }

  fileprivate static func encodeAny(_ value: any Encodable, path: [any CodingKey]) throws
    -> JSONValue
  {
    if let already = value as? JSONValue { return already }
    if let rows = value as? [[String: JSONValue]] { return .array(rows.map { .object($0) }) }
    let encoder = ValueEncoder(codingPath: path)
    try value.encode(to: encoder)
    return encoder.slot.value
  }
}

/// Holds what is being built; containers write through it.
private final class Slot {
  var value: JSONValue = .object([:])

  func insert(_ member: JSONValue, forKey key: String) {
    guard case .object(var members) = value else { return }
    value = .null
    members[key] = member
    value = .object(members)
  }

  func append(_ element: JSONValue) {
    guard case .array(var elements) = value else { return }
    value = .null
    elements.append(element)
    value = .array(elements)
  }
}

private struct ValueEncoder: Encoder {
  let codingPath: [any CodingKey]
  let slot = Slot()
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  init(codingPath: [any CodingKey]) { self.codingPath = codingPath }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    slot.value = .object([:])
    return KeyedEncodingContainer(KeyedWriter(codingPath: codingPath, slot: slot))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    slot.value = .array([])
    return UnkeyedWriter(codingPath: codingPath, slot: slot)
  }

  func singleValueContainer() -> any SingleValueEncodingContainer {
    SingleWriter(codingPath: codingPath, slot: slot)
  }
}

private func wholeNumber(_ value: some BinaryInteger) -> JSONValue {
  if let value = Int64(exactly: value) { return .exact(value) }
  return .string(String(value))
}

private struct KeyedWriter<Key: CodingKey>: KeyedEncodingContainerProtocol {
  let codingPath: [any CodingKey]
  let slot: Slot

  func encodeNil(forKey key: Key) { slot.insert(.null, forKey: key.stringValue) }

  func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
    slot.insert(
      try JSONValueEncoder.encodeAny(value, path: codingPath + [key]), forKey: key.stringValue)
  }

  func nestedContainer<NestedKey: CodingKey>(keyedBy keyType: NestedKey.Type, forKey key: Key)
    -> KeyedEncodingContainer<NestedKey>
  {
    KeyedEncodingContainer(KeyedWriter<NestedKey>(codingPath: codingPath + [key], slot: Slot()))
  }

  func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
    UnkeyedWriter(codingPath: codingPath + [key], slot: Slot())
  }

  func superEncoder() -> any Encoder { ValueEncoder(codingPath: codingPath) }
  func superEncoder(forKey key: Key) -> any Encoder { ValueEncoder(codingPath: codingPath) }
}

private struct UnkeyedWriter: UnkeyedEncodingContainer {
  let codingPath: [any CodingKey]
  let slot: Slot
  var count: Int { slot.value.arrayValue?.count ?? 0 }

  func encodeNil() { slot.append(.null) }

  func encode<Value: Encodable>(_ value: Value) throws {
    slot.append(try JSONValueEncoder.encodeAny(value, path: codingPath))
  }

  func nestedContainer<NestedKey: CodingKey>(keyedBy keyType: NestedKey.Type)
    -> KeyedEncodingContainer<NestedKey>
  {
    KeyedEncodingContainer(KeyedWriter<NestedKey>(codingPath: codingPath, slot: Slot()))
  }

  func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
    UnkeyedWriter(codingPath: codingPath, slot: Slot())
  }

  func superEncoder() -> any Encoder { ValueEncoder(codingPath: codingPath) }
}

private struct SingleWriter: SingleValueEncodingContainer {
  let codingPath: [any CodingKey]
  let slot: Slot

  func encodeNil() { slot.value = .null }
  func encode(_ value: Bool) { slot.value = .bool(value) }
  func encode(_ value: String) { slot.value = .string(value) }
  func encode(_ value: Double) { slot.value = .exact(value) }
  func encode(_ value: Float) { slot.value = .exact(Double(value)) }
  func encode(_ value: Int) { slot.value = wholeNumber(value) }
  func encode(_ value: Int8) { slot.value = wholeNumber(value) }
  func encode(_ value: Int16) { slot.value = wholeNumber(value) }
  func encode(_ value: Int32) { slot.value = wholeNumber(value) }
  func encode(_ value: Int64) { slot.value = wholeNumber(value) }
  func encode(_ value: UInt) { slot.value = wholeNumber(value) }
  func encode(_ value: UInt8) { slot.value = wholeNumber(value) }
  func encode(_ value: UInt16) { slot.value = wholeNumber(value) }
  func encode(_ value: UInt32) { slot.value = wholeNumber(value) }
  func encode(_ value: UInt64) { slot.value = wholeNumber(value) }
  func encode<Value: Encodable>(_ value: Value) throws {
    slot.value = try JSONValueEncoder.encodeAny(value, path: codingPath)
  }
}
