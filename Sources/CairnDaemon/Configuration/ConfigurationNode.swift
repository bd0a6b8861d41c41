// Configuration as a tree that remembers where each piece came from.
import Yams

/// A value in a configuration, with its origin.
struct ConfigurationNode: Sendable {
  indirect enum Content: Sendable {
    case null
    /// `isQuoted` tells text from what only looks like a number or a truth value.
    case scalar(String, isQuoted: Bool)
    case sequence([ConfigurationNode])
    case mapping([Entry])
  }

  struct Entry: Sendable {
    let key: String
    let keyOrigin: ConfigurationOrigin
    var value: ConfigurationNode
  }

  let origin: ConfigurationOrigin
  var content: Content

  init(origin: ConfigurationOrigin, content: Content) {
    self.origin = origin
    self.content = content
  }

  /// The entries of a mapping; a null counts as an empty one.
  var entries: [Entry]? {
    switch content {
    case .mapping(let entries): entries
    case .null: []
    case .scalar, .sequence: nil
    }
  }

  /// The value of a key of a mapping.
  subscript(key: String) -> ConfigurationNode? { entries?.first { $0.key == key }?.value }

  /// What kind of value this is, for messages.
  var kindName: String {
    switch content {
    case .null: "nothing"
    case .scalar: "a single value"
    case .sequence: "a list"
    case .mapping: "a group of keys"
    }
  }
}

extension ConfigurationNode {
  /// How many values a file may have: a few lines of aliases can stand for more than memory holds.
  static let maximumValues = 10_000

  /// Reads YAML text; problems of syntax are thrown with their place.
  init(yaml: String, source: String) throws {
    let start = ConfigurationOrigin(source: source, line: 1)
    do {
      guard let node = try Yams.compose(yaml: yaml) else {
        self.init(origin: start, content: .null)
        return
      }
      var remaining = Self.maximumValues
      try self.init(node: node, source: source, remaining: &remaining)
    } catch let error as YamlError {
      throw ConfigurationInvalid(problems: Self.problems(of: error, in: yaml, source: source))
    }
  }

  /// - Parameter remaining: How many values there may still be.
  private init(node: Node, source: String, remaining: inout Int) throws {
    let origin = ConfigurationOrigin(
      source: source, line: node.mark?.line, column: node.mark?.column)
    remaining -= 1
    guard remaining >= 0 else {
      throw ConfigurationInvalid(problems: [
        ConfigurationProblem(
          origin: origin, key: "",
          problem:
            "more than \(Self.maximumValues) values, where each alias counts as what it repeats",
          remedy: "leave out what is not needed; aliases of aliases multiply")
      ])
    }
    switch node {
    case .scalar(let scalar):
      let isQuoted = scalar.style == .singleQuoted || scalar.style == .doubleQuoted
      let isNull = !isQuoted && ["", "~", "null", "Null", "NULL"].contains(scalar.string)
      self.init(
        origin: origin, content: isNull ? .null : .scalar(scalar.string, isQuoted: isQuoted))
    case .sequence(let sequence):
      self.init(
        origin: origin,
        content: .sequence(
          try sequence.map {
            try ConfigurationNode(node: $0, source: source, remaining: &remaining)
          }))
    case .mapping(let mapping):
      let entries = try mapping.map { pair in
        Entry(
          key: pair.key.string ?? "",
          keyOrigin: ConfigurationOrigin(
            source: source, line: pair.key.mark?.line, column: pair.key.mark?.column),
          value: try ConfigurationNode(
            node: pair.value, source: source, remaining: &remaining))
      }
      self.init(origin: origin, content: .mapping(entries))
    case .alias:
      throw ConfigurationInvalid(problems: [
        ConfigurationProblem(
          origin: origin, key: "", problem: "an alias points nowhere",
          remedy: "write the value out")
      ])
    }
  }

