// Values that nobody should send, and calls changed so that they hold them.
import CairnControl
import CairnTesting

/// Changes good parameters into bad ones.
struct HostileValues {
  var numbers: SeededNumbers

  /// One step into a JSON value.
  private enum Step {
    case member(String)
    case element(Int)
  }

  /// The parameters with one to three things changed.
  mutating func change(_ parameters: [String: JSONValue]) -> [String: JSONValue] {
    var result = JSONValue.object(parameters)
    for _ in 0..<(Int.random(in: 0..<4, using: &numbers) == 0 ? 3 : 1) {
      var paths: [[Step]] = []
      Self.collect(result, [], &paths)
      guard let path = paths.randomElement(using: &numbers) else {
        return ["extra": value(forMember: "")]
      }
      result = change(result, path[...])
    }
    return result.objectValue ?? [:]
  }

  /// Bytes of a message with some of them changed, taken out or put in.
  mutating func change(_ bytes: [UInt8]) -> [UInt8] {
    var result = bytes
    for _ in 0..<Int.random(in: 1...4, using: &numbers) where !result.isEmpty {
      let index = Int.random(in: 0..<result.count, using: &numbers)
      switch Int.random(in: 0..<4, using: &numbers) {
      case 0: result[index] = UInt8.random(in: 0...255, using: &numbers)
      case 1: result.remove(at: index)
      case 2: result.insert(contentsOf: Array("[{\"\\u".utf8), at: index)
      default: result.removeSubrange(index...)
      }
    }
    return result
  }

  private static func collect(_ value: JSONValue, _ path: [Step], _ paths: inout [[Step]]) {
    switch value {
    case .object(let members):
      for (name, member) in members.sorted(by: { $0.key < $1.key }) {
        paths.append(path + [.member(name)])
        collect(member, path + [.member(name)], &paths)
      }
    case .array(let elements):
      for (index, element) in elements.enumerated() {
        paths.append(path + [.element(index)])
        collect(element, path + [.element(index)], &paths)
      }
    case .null, .bool, .integer, .number, .string: break
    }
  }

  private mutating func change(_ value: JSONValue, _ path: ArraySlice<Step>) -> JSONValue {
    guard let step = path.first else { return value }
    let rest = path.dropFirst()
    switch (step, value) {
    case (.member(let name), .object(var members)):
      guard rest.isEmpty else {
        members[name] = change(members[name] ?? .null, rest)
        return .object(members)
      }
      switch Int.random(in: 0..<12, using: &numbers) {
      case 0: members[name] = nil
      case 1: members[self.name()] = members.removeValue(forKey: name)
      case 2: members[self.name()] = self.value(forMember: name)
      case 3: members[name] = .array([members[name] ?? .null])
      case 4: members[name] = .object(["x": members[name] ?? .null])
      default: members[name] = self.value(forMember: name)
      }
      return .object(members)
    case (.element(let index), .array(var elements)):
      guard elements.indices.contains(index) else { return value }
      if rest.isEmpty {
        elements[index] = self.value(forMember: "")
      } else {
        elements[index] = change(elements[index], rest)
      }
      return .array(elements)
    case (.member, _), (.element, _): return value
    }
  }

  private mutating func name() -> String {
    Self.texts.randomElement(using: &numbers) ?? ""
  }

  /// A bad value; for a predicate mostly a text that looks like one.
  private mutating func value(forMember name: String) -> JSONValue {
    if name == "predicate", Int.random(in: 0..<5, using: &numbers) > 0 {
      return .string(HostilePredicates.text(using: &numbers))
    }
    switch Int.random(in: 0..<4, using: &numbers) {
    case 0: return Self.numbers.randomElement(using: &numbers) ?? .null
    case 1: return Self.shapes.randomElement(using: &numbers) ?? .null
    default: return .string(self.name())
    }
  }

  private static let numbers: [JSONValue] = [
    0, -1, 1, 256, 32768, -32769, 2_147_483_648, .integer(.max), .integer(.min),
    .integer(1 << 53), .number(0.5), .number(-0.0), .number(1e308), .number(-1e308),
    .number(.leastNonzeroMagnitude), .number(1e19), .number(9.2233720368547758e18),
  ]

  private static let shapes: [JSONValue] = [
    .null, true, false, [], .object([:]), [[]], [.null, 1, "x", .object([:])],
    .object(["name": .null]), .object(["id": "x", "entity": 1]), .object(["": ""]),
    (0..<50).reduce(JSONValue.null) { inner, _ in .array([inner]) },
    (0..<80).reduce(JSONValue.null) { inner, _ in .object(["a": inner]) },
    .array((0..<2000).map { .integer($0) }),
    .array((0..<2000).map { .string("s\($0)") }),
    .object(Dictionary(uniqueKeysWithValues: (0..<2000).map { ("k\($0)", JSONValue.null) })),
  ]

  private static let texts: [String] = [
    "", " ", "\0", "a\0b", "'", "\"", "\\", "%@", "%K", "%", "$x", "\n", "💥", "e\u{301}",
    "\u{202E}",
    String(repeating: "x", count: 20_000), String(repeating: "é", count: 5000),
    String(repeating: "a.", count: 2000), String(repeating: "/", count: 3000),
    ".", "..", "a.b", "-", "--name", "-name", "name", "name.name", "box", "box.name", "box.items",
    "box.items.@count", "box.items.@sum.i64", "items.@count", "tags", "tags.@count", "tags.name",
    "tags.@max.name", "tags.@avg.name", "parts", "parts.@min", "parts.item.name", "@count",
    "@sum.i64", "tags.@", "tags.@unionOfSets.items", "tags.@distinctUnionOfObjects.name",
    "box.box", "SELF", "self", "self.self", "super", "class", "description", "hash", "objectID",
    "id", "entity", "#", "#b", "#nobody", "Z_PK", "data", "uuid", "dec", "date", "flag", "temp",
    "code", "i16", "place", "place.street", "local", "all", "near", "late", "Item", "Thing", "Box",
    "Part", "sqlite", "SQLite", "InMemory", "both", "push", "NaN", "Infinity", "-Infinity",
    "9223372036854775808", "-9223372036854775809", "1e999999999999", "1e-999999999999", "1e127",
    "-1e127", "0.00000000000000000000000000000000000000001",
    "99999999999999999999999999999999999999999", "2026-03-14T15:09:26Z",
    "+999999-12-31T23:59:59.999999999Z", "-000001-01-01T00:00:00Z", "2026-02-30T00:00:00Z",
    "00000000-0000-0000-0000-000000000000", "AAAA", "====", "x-coredata://A/Item/p1", "http://[",
    "file:///", "p9223372036854775807", "../../../etc/passwd", "relative.sqlite",
    "io.cairn.Data", "org.varlink.service", "io.cairn", "com..x",
  ]
}
