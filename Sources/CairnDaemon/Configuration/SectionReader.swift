// Reads the keys of one group of the configuration and collects every problem on the way.
import CairnControl

/// Where readers put what they find wrong, so that all of it is reported at once.
final class ProblemCollector {
  private(set) var problems: [ConfigurationProblem] = []
  /// Whether a file could not be read: a key that is missing may stand in it.
  var isPartial = false

  func add(
    _ origin: ConfigurationOrigin, _ key: String, _ problem: String, remedy: String? = nil
  ) {
    problems.append(
      ConfigurationProblem(origin: origin, key: key, problem: problem, remedy: remedy))
  }
}

/// A reader of one group of keys.
///
/// ``finish()`` reports each key that no caller has asked for.
final class SectionReader {
  let path: String
  let origin: ConfigurationOrigin
  private let entries: [ConfigurationNode.Entry]
  private let collector: ProblemCollector
  private let expansion: VariableExpansion
  private var known: [String] = []

  init(
    _ node: ConfigurationNode?, path: String, missingOrigin: ConfigurationOrigin,
    collector: ProblemCollector, expansion: VariableExpansion
  ) {
    self.path = path
    self.collector = collector
    self.expansion = expansion
    origin = node?.origin ?? missingOrigin
    if let node, node.entries == nil {
      collector.add(
        node.origin, path, "\(node.kindName) stands where a group of keys is wanted",
        remedy: "write the keys below it, indented")
    }
    entries = node?.entries ?? []
  }

  /// Reports keys that are not known here.
  func finish() {
    for entry in entries where !known.contains(entry.key) {
      let guess = NearestName.find(entry.key, among: known)
      collector.add(
        entry.keyOrigin, fullKey(entry.key), "unknown key",
        remedy: guess.map { "did you mean \"\($0)\"?" }
          ?? "known here: \(known.sorted().joined(separator: ", "))")
    }
  }

  /// The reader of a group inside this one.
  func section(_ key: String) -> SectionReader {
    SectionReader(
      node(key), path: fullKey(key), missingOrigin: origin, collector: collector,
      expansion: expansion)
  }

  /// The readers of a list of groups.
  func list(_ key: String) -> [SectionReader] {
    guard let node = node(key) else { return [] }
    switch node.content {
    case .null: return []
    case .sequence(let members):
      return members.enumerated().map { index, member in
        let name = member["name"]?.scalarText ?? "[\(index)]"
        return SectionReader(
          member, path: "\(fullKey(key)).\(name)", missingOrigin: node.origin,
          collector: collector, expansion: expansion)
      }
    case .scalar, .mapping:
      report(key, "\(node.kindName) stands where a list is wanted", "begin each member with \"- \"")
      return []
    }
  }

  /// The texts of a list; nil when the key is not there.
  func texts(_ key: String) -> [String]? {
    guard let node = node(key) else { return nil }
    switch node.content {
    case .null: return nil
    case .sequence(let members):
      return members.compactMap { member in
        if let text = member.scalarText { return text }
        report(key, "\(member.kindName) stands where a single value is wanted")
        return nil
      }
    case .scalar, .mapping:
      report(key, "\(node.kindName) stands where a list is wanted", "write it as [One, Two]")
      return nil
    }
  }

  /// All keys of this group with their texts; for groups whose keys are names.
  func namedValues() -> [(key: String, value: String)] {
    known += entries.map(\.key)
    return entries.compactMap { entry in
      guard let text = entry.value.scalarText else {
        report(entry.key, "\(entry.value.kindName) stands where a single value is wanted")
        return nil
      }
      return (entry.key, text)
    }
  }

  /// The text of a key, with variables filled in; nil when it is not there.
  func text(_ key: String) -> String? {
    guard let node = node(key) else { return nil }
    switch node.content {
    case .null: return nil
    case .scalar(let text, _):
      do {
        return try expansion.expand(text)
      } catch {
        report(key, error.problem, error.remedy)
        return nil
      }
    case .sequence, .mapping:
      report(key, "\(node.kindName) stands where a single value is wanted")
      return nil
    }
  }

