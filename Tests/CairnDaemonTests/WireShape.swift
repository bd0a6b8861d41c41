// What a type looks like on the wire, found by decoding it.
import CairnControl

/// The form of a value on the wire.
indirect enum WireShape: Equatable {
  case string, int, float, bool, anything
  case words(Set<String>)
  case array(WireShape)
  case map(WireShape)
  case object([String: WireShape])
  case optional(WireShape)

  init<Value: Decodable>(of type: Value.Type) throws {
    self = try ShapeProbe.look(at: type).shape.asWritten
  }

  /// The form that the language has words for: an array has no arrays or maps in it, so a list of maps of
  /// anything is one of objects.
  private var asWritten: WireShape {
    switch self {
    case .array(.map(.anything)): .array(.anything)
    case .array(let element): .array(element.asWritten)
    case .map(let value): .map(value.asWritten)
    case .optional(let value): .optional(value.asWritten)
    case .object(let members): .object(members.mapValues(\.asWritten))
    case .string, .int, .float, .bool, .anything, .words: self
    }
  }

  /// Reads forms from the text of an interface.
  struct Reader {
    let interface: InterfaceDescription

    func fields(_ fields: [InterfaceDescription.Field]) -> [String: WireShape] {
      Dictionary(fields.map { ($0.name, shape($0.type[...])) }, uniquingKeysWith: { $1 })
    }

    private func shape(_ text: Substring) -> WireShape {
      if text.hasPrefix("?") { return .optional(shape(text.dropFirst())) }
      if text.hasPrefix("[]") { return .array(shape(text.dropFirst(2))) }
      if text.hasPrefix("[string]") { return .map(shape(text.dropFirst(8))) }
      switch text {
      case "string": return .string
      case "int": return .int
      case "float": return .float
      case "bool": return .bool
      case "object": return .anything
      default: break
      }
      if text.hasPrefix("("), text.hasSuffix(")") {
        return .words(Set(text.dropFirst().dropLast().split(separator: ",").map(String.init)))
      }
      guard let type = interface.types.first(where: { $0.name == text }) else {
        return .words(["there is no type \(text)"])
      }
      return .object(fields(type.fields))
    }
  }
}

/// A decoder that has every member once, and notes what is asked for.
private final class ShapeProbe: Decoder {
  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }
  fileprivate var shape = WireShape.object([:])

  /// A value of the type, and its form.
  static func look<Value: Decodable>(at type: Value.Type) throws -> (
    value: Value, shape: WireShape
  ) {
    func given(_ value: Any, _ shape: WireShape) throws -> (Value, WireShape) {
      guard let value = value as? Value else { throw UnknownShape(type: "\(type)") }
      return (value, shape)
    }
    switch type {
    case is String.Type: return try given("", .string)
    case is Int.Type: return try given(0, .int)
    case is Double.Type: return try given(0.0, .float)
    case is Bool.Type: return try given(false, .bool)
    case is JSONValue.Type: return try given(JSONValue.null, .anything)
    case is WireDate.Type: return try given(WireDate.now, .string)
    case let words as any CaseIterable.Type:
      let cases = Self.cases(of: words)
      guard let first = cases.first else { throw UnknownShape(type: "\(type)") }
      let names = cases.compactMap { ($0 as? any RawRepresentable)?.rawValue as? String }
      return try given(first, .words(Set(names)))
    default:
      let probe = ShapeProbe()
      let value = try Value(from: probe)
      return (value, probe.shape)
    }
  }

  private static func cases<Words: CaseIterable>(of type: Words.Type) -> [Any] {
    Array(type.allCases)
  }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
    KeyedDecodingContainer(Members<Key>(probe: self))
  }

  func unkeyedContainer() -> any UnkeyedDecodingContainer { Elements(probe: self) }

  func singleValueContainer() throws -> any SingleValueDecodingContainer {
    throw UnknownShape(type: "a single value")
  }

  fileprivate func note(_ name: String, _ shape: WireShape) {
    if case .object(var members) = self.shape {
      members[name] = shape
      self.shape = .object(members)
    }
  }

  private struct Members<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let probe: ShapeProbe
    var codingPath: [any CodingKey] { [] }
    /// Only dictionaries ask for all keys; they get one.
    var allKeys: [Key] {
      probe.shape = .map(.anything)
      return [Key(stringValue: "any")].compactMap { $0 }
    }

    func contains(_ key: Key) -> Bool { true }
    func decodeNil(forKey key: Key) -> Bool { false }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
      let (value, shape) = try ShapeProbe.look(at: type)
      if case .map = probe.shape {
        probe.shape = .map(shape)
      } else {
        probe.note(key.stringValue, shape)
      }
      return value
    }

    func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? {
      let (value, shape) = try ShapeProbe.look(at: type)
      probe.note(key.stringValue, .optional(shape))
      return value
    }
    // The compiler's own code asks for these by their exact types.
    func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? {
      probe.note(key.stringValue, .optional(.string))
      return nil
    }
    func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? {
      probe.note(key.stringValue, .optional(.int))
      return nil
    }
    func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? {
      probe.note(key.stringValue, .optional(.float))
      return nil
    }
    func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? {
      probe.note(key.stringValue, .optional(.bool))
      return nil
    }

    func nestedContainer<Nested: CodingKey>(
      keyedBy type: Nested.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> { throw UnknownShape(type: key.stringValue) }
    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
      throw UnknownShape(type: key.stringValue)
    }
    func superDecoder() throws -> any Decoder { throw UnknownShape(type: "super") }
    func superDecoder(forKey key: Key) throws -> any Decoder { throw UnknownShape(type: "super") }
  }

  /// An array of one element.
  private struct Elements: UnkeyedDecodingContainer {
    let probe: ShapeProbe
    var codingPath: [any CodingKey] { [] }
    var count: Int? { 1 }
    var currentIndex = 0
    var isAtEnd: Bool { currentIndex > 0 }

    init(probe: ShapeProbe) { self.probe = probe }

    func decodeNil() -> Bool { false }
    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
      currentIndex += 1
      let (value, shape) = try ShapeProbe.look(at: type)
      probe.shape = .array(shape)
      return value
    }
    func nestedContainer<Nested: CodingKey>(
      keyedBy type: Nested.Type
    ) throws -> KeyedDecodingContainer<Nested> { throw UnknownShape(type: "nested") }
    func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
      throw UnknownShape(type: "nested")
    }
    func superDecoder() throws -> any Decoder { throw UnknownShape(type: "super") }
  }
}

private struct UnknownShape: Error {
  let type: String
}
