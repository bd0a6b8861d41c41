// How much one class keeps: a class with many stored properties is several parts in one.

import Foundation
import Testing

@Suite struct StoredPropertyTests {
  /// The most that a class or an actor may keep.
  private static let limit = 12

  /// Classes that keep more, each with the reason; the list is to get shorter.
  private static let exceptions: [String: String] = [
    "ManagedObjectContext": "ten parts of its own, and ten settings that Core Data declares",
    "AnyFetchRequest": "what Core Data declares of a fetch request",
    "EntityDescription": "what Core Data declares of an entity, and what is worked out from that",
    "PropertyDescription": "what Core Data declares of a property",
    "MigrationManager": "what Core Data declares, and the two stacks between which it works",
    "EntityLayout": "constants that are worked out once, so that no read of a property has to",
    "SQLEntity": "constants that are worked out once, so that no statement has to",
    "SQLQueryForm": "constants of one statement that is prepared",
    "ToManyValue": "members, their order and their changes, which each change touches together",
    "ResultsTracking": "the results, their sections and what an event does to both",
    "SaveTransaction": "the writers that one transaction hands on to each other",
    "Ledger": "one map of the sidecar a property",
    "Link": "the two sides of a link, and how far it has come",
    "GroupEngine": "the daemon's parts, as it starts and ends them",
    "EngineKeeper": "how far a group's engine has come",
    "ControlServer": "what every connection is given",
  ]

  @Test func classesKeepFewThings() {
    var seen: Set<String> = []
    var count = 0
    for file in SourceTree.sources {
      for (name, properties) in Self.classes(in: file) {
        count += 1
        guard properties.count > Self.limit else { continue }
        seen.insert(name)
        #expect(
          Self.exceptions[name] != nil,
          "\(file.path): \(name) keeps \(properties.count) things (\(properties)): make parts of them"
        )
      }
    }
    #expect(count > 200, "the test sees no classes")
    #expect(seen == Set(Self.exceptions.keys), "the list names classes that keep less by now")
  }

  /// Beside the settings that Core Data declares.
  @Test func aContextHasTenParts() throws {
    let file = try #require(
      SourceTree.sources
        .first {
          $0.path.hasPrefix("Sources/CairnContext/") && $0.name == "ManagedObjectContext.swift"
        })
    let begin = try #require(file.lines.firstIndex { $0.contains("// MARK: Parts") })
    let end = try #require(file.lines[(begin + 1)...].firstIndex { $0.contains("init(") })
    let parts = file.lines[begin..<end].compactMap { Self.storedProperty(in: $0, next: "") }
    #expect(parts.count == 10, "\(parts)")
    let all = Self.classes(in: file)["ManagedObjectContext"] ?? []
    let open = file.lines.filter {
      $0.hasPrefix("  open var ") || $0.hasPrefix("  public let ")
    }.joined(separator: " ")
    for name in all where !parts.contains(name) {
      #expect(
        open.contains(" \(name)"), "\(name) is no part and no setting that Core Data declares")
    }
  }

  /// The stored properties of each class and actor that stands in no other type.
  private static func classes(in file: SourceFile) -> [String: [String]] {
    var result: [String: [String]] = [:]
    var current: String?
    for (index, line) in file.lines.enumerated() {
      if line.hasPrefix("}") { current = nil }
      if let name = className(in: line) {
        current = line.hasSuffix("}") ? nil : name
        result[name] = []
      }
      guard let current else { continue }
      let next = index + 1 < file.lines.count ? file.lines[index + 1] : ""
      if let property = storedProperty(in: line, next: next) { result[current]?.append(property) }
    }
    return result
  }

  private static let access: Set<String> = [
    "public", "open", "package", "final", "private", "fileprivate", "internal", "nonisolated",
  ]

  private static func className(in line: String) -> String? {
    guard line.first.map({ $0 != " " && $0 != "/" }) ?? false else { return nil }
    var words = line.split(separator: " ").map(String.init)
    while let first = words.first, first.hasPrefix("@") || access.contains(first) {
      words.removeFirst()
    }
    guard words.count > 1, words[0] == "class" || words[0] == "actor" else { return nil }
    return String(words[1].prefix { $0.isLetter || $0.isNumber })
  }

  /// The name of a property that a line of a class declares and that is kept; nil for others.
  private static func storedProperty(in line: String, next: String) -> String? {
    guard line.hasPrefix("  "), !line.hasPrefix("   "), !line.hasPrefix("  //") else { return nil }
    var words = line.split(separator: " ").map(String.init)
    func isModifier(_ word: String) -> Bool {
      word.hasPrefix("@") || access.contains(word) || word == "weak" || word == "lazy"
        || ["private(", "fileprivate(", "internal(", "package(", "unowned", "nonisolated("]
          .contains(where: word.hasPrefix)
    }
    while let first = words.first, isModifier(first) { words.removeFirst() }
    guard words.count > 1, words[0] == "let" || words[0] == "var" else { return nil }
    let name = String(words[1].prefix { $0.isLetter || $0.isNumber || $0 == "_" })
    let rest = line.drop { $0 != "{" }
    if rest.isEmpty || line.prefix(while: { $0 != "{" }).contains("=") { return name }
    // A body: that of observers, or one that computes the value.
    return [String(rest), next].contains { $0.contains("didSet") || $0.contains("willSet") }
      ? name : nil
  }
}