  private static func problems(
    of error: YamlError, in yaml: String, source: String
  ) -> [ConfigurationProblem] {
    func at(
      _ line: Int?, _ column: Int?, _ problem: String, remedy: String = "correct the YAML"
    ) -> ConfigurationProblem {
      ConfigurationProblem(
        origin: ConfigurationOrigin(source: source, line: line, column: column), key: "",
        problem: problem, remedy: remedy)
    }
    switch error {
    case .scanner(let context, let problem, let mark, _),
      .parser(let context, let problem, let mark, _),
      .composer(let context, let problem, let mark, _):
      let around = context.map { " \($0.text)" } ?? ""
      return [at(mark.line, mark.column, "not YAML: \(problem)\(around)")]
    case .duplicatedKeysInMapping(let duplicates, let context):
      return duplicates.map { key in
        at(
          repetition(of: key, in: yaml) ?? context.mark.line, nil, "the key \(key) comes twice",
          remedy: "keep one of the two")
      }
    case .reader(let problem, _, _, _): return [at(nil, nil, "not YAML: \(problem)")]
    default: return [at(nil, nil, "not YAML: \(error)")]
    }
  }

  /// The line on which a key comes for the second time: the first up to which the text has the fault.
  ///
  /// Yams tells of the first time only. Nil where looking would take long: in a large file whose lines all
  /// hold the key.
  private static func repetition(of key: String, in yaml: String) -> Int? {
    let lines = yaml.split(omittingEmptySubsequences: false) { $0.isNewline }
    var remainingBytes = 4 << 20
    return lines.indices.first { index in
      guard remainingBytes > 0, lines[index].contains(key) else { return false }
      let text = lines[...index].joined(separator: "\n")
      remainingBytes -= text.utf8.count
      do {
        _ = try Yams.compose(yaml: text)
      } catch YamlError.duplicatedKeysInMapping(let duplicates, _) {
        return duplicates.contains(key)
      } catch {}
      return false
    }.map { $0 + 1 }
  }
}

extension ConfigurationNode {
  /// Lays `later` over this: keys of groups one by one, list members by their `name`, all else whole.
  func overlaid(by later: ConfigurationNode) -> ConfigurationNode {
    switch (content, later.content) {
    case (.mapping(var entries), .mapping(let laterEntries)):
      for entry in laterEntries {
        if let index = entries.firstIndex(where: { $0.key == entry.key }) {
          entries[index] = Entry(
            key: entry.key, keyOrigin: entry.keyOrigin,
            value: entries[index].value.overlaid(by: entry.value))
        } else {
          entries.append(entry)
        }
      }
      return ConfigurationNode(origin: later.origin, content: .mapping(entries))
    case (.sequence(var members), .sequence(let laterMembers)):
      for member in laterMembers {
        let name = member["name"]?.scalarText
        if let name, let index = members.firstIndex(where: { $0["name"]?.scalarText == name }) {
          members[index] = members[index].overlaid(by: member)
        } else {
          members.append(member)
        }
      }
      return ConfigurationNode(origin: later.origin, content: .sequence(members))
    case (_, .null): return self
    default: return later
    }
  }

  /// Puts `value` at a dotted path; a member of a list is reached by its `name`.
  func setting(_ path: ArraySlice<String>, to value: ConfigurationNode) -> ConfigurationNode {
    guard let key = path.first else { return value }
    let rest = path.dropFirst()
    func entry(_ value: ConfigurationNode) -> Entry {
      Entry(key: key, keyOrigin: value.origin, value: value)
    }
    let empty = ConfigurationNode(origin: value.origin, content: .null)
    switch content {
    case .sequence(var members):
      if let index = members.firstIndex(where: { $0["name"]?.scalarText == key }) {
        members[index] = members[index].setting(rest, to: value)
      } else {
        let name = ConfigurationNode(origin: value.origin, content: .scalar(key, isQuoted: true))
        let named = empty.setting(["name"], to: name)
        members.append(named.setting(rest, to: value))
      }
      return ConfigurationNode(origin: origin, content: .sequence(members))
    case .mapping(var entries):
      if let index = entries.firstIndex(where: { $0.key == key }) {
        entries[index].value = entries[index].value.setting(rest, to: value)
      } else {
        entries.append(entry(empty.setting(rest, to: value)))
      }
      return ConfigurationNode(origin: origin, content: .mapping(entries))
    case .null, .scalar:
      return ConfigurationNode(
        origin: origin, content: .mapping([entry(empty.setting(rest, to: value))]))
    }
  }

  /// The text of a scalar.
  var scalarText: String? {
    if case .scalar(let text, _) = content { text } else { nil }
  }
}