  /// The text of a key that must be there.
  func requiredText(_ key: String, remedy: String) -> String? {
    if node(key) == nil || isNull(key) {
      if !collector.isPartial {
        collector.add(origin, fullKey(key), "the key is missing", remedy: remedy)
      }
      return nil
    }
    return text(key)
  }

  /// A text of our own with variables filled in.
  func expanded(_ text: String) throws -> String { try expansion.expand(text) }

  /// An absolute path.
  func absolutePath(_ text: String?, key: String) -> String? {
    guard let text else { return nil }
    guard text.hasPrefix("/") else {
      report(key, "\"\(text)\" is not an absolute path", "begin it with / or ${STATE_DIRECTORY}")
      return nil
    }
    guard !text.split(separator: "/").contains("..") else {
      report(key, "the path holds \"..\"", "write out where it leads")
      return nil
    }
    guard !text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) else {
      report(key, "the path holds a control character", "rename the file")
      return nil
    }
    return text
  }

  /// The absolute path of a file.
  func filePath(_ text: String?, key: String) -> String? {
    guard let path = absolutePath(text, key: key) else { return nil }
    guard !path.hasSuffix("/") else {
      report(key, "\(path) is a folder", "name a file in it")
      return nil
    }
    if let problem = StorePath.problem(path) {
      report(key, problem, "give the file another name")
      return nil
    }
    return path
  }

  /// One of a few words.
  func choice<Value: RawRepresentable & CaseIterable>(_ key: String, default fallback: Value)
    -> Value where Value.RawValue == String
  {
    guard let text = text(key) else { return fallback }
    if let value = Value(rawValue: text) { return value }
    let words = Value.allCases.map(\.rawValue)
    let guess = NearestName.find(text, among: words).map { "did you mean \"\($0)\"? " } ?? ""
    report(
      key, "\"\(text)\" is not possible here",
      "\(guess)it is one of \(words.joined(separator: ", "))")
    return fallback
  }

  /// A truth value.
  func flag(_ key: String, default fallback: Bool) -> Bool {
    guard let text = text(key) else { return fallback }
    switch text.lowercased() {
    case "true", "yes", "on": return true
    case "false", "no", "off": return false
    default:
      report(key, "\"\(text)\" is not a truth value", "write true or false")
      return fallback
    }
  }

  /// A duration within bounds.
  func duration(_ key: String, default fallback: Duration, in bounds: ClosedRange<Duration>)
    -> Duration
  {
    guard let text = text(key) else { return fallback }
    guard let value = DurationText.parse(text) else {
      report(key, "\"\(text)\" is not a duration", DurationText.remedy)
      return fallback
    }
    guard bounds.contains(value) else {
      report(
        key, "\(text) is out of range",
        "choose from \(bounds.lowerBound.inWords) to \(bounds.upperBound.inWords)")
      return fallback
    }
    return value
  }

  /// A whole number within bounds.
  func number(_ key: String, default fallback: Int, in bounds: ClosedRange<Int>) -> Int {
    guard let text = text(key) else { return fallback }
    guard let value = Int(text), bounds.contains(value) else {
      report(
        key, "\"\(text)\" is not possible here",
        "write a whole number from \(bounds.lowerBound) to \(bounds.upperBound)")
      return fallback
    }
    return value
  }

  /// Reports a problem with a key of this group.
  func report(_ key: String, _ problem: String, _ remedy: String? = nil) {
    collector.add(node(key)?.origin ?? origin, fullKey(key), problem, remedy: remedy)
  }

  private func node(_ key: String) -> ConfigurationNode? {
    if !known.contains(key) { known.append(key) }
    return entries.first { $0.key == key }?.value
  }

  private func isNull(_ key: String) -> Bool {
    if case .null? = node(key)?.content { true } else { false }
  }

  private func fullKey(_ key: String) -> String { path.isEmpty ? key : "\(path).\(key)" }
}

extension Duration {
  /// The duration in the largest unit that divides it, as ``DurationText`` reads it.
  var inWords: String {
    let milliseconds = components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000
    let units: [(String, Int64)] = [
      ("d", 86_400_000), ("h", 3_600_000), ("m", 60000), ("s", 1000),
    ]
    for (name, size) in units where milliseconds >= size && milliseconds % size == 0 {
      return "\(milliseconds / size)\(name)"
    }
    return "\(milliseconds)ms"
  }
}
